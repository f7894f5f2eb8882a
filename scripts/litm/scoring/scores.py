"""Scores of a sweep: one row per prompt and target; the accuracy of each cell; whether responses are of the sweep."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, get_type_hints

import numpy as np
import pandas as pd

from litm.base.groups import grouped
from litm.base.intervals import clustered_interval
from litm.base.messages import UserError, percent
from litm.base.table_files import by_cell
from litm.examples.task import RECORDED_SCORES, Task
from litm.models.devices import AUTO
from litm.prompting.prompt_format import CHAT
from litm.records.examples import Example, Target
from litm.records.measures import MEASURE
from litm.records.responses import (
    FAILED,
    LENGTH,
    NOT_RECORDED,
    OVERFLOW,
    REFUSED,
    UNKNOWN,
    SweepResponse,
    measured_content,
    response_key,
)
from litm.scoring.doubts import Answer, doubt_of, doubts_on, read_answer
from litm.scoring.judge_error import Labelled, corrected_accuracy
from litm.scoring.judging import Judged, label_key
from litm.scoring.metrics import FULL, JUDGED, METRICS, RECORDED, first_line
from litm.scoring.wrong_answers import Asked, WrongAnswer, wrong_answer

if TYPE_CHECKING:
    from litm.tables.accuracy import AccuracyRow

#: Of a rule on an answer: a number from 0 to 1 if the metric is graded.
Verdict = bool | float | None
CutAt = Callable[[Sequence[int], Sequence[int | None]], int | None]
R = TypeVar("R", bound=NamedTuple)
#: The target of a verdict whose prompt is not known.
NO_TARGET = Target("gold", None, None, None, ())
RUN_AGAIN = (
    "run again with `--forcerun generate generate_shard import_responses`, which asks only prompts whose answer "
    "is not kept"
)


def check_origin(
    where: str, manifest: Mapping[str, Any], source: Mapping, settings: Mapping, decoding: Mapping
) -> None:
    """Raise `UserError`, beginning with `where`, if a sweep was asked of another model or with other settings.

    manifest: the sweep's manifest. Its file may be a copy from another folder, whose model has the same name. source:
    the output of identify_model.py; settings: those of the model that change an answer; decoding: limit of new tokens,
    stop rule.
    """
    identity = manifest["identity_fields"]
    # The identity lacks settings that change no answer, see `generation_settings`.
    asked_with = {name: settings.get(name) for name in identity["model"]}
    if asked_with.get("dtype") == AUTO:
        # The machine that asked chose the format.
        asked_with["dtype"] = identity["model"]["dtype"]
    compared = {
        "model": (identity["source"], source["identity"]),
        "settings": (identity["model"], asked_with),
        "limit or stop rule": (identity["decoding"], decoding),
    }
    for what, (then, now) in compared.items():
        if then != now:
            raise UserError(
                f"{where}: these responses have another {what} than the study (a copy from elsewhere?): {RUN_AGAIN}"
            )


def with_checked_keys(
    where: str, manifest: Mapping[str, Any], examples: Iterable[Example], responses: Sequence[SweepResponse]
) -> Iterator[Example]:
    """Yield the examples of a sweep, one at a time: together, long prompts take gigabytes.

    Raises `UserError`, beginning with `where`, for a response that is not of the sweep that the manifest describes.
    Examples without a response are no error here.
    """
    identity = manifest["identity"]
    is_chat = manifest["identity_fields"].get("model", {}).get("prompt_template") == CHAT
    is_measured = MEASURE in (manifest["identity_fields"].get("decoding") or {})
    keys = {response.name: response.key for response in responses if response.finish_reason != NOT_RECORDED}
    for example in examples:
        yield example
        # After its score, whose own refusals say more.
        key = keys.get(example.name)
        content = example.content(is_chat)
        asked = measured_content(content, example.targets[0].answers) if is_measured else content
        if key is not None and key != response_key(identity, asked):
            raise UserError(
                f"{where}: the response to question {example.id}, size {example.size}, {example.placement}, is not of "
                f"the sweep that its manifest describes: {RUN_AGAIN}"
            )


class Score(NamedTuple):
    """One answer to one target: a row of a score file. The notes of the fields are in results/README.md."""

    model: str
    experiment: str
    task: str
    metric: str
    size: int
    items: int
    placement: str
    position: int | None
    depth: float | None
    id: Annotated[str, "of the question, the same at every position"]
    target: str
    correct: Annotated[Verdict, "from 0 to 1 if the metric is graded; missing if nothing was scored, as the next four"]
    correct_first_line: Annotated[Verdict, "by the answer's first line that is not blank"]
    correct_full: Annotated[Verdict, "by the whole answer"]
    correct_strict: Annotated[Verdict, "by the metric's strict rule; also missing if it has none"]
    correct_lenient: Annotated[Verdict, "by the metric's lenient rule; also missing if it has none"]
    empty: Annotated[bool, "the answer has no text"]
    finish_reason: Annotated[
        str,
        "`stop`, `length`, `refused`, `overflow`, `failed`; `unknown` if no reason that is known here is given; for "
        "recorded responses also `not_recorded`",
    ]
    prompt_tokens: Annotated[int | None, "missing if unknown, as for recorded responses"]
    response_tokens: Annotated[int | None, "as `prompt_tokens`"]
    excluded: Annotated[bool, "the question does not fit at some placement"]
    preamble: Annotated[bool, "the first line ends with a colon, so it may only announce the answer"]
    more_lines: Annotated[bool, "the answer has further lines"]
    wrong_kind: Annotated[str | None, "of a wrong answer, as in wrong_answers.csv"]
    taken_from: Annotated[int | None, "of a wrong answer: the position of the other item that it was taken from"]
    cache_write_tokens: Annotated[int | None, "of the prompt, where the provider billed any so"]
    cache_read_tokens: Annotated[int | None, "of the prompt, where the provider billed any so"]
    in_batch: Annotated[int | None, "1 at the price of batches"]
    cluster: Annotated[str | None, "where questions have clusters"]
    doubt: Annotated[str | None, "why the answer is neither right nor wrong, as in accuracy.csv"] = None
    label: Annotated[Verdict, "of a judged answer: whether a person calls it right; missing without a label"] = None
    chance: Annotated[float | None, "share of right answers by chance, as in accuracy.csv"] = None


def score_reference() -> str:
    """The columns of a score file as a table in Markdown."""
    hints = get_type_hints(Score, include_extras=True)
    notes = {name: hint.__metadata__[0] for name, hint in hints.items() if hasattr(hint, "__metadata__")}
    others = ", ".join(f"`{name}`" for name in hints if name not in notes)
    lines = [(others, "as in the tables"), *((f"`{name}`", note) for name, note in notes.items())]
    return "\n".join(["| column | what |", "|---|---|", *(f"| {names} | {note} |" for names, note in lines)])


#: Columns of files that have a value in them.
OPTIONAL = ("cluster", "cache_write_tokens", "cache_read_tokens", "in_batch", "doubt", "label", "chance")
#: pandas types of columns by the types of their values.
DTYPES: dict[Any, str] = {
    str: "string", str | None: "string", int: "int64", int | None: "Int64", float | None: "Float64", bool: "bool",
}  # fmt: skip


def typed(record: type[R], rows: Iterable[R], is_graded: bool = False) -> pd.DataFrame:
    """Rows with the fields of their record as columns, in their types; without `OPTIONAL` ones that no row has."""
    dtypes = DTYPES | {Verdict: "Float64" if is_graded else "boolean"}
    columns = {name: dtypes[kind] for name, kind in get_type_hints(record).items()}
    table = pd.DataFrame(rows, columns=list(columns)).astype(columns)
    return table.drop(columns=[name for name in OPTIONAL if name in table and table[name].isna().all()])


@dataclass(frozen=True)
class Sweep:
    """The subject of a score file: the answers of one model to one experiment."""

    model: str
    """The name of the model."""
    experiment: str
    """The name of the experiment."""
    task: str
    """The name of the experiment's task."""
    metric: str = ""
    """The metric that judges the answers, "" where log-probabilities are measured."""
    asks: Task | None = None
    """The task itself, for its wrong answers, None if it is not known."""


