"""What people bring: answers that other programs recorded, and logs of frameworks."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import record_makers
from brought_study import QUESTIONS, TOWNS, judged, study
from outcomes import RIGHT, WRONG, Arena, Case, Outcome, refused

from litm.base.messages import UserError
from litm.recorded.logs import INSPECT, LM_EVAL
from litm.recorded.responses import RecordedFile, RecordedSweep
from litm.records.examples import Example

SIZE, PLACES = 5, range(5)
#: The true accuracy by position.
TRUE = (1.0, 0.8, 0.4, 0.6, 1.0)
TEXTS = [
    f"The mill of {town} was built in {year}. The miller, {who}, paid for it." for town, (year, who) in TOWNS.items()
]
WRONG_ANSWER = "I do not know."


def _prompt(number: int, place: int, size: int) -> str:
    """A prompt with the number-th passage at a place among others."""
    others = [text for other, text in enumerate(TEXTS * 3) if other % len(TEXTS) != number][: size - 1]
    texts = [*others[:place], TEXTS[number], *others[place:]]
    listed = "\n".join(f"Document [{n}](Title: {n}) {text}" for n, text in enumerate(texts, start=1))
    return (
        f"Write an answer using only the search results below.\n\n{listed}\n\nQuestion: {[*QUESTIONS][number]}\nAnswer:"
    )


def examples(size: int = SIZE, places: Sequence[int] = PLACES) -> list[Example]:
    """The prompts of all questions at these places."""
    return [
        record_makers.example(
            id=f"q{number}",
            size=size,
            placement=f"gold_at_{place}",
            question=question,
            prompt=_prompt(number, place, size),
            targets=[{"name": "gold", "position": place, "depth": place / (size - 1), "answers": [who]}],
        )
        for place in places
        for number, (question, who) in enumerate(QUESTIONS.items())
    ]


def answer(example: Example) -> str:
    """The recorded answer: right for the first questions, as many as `TRUE` says."""
    place = example.targets[0].position or 0
    share = TRUE[round(place / (example.size - 1) * (len(TRUE) - 1))]
    return example.answers[0] if int(example.id[1:]) < share * len(QUESTIONS) else WRONG_ANSWER


def record(example: Example) -> dict[str, Any]:
    place = example.targets[0].position
    return {"question": example.question, "position": place, "size": example.size, "response": answer(example)}


FIELDS = {"response": "response", "question": "question", "position": "position"}


@dataclass(frozen=True)
class Variant:
    """A file of answers. write: its record of an example, None to leave it out; said: words of the lines on it, or of
    the refusal; right: whether it is read, and not refused; left: accuracies that are expected where not `TRUE`.
    """

    name: str
    write: Callable[[Example], Any]
    said: tuple[str, ...] = ()
    right: bool = True
    fields: Mapping[str, Any] = field(default_factory=lambda: FIELDS)
    asked: Sequence[int] = PLACES
    ending: str = ".jsonl"
    log: str | None = None
    scale: str | None = None
    size: int = SIZE
    true: Mapping[int, float | None] = field(default_factory=dict)


def _csv(records: Sequence[Mapping[str, Any]]) -> str:
    made = io.StringIO()
    writer = csv.DictWriter(made, [*records[0]])
    writer.writeheader()
    writer.writerows(records)
    return made.getvalue()


def _content(records: list[Any], ending: str) -> str:
    if ending == ".json":
        return json.dumps({"version": 2, "status": "success", "samples": records})
    return _csv(records) if ending == ".csv" else "".join(json.dumps(one) + "\n" for one in records)


def outcome(folder: Path, variant: Variant) -> Outcome:
    """Right if the accuracies are the true ones and the lines say what is wanted; refused if this is wanted."""
    recorded = [variant.write(one) for one in examples(variant.size, _all_places(variant.size))]
    records = [one for some in recorded for one in (some if isinstance(some, list) else [some]) if one is not None]
    path = folder / f"{variant.name.replace(' ', '_').replace('/', '_')}{variant.ending}"
    path.write_text(_content(records, variant.ending))
    asked = examples(variant.size, variant.asked)
    files = [RecordedFile(str(path), [*dict.fromkeys((one.size, one.placement) for one in asked)])]
    try:
        found = RecordedSweep(asked, files, variant.fields, variant.log, 9, variant.scale)
        found.check_any()
    except UserError as error:
        is_right = not variant.right and all(word in str(error) for word in variant.said)
        return refused(variant.name, str(error)) if is_right else Outcome(variant.name, WRONG, str(error))
    said, accuracy = " | ".join(found.notes()), {}
    for place in variant.asked:
        texts = {name[2]: one.text for name, one in found.responses.items() if name[1] == f"gold_at_{place}"}
        scored = [one for one in asked if one.targets[0].position == place and texts.get(one.id) is not None]
        right = sum((texts[one.id] or "").strip().split("\n")[0].count(one.answers[0]) > 0 for one in scored)
        accuracy[place] = round(right / len(scored), 2) if scored else None
    share = {place: TRUE[round(place / (variant.size - 1) * (len(TRUE) - 1))] for place in variant.asked}
    is_right = variant.right and accuracy == {**share, **variant.true} and all(word in said for word in variant.said)
    return Outcome(variant.name, RIGHT) if is_right else Outcome(variant.name, WRONG, f"{accuracy}: {said}")


def _all_places(size: int) -> Sequence[int]:
    return PLACES if size == SIZE else [round(step * (size - 1) / 4) for step in PLACES]


def placed(change: Callable[[int], Any]) -> Callable[[Example], dict]:
    return lambda one: record(one) | {"position": change(one.targets[0].position or 0)}


def _only(*places: int) -> Callable[[Example], dict | None]:
    return lambda one: record(one) if one.targets[0].position in places else None


#: Positions on other scales, matched by accident before.
POSITIONS = [
    Variant("counted from 0", record),
    Variant("counted from 1", placed(lambda n: n + 1), ("counted from 1",)),
    Variant("counted from 1, as floats", placed(lambda n: n + 1.0), ("counted from 1",)),
    Variant("counted from 1, in a table", placed(lambda n: f"{n + 1}.0"), ("counted from 1",), ending=".csv"),
    Variant("counted from 1, as 3/5", placed(lambda n: f"{n + 1}/5"), ("counted from 1",)),
    Variant("counted from 1, as doc_3", placed(lambda n: f"doc_{n + 1}"), ("counted from 1",)),
    Variant("counted from 1, 1 to 4 asked", placed(lambda n: n + 1), ("counted from 1",), asked=(1, 2, 3, 4)),
    Variant(
        "counted from 1, the last missing",
        lambda one: None if one.targets[0].position == 4 else record(one) | {"position": one.targets[0].position + 1},
        ("from_0 or from_1",),
        right=False,
    ),
    Variant("counted from 0, the first missing", _only(1, 2, 3, 4), ("from_0 or from_1",), right=False),
    Variant("counted from 0, the first missing, scale given", _only(1, 2, 3, 4), scale="from_0", true={0: None}),
    Variant("counted from 0, 1 to 4 asked", _only(1, 2, 3, 4), ("read as counted from 0",), asked=(1, 2, 3, 4)),
    Variant("counted from 1, scale given", placed(lambda n: n + 1), ("counted from 1",), scale="from_1"),
    Variant("depths", placed(lambda n: n / 4), ("depths",)),
    Variant("depths in a table", placed(lambda n: f"{n / 4:.2f}"), ("depths",), ending=".csv"),
    Variant(
        "depths with two decimals of 20",
        placed(lambda n: round(n / 19, 2)),
        ("depths",),
        asked=(0, 5, 10, 14, 19),
        size=20,
    ),
    Variant("depths without the last", placed(lambda n: n / 5), ("on no scale",), right=False),
    Variant(
        "depths of the ends alone",
        lambda one: (
            record(one) | {"position": one.targets[0].position / 4} if one.targets[0].position in (0, 4) else None
        ),
        ("from_0 or depth",),
        right=False,
    ),
    Variant("per cent", placed(lambda n: 25 * n), ("per cent",)),
    Variant("per cent as texts", placed(lambda n: f"{25 * n} %"), ("per cent",)),
    Variant(
        "per cent of 300",
        placed(lambda n: round(100 * n / 299)),
        ("from_0 or percent",),
        right=False,
        asked=(0, 75, 150, 224, 299),
        size=300,
    ),
    Variant(
        "placements from 1",
        lambda one: record(one) | {"placement": f"gold_at_{one.targets[0].position + 1}"},
        ("counted from 1",),
        fields={"response": "response", "question": "question", "placement": "placement"},
    ),
    Variant(
        "placements",
        lambda one: record(one) | {"placement": one.placement},
        fields={"response": "response", "question": "question", "placement": "placement"},
    ),
    Variant(
        "positions of larger contexts",
        lambda one: [record(one), record(one) | {"position": 19}],
        ("on no scale",),
        right=False,
    ),
    Variant("more positions than are asked", record, asked=(0, 2, 4)),
    Variant("no gold as -1", lambda one: [record(one), record(one) | {"position": -1, "response": "x"}]),
]


def _with(**more: Any) -> Callable[[Example], dict]:
    return lambda one: record(one) | {name: value(one) if callable(value) else value for name, value in more.items()}


def _reworded(prompt: str) -> str:
    return prompt.replace("Document [", "[Doc ")


def _last(one: Example) -> bool:
    """The examples that a program marks: wrong answers, so that leaving them out is seen in the accuracy."""
    return one.id == "q9"


def _right_at(place: int) -> float:
    return round(min(1.0, TRUE[place] * len(QUESTIONS) / (len(QUESTIONS) - 1)), 2)


#: The accuracies without the last question, which is wrong but at the ends.
WITHOUT_LAST = {place: 1.0 if TRUE[place] == 1 else _right_at(place) for place in PLACES}


def _batch(one: Example) -> dict:
    body = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": answer(one)}, "finish_reason": "stop"}]
    }
    if _last(one):
        body = {"error": {"message": "The server had an error", "code": 500}}
    reply = {"status_code": 500 if _last(one) else 200, "request_id": "x", "body": body}
    return {"custom_id": one.id, "response": reply, "error": None, "position": one.targets[0].position}


def _anthropic_batch(one: Example) -> dict:
    message = {"type": "message", "content": [{"type": "text", "text": answer(one)}], "stop_reason": "end_turn"}
    result = {"type": "expired"} if _last(one) else {"type": "succeeded", "message": message}
    return {"custom_id": one.id, "result": result, "position": one.targets[0].position}


CONTENT = "choices.0.message.content"
BATCH = {"response": f"response.body.{CONTENT}", "id": "custom_id", "position": "position"}
ENVELOPED = _with(response=lambda one: json.dumps({"choices": [{"message": {"content": answer(one)}}]}))
REASONS = ("STOP", "end_turn", "eos_token", "COMPLETE", "FinishReason.STOP", {"type": "stop", "matched": 2}, "", None)
#: Answers that are surrounded, void, or missing.
ANSWERS = [
    Variant(
        "an error with an empty answer",
        lambda one: record(one) | ({"response": "", "error": "timeout"} if _last(one) else {"error": None}),
        ("5 of the 50", "marked (error)"),
        true=WITHOUT_LAST,
    ),
    Variant(
        "errors in a table",
        lambda one: record(one) | {"error": "HTTP 500" if _last(one) else ""},
        ("marked (error)",),
        ending=".csv",
        true=WITHOUT_LAST,
    ),
    Variant("a measured error is no mark", _with(error=0.25)),
    Variant("an error of False in a table", _with(error="False"), ending=".csv"),
    Variant("excluded", _with(excluded=_last), ("marked (excluded)",), true=WITHOUT_LAST),
    Variant(
        "a status", _with(status=lambda one: "failed" if _last(one) else "ok"), ("status failed",), true=WITHOUT_LAST
    ),
    Variant("not valid", _with(is_valid=lambda one: not _last(one)), ("is_valid false",), true=WITHOUT_LAST),
    Variant("a retry after an error", lambda one: [record(one) | {"response": None, "error": "x"}, record(one)]),
    Variant("the same record twice", lambda one: [record(one), record(one)]),
    Variant(
        "contradicting records",
        lambda one: [record(one), record(one) | {"response": "else"}],
        ("another response",),
        right=False,
    ),
    Variant("OpenAI's batch", _batch, ("marked (status_code 500)",), fields=BATCH, true=WITHOUT_LAST),
    Variant(
        "Anthropic's batch",
        _anthropic_batch,
        ("type expired",),
        true=WITHOUT_LAST,
        fields={"response": "result.message.content.0.text", "id": "custom_id", "position": "position"},
    ),
    Variant("a list of one text", _with(response=lambda one: [answer(one)]), ("response.0",), right=False),
    Variant(
        "a list of one text, named",
        _with(response=lambda one: [answer(one)]),
        fields=FIELDS | {"response": "response.0"},
    ),
    Variant(
        "a list as a text in a table",
        _with(response=lambda one: [answer(one)]),
        ending=".csv",
        fields=FIELDS | {"response": "response.0"},
    ),
    Variant("replies as JSON in a table", ENVELOPED, (CONTENT,), right=False, ending=".csv"),
    Variant(
        "replies as JSON in a table, named",
        ENVELOPED,
        ending=".csv",
        fields=FIELDS | {"response": f"response.{CONTENT}"},
    ),
    Variant(
        "prompt and answer", _with(response=lambda one: f"{one.prompt} {answer(one)}"), ("prompt before the answer",)
    ),
    Variant(
        "a rendered chat",
        _with(response=lambda one: f"<s>[INST] {one.prompt} [/INST] {answer(one)}"),
        ("prompt before the answer",),
    ),
    Variant(
        "a chat without its special tokens",
        _with(response=lambda one: f"user\n{one.prompt}\nassistant\n{answer(one)}"),
        ("prompt before the answer",),
    ),
    Variant(
        "prompts in another form",
        _with(response=lambda one: f"{_reworded(one.prompt)} {answer(one)}"),
        ("repeat their prompt",),
        right=False,
    ),
    Variant("<|assistant|>", _with(response=lambda one: f"<|assistant|>\n{answer(one)}</s>"), ("chat template",)),
    Variant("[/INST]", _with(response=lambda one: f" [/INST]\n\n{answer(one)}"), ("chat template",)),
    Variant(
        "ChatML", _with(response=lambda one: f"<|im_start|>assistant\n{answer(one)}<|im_end|>"), ("chat template",)
    ),
    Variant(
        "Llama 3",
        _with(response=lambda one: f"<|start_header_id|>assistant<|end_header_id|>\n\n{answer(one)}<|eot_id|>"),
        ("chat template",),
    ),
    Variant(
        "Gemma", _with(response=lambda one: f"<start_of_turn>model\n{answer(one)}<end_of_turn>"), ("chat template",)
    ),
    Variant(
        "nan in a table",
        _with(response=lambda one: "nan" if _last(one) else answer(one)),
        ("missing value",),
        ending=".csv",
        true=WITHOUT_LAST,
    ),
    Variant(
        "None in a table",
        _with(response=lambda one: "None" if _last(one) else answer(one)),
        ("5 of the 50 recorded responses are the text None",),
        ending=".csv",
        true={0: 0.9, 4: 0.9},
    ),
    Variant(
        "an empty cell",
        _with(response=lambda one: "" if _last(one) else answer(one)),
        ("5 of the 50 recorded responses are an empty cell",),
        ending=".csv",
        true={0: 0.9, 4: 0.9},
    ),
    Variant("a status of HTTP", _with(status_code=lambda one: 500 if _last(one) else 200), true=WITHOUT_LAST),
    Variant("an answer that is a role", _with(response=lambda one: f"{answer(one)}\nmodel\nassistant"), ()),
    Variant("null", _with(response=lambda one: None if _last(one) else answer(one)), true=WITHOUT_LAST),
    Variant(
        "all answers equal",
        _with(response="Yes."),
        ("all recorded answers are 'Yes.'",),
        true=dict.fromkeys(PLACES, 0.0),
    ),
    Variant(
        "a quoted document is an answer",
        _with(response=lambda one: f"{answer(one)}\n{TEXTS[int(one.id[1:])]} {one.question}"),
    ),
    Variant(
        "other programs' finish reasons",
        _with(why=lambda one: REASONS[int(one.id[1:]) % len(REASONS)]),
        fields=FIELDS | {"finish_reason": "why"},
    ),
    Variant(
        "aborted answers",
        _with(why=lambda one: "abort" if _last(one) else "stop"),
        fields=FIELDS | {"finish_reason": "why"},
        true=WITHOUT_LAST,
    ),
    Variant(
        "answers withheld by a filter",
        lambda one: record(one) | ({"response": None, "why": "SAFETY"} if _last(one) else {"why": "STOP"}),
        fields=FIELDS | {"finish_reason": "why"},
        true={0: 0.9, 4: 0.9},
    ),
]


def _inspect(one: Example, **more: Any) -> dict:
    output = {
        "choices": [{"message": {"role": "assistant", "content": answer(one)}, "stop_reason": "stop"}],
        "completion": answer(one),
    }
    messages = [{"role": "user", "content": one.prompt}, {"role": "assistant", "content": answer(one)}]
    sample = {"id": one.id, "epoch": 1, "input": one.prompt, "messages": messages, "output": output, "scores": {}}
    return {**sample, "metadata": {"slot": one.targets[0].position, "q": one.question}, **(more if _last(one) else {})}


BY_PROMPT = {"response": "response", "prompt": "asked", "finish_reason": "finish_reason"}
BY_SLOT = {"response": "response", "question": "metadata.q", "position": "metadata.slot"}
INVALIDATION = {"timestamp": "2026-11-28T08:32:39Z", "author": "me", "reason": "a broken sandbox", "metadata": {}}


def _of_inspect(name: str, said: tuple[str, ...], **more: Any) -> Variant:
    return Variant(
        name, lambda one: _inspect(one, **more), said, fields=BY_PROMPT, ending=".json", log=INSPECT, true=WITHOUT_LAST
    )


def _lm_eval(one: Example, **more: Any) -> dict:
    sample = {"doc_id": 0, "doc": {"q": one.question, "slot": one.targets[0].position}, "resps": [[answer(one)]]}
    return {**sample, "filtered_resps": [answer(one)], "filter": "none", **more}


OF_DOC = {"response": "resps.0.0", "question": "doc.q", "position": "doc.slot"}
FILTERED = OF_DOC | {"response": "filtered_resps.0"}
LOGS = [
    _of_inspect("inspect_ai: a sample in error", ("marked (error)",), error={"message": "RuntimeError('boom')"}),
    _of_inspect("inspect_ai: an invalidated sample", ("marked (invalidation)",), invalidation=INVALIDATION),
    _of_inspect("inspect_ai: a limit", ("limit of token",), limit={"type": "token", "limit": 9.0, "reason": "x"}),
    _of_inspect("inspect_ai: an excluded sample", ("excluded",), scores={"f": {"value": None, "reason": "excluded"}}),
    _of_inspect("inspect_ai: a zeroed sample", ("zeroed",), scores={"f": {"value": 0, "reason": "zeroed"}}),
    Variant(
        "inspect_ai: several epochs",
        lambda one: [
            _inspect(one),
            _inspect(one)
            | {
                "epoch": 2,
                "response": "x",
                "output": {"choices": [{"message": {}, "stop_reason": "stop"}], "completion": "else"},
            },
        ],
        ("--epochs 1",),
        right=False,
        fields=BY_PROMPT,
        ending=".json",
        log=INSPECT,
    ),
    Variant(
        "inspect_ai: slots from 1",
        lambda one: _inspect(one) | {"metadata": {"slot": one.targets[0].position + 1, "q": one.question}},
        ("counted from 1",),
        fields=BY_SLOT,
        ending=".json",
        log=INSPECT,
    ),
    Variant(
        "lm_eval: a line for each filter",
        lambda one: [_lm_eval(one), _lm_eval(one, filter="strict", filtered_resps=["[invalid]"])],
        fields=OF_DOC,
        log=LM_EVAL,
    ),
    Variant(
        "lm_eval: filtered answers of several filters",
        lambda one: [_lm_eval(one), _lm_eval(one, filter="strict", filtered_resps=["-"])],
        ("resps.0.0",),
        right=False,
        fields=FILTERED,
        log=LM_EVAL,
    ),
    Variant(
        "lm_eval: repeats",
        lambda one: _lm_eval(one, resps=[[answer(one), "else"]]),
        ("first of several",),
        fields=OF_DOC,
        log=LM_EVAL,
    ),
    Variant(
        "lm_eval: slots from 1",
        lambda one: _lm_eval(one, doc={"q": one.question, "slot": one.targets[0].position + 1}),
        ("counted from 1",),
        fields=OF_DOC,
        log=LM_EVAL,
    ),
]


def _read(variants: Sequence[Variant]) -> Callable[[Arena], Iterator[Outcome]]:
    return lambda arena: (outcome(arena.folder, variant) for variant in variants)


def _contexts() -> str:
    """Questions with five passages each, in the released format."""
    lines = []
    for number, (question, who) in enumerate(QUESTIONS.items()):
        passages = [
            {"title": f"{n}", "text": TEXTS[(number + n) % len(TEXTS)], "isgold": n == 0, "hasanswer": n == 0}
            for n in range(SIZE)
        ]
        lines.append(json.dumps({"question": question, "answers": [who], "ctxs": passages}) + "\n")
    return "".join(lines)


MANIFEST = "results/responses/theirs/theirs_qa.manifest.json"
RECORDED = {
    "models": ["theirs"],
    "experiments": ["theirs_qa"],
    "define": {
        "datasets": {"contexts": {"path": "contexts.jsonl"}},
        "experiments": {
            "theirs_qa": {"task": "multi_document_qa", "dataset": "contexts", "positions": {SIZE: [*PLACES]}},
            "theirs_closed": {"task": "closed_book_qa", "dataset": "contexts"},
            "theirs_oracle": {"task": "oracle_qa", "dataset": "contexts"},
        },
        "models": {"theirs": {"engine": "recorded", "responses": {"theirs_qa": "a.jsonl"}, "fields": FIELDS}},
    },
}


def _studied(arena: Arena, name: str, files: Mapping[str, str], config: Mapping[str, Any]) -> Any:
    folder = arena.folder / name.replace(" ", "_")
    folder.mkdir()
    targets = ("results/tables/accuracy.csv", "results/tables/answer_checks.csv")
    nested = Arena(folder, arena.project, arena.made_once)
    return study(nested, {"contexts.jsonl": _contexts(), **files}, config, targets=targets)


def _lines(write: Callable[[Example], Any], places: Sequence[int] = PLACES) -> str:
    return _content([write(one) for one in examples(places=places)], ".jsonl")


def _with_model(**changes: Any) -> dict[str, Any]:
    """The config with other keys of the model."""
    entry = {**RECORDED["define"]["models"]["theirs"], **changes}  # type: ignore[index]
    return {**RECORDED, "define": {**RECORDED["define"], "models": {"theirs": entry}}}  # type: ignore[dict-item]


def _studies(arena: Arena) -> Iterator[Outcome]:
    """Whole studies, as users configure them."""
    found = _studied(arena, "from 1", {"a.jsonl": _lines(placed(lambda n: n + 1))}, RECORDED)
    yield judged(
        "a study: counted from 1",
        found,
        lambda it: it.accuracy("theirs_qa") == [*TRUE] and "counted from 1" in it.bench.path(MANIFEST).read_text(),
    )
    found = _studied(arena, "without the last", {"a.jsonl": _lines(placed(lambda n: n + 1), (0, 1, 2, 3))}, RECORDED)
    yield judged("a study: counted from 1 without the last", found, lambda _: False)
    plain = _lines(lambda one: {"question": one.question, "response": one.answers[0]}, (0,))
    responses = {"theirs_qa": "a.jsonl", "theirs_closed": "b.jsonl", "theirs_oracle": "b.jsonl"}
    config = {**_with_model(responses=responses, fields=FIELDS | {"size": "size"}), "experiments": [*responses]}
    found = _studied(arena, "baselines", {"a.jsonl": _lines(record), "b.jsonl": plain}, config)
    yield judged(
        "a study: baselines without size and position",
        found,
        lambda it: [it.accuracy(name) for name in responses] == [[*TRUE], [1.0], [1.0]],
    )
    named = {f"at-{place + 1}.jsonl": _lines(record, (place,)) for place in PLACES}
    config = _with_model(responses={"theirs_qa": "at-{position}.jsonl"}, fields=PLAIN_NAMES)
    yield judged("a study: files named from 1", _studied(arena, "files", named, config), lambda _: False)
    found = _studied(
        arena,
        "files told",
        named,
        _with_model(responses={"theirs_qa": "at-{position}.jsonl"}, fields=PLAIN_NAMES, position_scale="from_1"),
    )
    yield judged("a study: files named from 1, scale given", found, lambda it: it.accuracy("theirs_qa") == [*TRUE])


PLAIN_NAMES = {"response": "response", "question": "question"}
CASES = [
    Case("recorded answers: scales of positions", _read(POSITIONS), fast=True),
    Case("recorded answers: what surrounds and voids an answer", _read(ANSWERS), fast=True),
    Case("recorded answers: logs of frameworks", _read(LOGS), fast=True),
    Case("recorded answers: whole studies", _studies),
]