def score_sweep(
    sweep: Sweep,
    examples: Iterable[Example],
    responses: Iterable[SweepResponse],
    where: str = "responses",
    cut_at: CutAt = lambda lengths, tokens: None,
    judged: Judged | None = None,
) -> pd.DataFrame:
    """A `Score` per prompt and target, in the order of the examples.

    cut_at: the tokens to which prompts of these characters and tokens were cut, see `inference.cut_prompts`; judged:
    the verdicts of the metric `judged`. Raises `UserError`, beginning with `where` (the file of the responses), as
    `answered`.
    """
    answers: list[Answer] = []
    for example, response, is_excluded in answered(examples, responses, where):
        text = (response.scored_text or "").strip()
        rows = zip(_rows(sweep, example, response, is_excluded, judged), example.targets, strict=True)
        answers += [read_answer(row, text, example.prompt, target) for row, target in rows]
    doubts = doubts_on(
        answers, cut_at([answer.length for answer in answers], [answer.row.prompt_tokens for answer in answers])
    )
    scored = [answer.row._replace(doubt=doubt) for answer, doubt in zip(answers, doubts, strict=True)]
    return typed(Score, scored, METRICS[sweep.metric].is_graded)


def answered(
    examples: Iterable[Example], responses: Iterable[SweepResponse], where: str
) -> Iterator[tuple[Example, SweepResponse, bool]]:
    """Yield each example with its response, and whether it is excluded.

    A question that did not fit at one placement of a size is excluded at all placements of that size, so that positions
    are always compared on the same questions. Raises `UserError`, beginning with `where`, for an example without a
    response and for a response to another prompt.
    """
    by_prompt = {response.name: response for response in responses}
    overflowed = {(size, id) for (size, _, id), r in by_prompt.items() if r.finish_reason == OVERFLOW}
    for example in examples:
        yield example, _response(example, by_prompt, where), (example.size, example.id) in overflowed


def _response(example: Example, responses: Mapping[tuple[int, str, str], SweepResponse], where: str) -> SweepResponse:
    response = responses.get(example.name)
    named = f"question {example.id}, size {example.size}, {example.placement}"
    if response is None:
        raise UserError(f"{where}: no response to {named}: {RUN_AGAIN}")
    # Files written by earlier versions have no digest of the prompt, and what is not recorded answers none.
    is_compared = response.prompt_sha256 is not None and response.finish_reason != NOT_RECORDED
    if is_compared and response.prompt_sha256 != example.prompt_sha256:
        raise UserError(
            f"{where}: the response to {named}, answers another prompt than the example has now: {RUN_AGAIN}"
        )
    return response


def _rows(
    sweep: Sweep, example: Example, response: SweepResponse, is_excluded: bool, judged: Judged | None
) -> Iterator[Score]:
    text = response.scored_text
    for target in example.targets:
        if judged:
            verdicts = judged.verdicts_of(example.name, text, target.answers)
            key = label_key(sweep.model, sweep.experiment, example.name, text or "")
            verdicts["label"] = judged.labels.get(key)
        else:
            verdicts = judge(sweep.metric, text, target.answers, example.answers)
        wrong = _wrong(sweep, example, target, response) if verdicts["correct"] == 0 else None
        yield Score(
            metric=sweep.metric,
            **fields_of(sweep, example, response, is_excluded, target),
            **verdicts,
            empty=text is not None and not text.strip(),
            response_tokens=response.response_tokens,
            preamble=text is not None and first_line(text).endswith((":", "\uff1a")),
            more_lines=text is not None and "\n" in text.strip(),
            wrong_kind=wrong.kind if wrong else None,
            taken_from=wrong.taken_from if wrong else None,
            cache_write_tokens=(response.billed.cache_write or None) if response.billed else None,
            cache_read_tokens=(response.billed.cache_read or None) if response.billed else None,
            in_batch=1 if response.billed and response.billed.batch else None,
            chance=_chance(sweep.asks, example, target),
        )


def _chance(asks: Task | None, example: Example, target: Target) -> float | None:
    """The chance level of a target that is in the context, None if it is not known."""
    return asks.chance(example.prompt, target) if asks and asks.chance and target.position is not None else None


def fields_of(
    sweep: Sweep, example: Example, response: SweepResponse, is_excluded: bool, target: Target
) -> dict[str, Any]:
    """The columns that rows of scores and of log-probabilities have in common."""
    return {
        "model": sweep.model,
        "experiment": sweep.experiment,
        "task": sweep.task,
        "size": example.size,
        "items": example.context_items,
        "placement": example.placement,
        "position": target.position,
        "depth": target.depth,
        "id": example.id,
        "target": target.name,
        "finish_reason": response.finish_reason,
        "prompt_tokens": response.prompt_tokens,
        "excluded": is_excluded,
        "cluster": example.cluster,
    }


def verdict_scores(verdicts: Iterable[tuple[Any, Any]], sweep: Sweep | None = None) -> pd.DataFrame:
    """The scores of recorded verdicts, in which what needs an answer is missing.

    verdicts: each `Verdict` with its `Place`; sweep: names in place of those of the verdicts. Of answers, where they
    are known, only doubts are read.
    """
    rows = [(_verdict_score(verdict, place, sweep), verdict.answer) for verdict, place in verdicts]
    answers = [read_answer(row, text.strip(), "", NO_TARGET) for row, text in rows if text is not None]
    doubts: dict[int, str | None] = {}
    for of_sweep in grouped(answers, lambda answer: (answer.row.model, answer.row.experiment)).values():
        doubts |= zip((id(answer.row) for answer in of_sweep), doubts_on(of_sweep, None), strict=True)
    is_graded = any(row.correct not in (0, 1, None) for row, _ in rows)
    return typed(Score, [row._replace(doubt=doubts.get(id(row))) for row, _ in rows], is_graded)


def _verdict_score(verdict: Any, place: Any, sweep: Sweep | None) -> Score:
    known = {
        "model": sweep.model if sweep else verdict.model,
        "experiment": sweep.experiment if sweep else verdict.experiment,
        "task": RECORDED_SCORES,
        "metric": RECORDED,
        "size": verdict.size,
        "id": verdict.question,
        "target": NO_TARGET.name,
        "correct": verdict.correct if verdict.correct not in (0, 1) else bool(verdict.correct),
        "empty": verdict.answer is not None and not verdict.answer.strip(),
        "finish_reason": NOT_RECORDED if verdict.correct is None else UNKNOWN,
        "excluded": False,
        "preamble": False,
        "more_lines": False,
        "cluster": verdict.cluster,
    }
    return Score(**{**dict.fromkeys(Score._fields), **known, **place._asdict()})


def _wrong(sweep: Sweep, example: Example, target: Target, response: SweepResponse) -> WrongAnswer:
    text, metric = str(response.scored_text), METRICS[sweep.metric]
    others = sweep.asks.other_items(example.prompt, target) if sweep.asks and sweep.asks.other_items else ()
    also = [other.answers for other in example.targets if other is not target]
    has_other = any(metric.verdict(metric.judge, text, answers, example.answers) for answers in also)
    asked = Asked(example.prompt, example.question, target.text_in(example.prompt), others, has_other, sweep.asks)
    return wrong_answer(text if metric.reads == FULL else first_line(text), response.finish_reason, asked)


def judge(metric: str, response: str | None, answers: Sequence[str], also: Sequence[str] = ()) -> dict[str, Any]:
    """`Metric.verdicts` on a response; None for all without one."""
    if response is None:
        return dict.fromkeys(("correct", *(f"correct_{kind}" for kind in ("first_line", "full", "strict", "lenient"))))
    return METRICS[metric].verdicts(response, answers, also)


#: Columns that identify a cell of the accuracy table.
CELL = ["model", "experiment", "task", "metric", "size", "items", "placement", "position", "depth", "target"]
#: Columns of accuracy.csv that recorded verdicts have.
KNOWN = (*CELL, "n", "accuracy", "ci_low", "ci_high", "n_not_recorded", "doubt")


def accuracies(scores: pd.DataFrame) -> pd.DataFrame:
    """The accuracy table of a sweep, with all decimals: see `accuracy_rows`."""
    # A file without scores has the columns too.
    columns = list(_cell_row(dict.fromkeys(CELL), scores.iloc[:0]))
    return pd.DataFrame(accuracy_rows(scores), columns=columns, dtype=object)


def accuracy_rows(scores: pd.DataFrame) -> "list[AccuracyRow]":
    """One row per cell (and target), in the order of the scores.

    Accuracies are fractions, or means of a graded metric; their limits are those of `clustered_interval`. n_cut and
    n_refused are None where finish reasons are unknown.
    """
    return [_cell_row(names, group) for names, group in by_cell(scores, CELL)]


def _cell_row(names: dict, group: pd.DataFrame) -> "AccuracyRow":
    failed = ~group["excluded"] & (group["finish_reason"] == FAILED)
    not_recorded = ~group["excluded"] & (group["finish_reason"] == NOT_RECORDED)
    counted = group[~group["excluded"] & ~failed & ~not_recorded]
    if names["metric"] == JUDGED:
        # A reply that is no verdict says nothing on the answer.
        counted = counted[counted["correct"].notna()]
    n, correct = len(counted), counted["correct"].to_numpy(dtype=float, na_value=0)
    clusters = pd.factorize(counted["cluster"])[0] if "cluster" in counted else None
    low, high = clustered_interval(correct, clusters) if n else (None, None)
    accuracy, completed = float(correct.sum()) / n if n else None, _completed(counted, correct)
    if n and "label" in counted and (labelled := labelled_cell(counted, correct, clusters)).is_complete:
        accuracy, low, high = corrected_accuracy(labelled)
        # That of a part of the answers is not corrected by labels of all.
        completed = None
    row: AccuracyRow = {
        **names,
        "n": n,
        "accuracy": accuracy,
        "ci_low": low,
        "ci_high": high,
        "accuracy_first_line": counted["correct_first_line"].sum() / n if n else None,
        "accuracy_full": counted["correct_full"].sum() / n if n else None,
        "accuracy_strict": _mean(counted["correct_strict"]),
        "accuracy_lenient": _mean(counted["correct_lenient"]),
        "accuracy_completed": completed,
        "chance": _mean(group["chance"]) if "chance" in group else None,
        # A server that reports no tokens leaves 0 for an answer that has text.
        "answer_tokens": _mean(
            counted["response_tokens"].mask(counted["response_tokens"].eq(0).fillna(False) & ~counted["empty"])
        ),
        "n_empty": int(counted["empty"].sum()),
        "n_cut": _ended(counted, LENGTH),
        "n_refused": _ended(counted, REFUSED),
        "n_failed": int(failed.sum()),
        "n_not_recorded": int(not_recorded.sum()),
        "n_left_out": int(group["excluded"].sum()),
        "n_preamble": int(counted["preamble"].sum()),
        "doubt": doubt_of(counted),
    }
    if names["metric"] == RECORDED:
        row.update(dict.fromkeys(row.keys() - {*KNOWN}))  # type: ignore[typeddict-item]
    return row


#: Fraction: chance levels below are not worth a line.
LEAST_CHANCE = 0.005


def chances(cells: pd.DataFrame) -> tuple[float, ...]:
    """The distinct chance levels of rows of accuracy.csv, of at least `LEAST_CHANCE`, ascending."""
    known = cells["chance"].dropna() if "chance" in cells else ()
    return tuple(sorted({round(float(chance), 6) for chance in known if chance >= LEAST_CHANCE}))


def by_chance(levels: Sequence[float]) -> str:
    """`20.0 % by chance`, or `` for none."""
    return f"{', '.join(map(percent, levels))} % by chance" if levels else ""


def labelled_cell(counted: pd.DataFrame, correct: np.ndarray, clusters: np.ndarray | None) -> Labelled:
    """The judged answers of one cell with their labels."""
    strict, labels = (
        counted[name].astype("Float64").to_numpy(dtype=float, na_value=np.nan)[:, None]
        for name in ("correct_strict", "label")
    )
    return Labelled(correct[:, None], strict, labels, clusters)


def _mean(verdicts: pd.Series) -> float | None:
    """The mean of a rule's verdicts; None if a metric lacks the rule."""
    mean = verdicts.mean(skipna=False)
    return None if pd.isna(mean) else float(mean)


def _completed(counted: pd.DataFrame, correct: np.ndarray) -> float | None:
    """The accuracy of answers that were not cut; None if none or each of them was."""
    is_cut = (counted["finish_reason"] == LENGTH).to_numpy()
    return float(correct[~is_cut].mean()) if is_cut.any() and not is_cut.all() else None


def _ended(counted: pd.DataFrame, reason: str) -> int | None:
    """The number of answers that are known to have ended for a reason; None if that of none is known."""
    reasons = counted["finish_reason"]
    return None if len(reasons) and (reasons == UNKNOWN).all() else int((reasons == reason).sum())
