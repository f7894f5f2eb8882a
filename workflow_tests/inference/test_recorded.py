"""Recorded responses: their files, and their matching with prompts."""

import csv
import gzip
import re
from dataclasses import replace
from math import nan
from pathlib import Path

import pandas as pd
import pytest
import record_makers
from conftest import write_lines
from programs import refused
from score_frames import accuracy_table

from litm.base.messages import UserError
from litm.recorded.files import OWN_FIELDS, read_recorded
from litm.recorded.responses import RecordedFile, RecordedSweep
from litm.records.examples import Example
from litm.scoring.scores import Sweep, score_sweep

CELLS = ((3, "gold_at_0"), (3, "gold_at_2"))
ALONE = CELLS[:1]
FIELDS = {"response": "model_answer", "question": "question"}


def example(number: int, placement: str = "gold_at_0", size: int = 3) -> Example:
    position = int(placement.removeprefix("gold_at_"))
    target = {"name": "gold", "position": position, "depth": position / 2, "answers": [f"answer{number}"]}
    text = f"what is number {number}"
    prompt = f"{placement} of {size}: {text}?"
    return record_makers.example(
        id=f"id{number}", size=size, placement=placement, question=text, prompt=prompt, targets=[target]
    )


EXAMPLES = [example(number, placement) for _, placement in CELLS for number in range(3)]


def match(path: Path, fields: dict, cells=CELLS, examples=EXAMPLES) -> RecordedSweep:
    return RecordedSweep(examples, [RecordedFile(str(path), cells)], fields)


def texts(sweep: RecordedSweep) -> dict:
    return {(placement, id): recorded.text for (_, placement, id), recorded in sweep.responses.items()}


def test_responses_belong_to_the_questions_of_the_cell_that_their_file_is_about(tmp_path):
    records = [{"question": f"What is  number {n}?", "model_answer": f"it is {n}"} for n in (2, 0)]
    path = write_lines(tmp_path / "a.jsonl.gz", [*records, {"question": "who", "model_answer": "x"}])
    matching = match(path, FIELDS, CELLS[1:])
    assert texts(matching) == {("gold_at_2", "id2"): "it is 2", ("gold_at_2", "id0"): "it is 0"}
    assert matching.files == [RecordedFile(str(path), CELLS[1:], records=3, unused=1, not_compared=2)]
    summary = matching.manifest({})
    assert summary["missing"] == {"3/gold_at_0": ["id0", "id1", "id2"], "3/gold_at_2": ["id1"]}


def own_record(example: Example, **changes) -> dict:
    """A line of results/responses to an example."""
    fields = {"id": example.id, "size": example.size, "placement": example.placement, "response": "x"}
    return {**fields, "finish_reason": "stop", "prompt_sha256": example.prompt_sha256, **changes}


WITH_DIGEST = {"response": "r", "id": "id", "placement": "at", "prompt_sha256": "sum"}


IN_FIELDS = {"response": "out.text", "id": "q.id", "size": "n", "position": "where"}
OF_PLACES = [
    {"out": {"text": text}, "q": {"id": f"id{n}"}, "n": size, "where": where}
    for n, text, size, where in ((0, "a", 3, 0), (0, "b", "3", [2]), (0, "c", 5, 0), (1, "d", 3.0, "2.0"))
]
SEVERAL = {"response": ["out", "r"], "prompt": ["asked", "q.p"]}
OF_SEVERAL = [{"r": "x", "q": {"p": EXAMPLES[4].prompt}}, {"out": "y", "r": "no", "asked": EXAMPLES[0].prompt}]
OF_PROMPT = {"p": EXAMPLES[4].prompt, "r": "x"}
OF_DIGEST = {"r": "x", "id": "id0", "at": "gold_at_0", "sum": EXAMPLES[0].prompt_sha256.upper()}
OF_TWO = [own_record(EXAMPLES[0]), own_record(EXAMPLES[0], prompt_sha256="0" * 64, response="y")]


@pytest.mark.parametrize(
    ("fields", "records", "expected"),
    [
        (IN_FIELDS, OF_PLACES, {("gold_at_0", "id0"): "a", ("gold_at_2", "id0"): "b", ("gold_at_2", "id1"): "d"}),
        ({"response": "r", "prompt": "p"}, [OF_PROMPT], {("gold_at_2", "id1"): "x"}),
        (SEVERAL, OF_SEVERAL, {("gold_at_2", "id1"): "x", ("gold_at_0", "id0"): "y"}),
        (WITH_DIGEST, [OF_DIGEST], {("gold_at_0", "id0"): "x"}),
        (OWN_FIELDS, OF_TWO, {("gold_at_0", "id0"): "x"}),
    ],
    ids=["size and position, in fields of fields", "a prompt", "several names", "a digest", "answers to two prompts"],
)
def test_fields_of_a_record_tell_the_prompts_of_one_file_apart(tmp_path, fields, records, expected):
    matching = match(write_lines(tmp_path / "a.jsonl", records), fields)
    assert texts(matching) == expected and matching.files[0].unused == len(records) - len(expected)
    if len(records) == 1:
        assert not list(matching.notes())


@pytest.mark.parametrize(
    "position", [{}, *({"at": one} for one in (None, "", [], [None], nan, "nan", "none", "NULL"))], ids=str
)
def test_a_context_without_a_gold_item_has_no_position_and_its_records_need_none(tmp_path, position):
    path = write_lines(tmp_path / "a.jsonl", [{"q": EXAMPLES[0].question, "r": "x", **position}])
    closed = replace(EXAMPLES[0], targets=(replace(EXAMPLES[0].targets[0], position=None, depth=None),))
    fields = {"response": "r", "question": "q", "position": "at"}
    assert match(path, fields, ALONE, [closed]).responses
    said = refused(lambda: match(path, fields).check_any())
    assert ("none of the 6 prompts has a response" if position else "the field 'at' (position) is missing") in said


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv.gz", "\t")])
def test_tables_are_read_with_their_quotes_and_line_ends(tmp_path, name, delimiter):
    opened = gzip.open if name.endswith(".gz") else open
    rows = [["id", "placement", "r"], ["id0", "gold_at_0", 'one, "two"\nthree\tfour'], ["id1", "gold_at_2", ""]]
    with opened(tmp_path / name, "wt", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    fields = {"response": "r", "id": "id", "placement": "placement"}
    matching = match(tmp_path / name, fields)
    assert texts(matching) == {("gold_at_0", "id0"): 'one, "two"\nthree\tfour', ("gold_at_2", "id1"): ""}
    places = [record.where for record in read_recorded(tmp_path / name, fields)]
    assert places == [f"{tmp_path / name}, line {line}" for line in (2, 4)]


def test_the_same_response_twice_is_fine_and_two_different_ones_name_both_lines(tmp_path):
    record = {"question": "what is number 1", "model_answer": "x"}
    path = write_lines(tmp_path / "a.jsonl", [record, record])
    matching = match(path, FIELDS, ALONE)
    assert texts(matching) == {("gold_at_0", "id1"): "x"}
    write_lines(path, [record, record | {"model_answer": "y"}])
    assert refused(match, path, FIELDS, ALONE) == (
        f"{path}, line 2: another response to question id1, size 3, gold_at_0 than in {path}, line 1: leave one of them"
    )


@pytest.mark.parametrize(
    ("record", "fields", "message"),
    [
        ({"question": "q"}, FIELDS, "the field 'model_answer' (response) is missing; there are: 'question'"),
        ({"model_answer": "a"}, FIELDS, "the field 'question' (question) is missing; there are: 'model_answer'"),
        ({"r": "a"}, {"response": "r", "id": ["q", "k"]}, "the field 'q' or 'k' (id) is missing; there are: 'r'"),
        (
            {"question": "q", "model_answer": ["a"]},
            FIELDS,
            "'model_answer' must be a text, found list; name the text in it with",
        ),
        ({"question": 7, "model_answer": "a"}, FIELDS, "'question' must be a text, found int"),
        ({"r": "a", "id": 1.5}, {"response": "r", "id": "id"}, "'id' must be a text or a whole number, found float"),
        ({"a": {"b": 1}}, {"response": "a.c"}, "the field 'a.c' (response) is missing; there are: 'b'"),
        ({"r": "x", "id": "id0", "at": "gold_at_0"}, WITH_DIGEST, "the field 'sum' (prompt_sha256) is missing"),
        ({"r": "a", "why": "mine"}, {"response": "r", "finish_reason": "why"}, "'why' is 'mine', allowed: stop,"),
    ],
)
def test_a_wrong_record_is_one_line_with_file_and_line(tmp_path, record, fields, message):
    path = write_lines(tmp_path / "a.jsonl", ["", record])
    assert refused(match, path, fields, ALONE, EXAMPLES[:1]).startswith(f"{path}, line 2: {message}")


def test_a_row_of_another_length_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("id,r\nid0,a,b\n")
    said = refused(match, tmp_path / "a.csv", {"response": "r", "id": "id"})
    assert "a.csv, line 2: 3 fields, but the header has 2" in said


def test_questions_that_cannot_be_told_apart_are_named(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [{"question": "what is number 1", "model_answer": "x"}])
    said = refused(match, path, FIELDS, ALONE, [example(1), replace(example(1), id="other")])
    assert "questions id1 and other cannot be told apart by question: give 'id'" in said


NONE_FITS = """none of the 6 prompts has a response among the 1 records; the first prompt has question \
'what is number 0', the first record question 'who': check the 'fields'"""
FOR_OTHERS = "line 1: this response was made for another prompt than its question.*6 of the 6 recorded"


@pytest.mark.parametrize(
    ("records", "fields", "said"),
    [
        ([{"question": "who", "model_answer": "x"}], FIELDS, NONE_FITS),
        ([own_record(one, prompt_sha256="0" * 64) for one in EXAMPLES], OWN_FIELDS, FOR_OTHERS),
    ],
    ids=["other questions", "other prompts"],
)
def test_no_match_at_all_is_an_error(tmp_path, records, fields, said):
    matching = match(write_lines(tmp_path / "a.jsonl", records), fields)
    assert re.search(said, refused(matching.check_any))


def test_what_is_not_recorded_is_counted_and_never_scored(tmp_path):
    records = [{"question": f"what is number {n}", "model_answer": f"answer{n}"} for n in (0, 2)]
    null = [{"question": "what is number 1", "model_answer": value} for value in (None, nan)]
    matching = match(write_lines(tmp_path / "a.jsonl", [*records, *null]), FIELDS, ALONE, EXAMPLES[:3])
    responses = list(matching.sweep_responses("identity"))
    assert [response.finish_reason for response in responses] == ["unknown", "not_recorded", "unknown"]
    scores = score_sweep(Sweep("m", "e", "multi_document_qa", "best_subspan_em"), EXAMPLES[:3], responses)
    (row,) = accuracy_table(scores).to_dict("records")
    assert (row["n"], row["accuracy"], row["n_not_recorded"], row["n_left_out"]) == (2, 1.0, 1, 0)
    assert pd.isna(row["n_cut"]) and scores["prompt_tokens"].isna().all()
    summary = matching.manifest({})
    assert (summary["recorded"], summary["not_recorded"], summary["unused"]) == (2, 1, 0)
    assert summary["missing"] == {"3/gold_at_0": ["id1"]}


def test_responses_of_this_workflow_are_read_as_they_are_with_those_that_did_not_fit(tmp_path):
    found = [("x", "length"), (None, "overflow"), (None, "not_recorded")]
    records = [
        own_record(one, response=text, finish_reason=reason, prompt_tokens=9)
        for one, (text, reason) in zip(EXAMPLES[:3], found, strict=True)
    ]
    matching = match(write_lines(tmp_path / "a.jsonl.gz", records), OWN_FIELDS, CELLS, EXAMPLES[:3])
    assert [(one.text, one.finish_reason) for one in matching.sweep_responses("identity")] == found


def test_a_response_is_used_for_its_own_prompt_only_and_others_are_counted_with_a_message(tmp_path):
    other = replace(EXAMPLES[0], prompt="asked with another seed").prompt_sha256
    records = [own_record(EXAMPLES[0], prompt_sha256=other, response="of another"), *map(own_record, EXAMPLES[1:])]
    path = write_lines(tmp_path / "a.jsonl", records)
    matching = match(path, OWN_FIELDS)
    assert ("gold_at_0", "id0") not in texts(matching) and len(matching.responses) == 5
    (told,) = matching.notes()
    assert told.startswith("1 of the 6 recorded responses of this file were made for other prompts to the same questi")
    assert told.endswith(f"and are not used; the first is {path}, line 1")
    summary = matching.manifest({})
    assert (summary["recorded"], summary["unused"], summary["other_prompts"]) == (5, 1, 1)
    assert [one.prompt_sha256 for one in matching.sweep_responses("identity")] == [e.prompt_sha256 for e in EXAMPLES]


def test_responses_without_a_prompt_digest_are_matched_by_id_with_one_message(tmp_path):
    records = [own_record(EXAMPLES[0], prompt_sha256=None), *map(own_record, EXAMPLES[1:3])]
    matching = match(write_lines(tmp_path / "a.jsonl", records), OWN_FIELDS)
    assert len(matching.responses) == 3
    (told,) = matching.notes()
    assert told.startswith("1 recorded responses do not say which prompts they were made for (no prompt_sha256)")
    assert matching.manifest({})["not_compared"] == 1


BY_POSITION = {"response": "r", "question": "q", "size": "n", "position": "at"}


def test_a_file_of_one_cell_needs_no_size_and_no_position(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [{"q": EXAMPLES[0].question, "r": "x"}])
    assert texts(match(path, BY_POSITION, ALONE)) == {("gold_at_0", "id0"): "x"}
    assert "the field 'at' (position) is missing" in refused(match, path, BY_POSITION)
    (tmp_path / "a.csv").write_text(f"q,r,n,at\n{EXAMPLES[0].question},x,,\n")
    assert texts(match(tmp_path / "a.csv", BY_POSITION, ALONE)) == {("gold_at_0", "id0"): "x"}


def test_a_record_without_a_position_beside_others_is_not_that_of_the_only_cell(tmp_path):
    records = [{"q": EXAMPLES[n].question, "r": "x", "n": 3, "at": at} for n, at in ((0, None), (1, 0))]
    matching = match(write_lines(tmp_path / "a.jsonl", records), BY_POSITION, ALONE)
    assert texts(matching) == {("gold_at_0", "id1"): "x"} and matching.files[0].unused == 1


def test_positions_counted_from_1_are_converted_with_a_line_and_in_the_identity(tmp_path):
    records = [{"q": EXAMPLES[n].question, "r": "x", "n": 3, "at": at} for n, at in ((0, 1), (1, 3), (2, 2))]
    path = write_lines(tmp_path / "a.jsonl", records)
    matching = match(path, BY_POSITION)
    assert [*texts(matching)] == [("gold_at_0", "id0"), ("gold_at_2", "id1")]
    assert "the positions in the files are counted from 1 and read as such" in matching.notes()
    assert matching.identity()["position_scale"] == "from_1" and matching.manifest({})["doubts"]
    write_lines(path, [{**one, "at": one["at"] - 1} for one in records])
    from_0 = match(path, BY_POSITION)
    assert texts(from_0) == texts(matching)
    assert [*from_0.identity()] == ["source", "fields"] and "doubts" not in from_0.manifest({})


def test_a_given_scale_on_which_some_positions_are_of_no_item_is_doubted(tmp_path):
    """Of positions counted from 0 that are said to be counted from 1, all but the first are one too early."""
    fields = {"response": "r", "id": "id", "position": "at"}
    records = [{"r": "x", "id": one.id, "at": at} for one in EXAMPLES[:3] for at in (0, 1, 2)]
    files = [RecordedFile(str(write_lines(tmp_path / "a.jsonl", records)), CELLS)]
    said = [*RecordedSweep(EXAMPLES, files, fields, position_scale="from_1").notes()]
    assert any("the positions 0 are of no item if they are counted from 1" in one for one in said)
    assert not any("of no item" in one for one in RecordedSweep(EXAMPLES, files, fields).notes())


@pytest.mark.parametrize("text", ["None", "NA", "yes"])
def test_a_text_that_is_the_right_answer_to_its_question_is_not_doubted(tmp_path, text):
    """It may be the answer to all questions, too; a wrong one for all is doubted."""
    for accepted in (text, "other"):
        examples = [
            replace(one, targets=(replace(one.targets[0], answers=(accepted,)),)) for one in map(example, range(4))
        ]
        records = [{"prompt": one.prompt, "model_answer": text} for one in examples]
        fields = {"response": "model_answer", "prompt": "prompt"}
        said = [*match(write_lines(tmp_path / "a.jsonl", records), fields, ALONE, examples).doubts()]
        assert bool(said) == (accepted == "other")


def test_positions_are_not_doubted_where_prompts_are_compared(tmp_path):
    """A response to the prompt of position 2 that the file calls 3 matches none, and is no accident."""
    fields = {"response": "r", "id": "id", "position": "at", "prompt_sha256": "sum"}
    records = [{"r": "x", "id": one.id, "at": 1, "sum": one.prompt_sha256} for one in EXAMPLES[:1]]
    assert not match(write_lines(tmp_path / "a.jsonl", records), fields).responses


def test_what_is_changed_in_a_file_is_in_its_identity_and_said_with_its_number(tmp_path):
    records = [
        {"question": one.question, "model_answer": text}
        for one, text in zip(EXAMPLES, ("<|assistant|>\nyes", "nan", "no"), strict=False)
    ]
    matching = match(write_lines(tmp_path / "a.jsonl", records), FIELDS, ALONE)
    assert [*texts(matching).values()] == ["yes", "no"]
    assert [*matching.identity()["changed"].values()] == [1, 1]
    said = [one for one in matching.notes() if one.startswith("1 of the 3 recorded responses")]
    assert [one.split()[6] for one in said] == ["have", "are"]


def test_answers_of_this_workflow_stay_as_they_are(tmp_path):
    given = ["<|assistant|>\nyes", "None", f"{EXAMPLES[2].prompt} no"]
    records = [own_record(one, response=text) for one, text in zip(EXAMPLES, given, strict=False)]
    matching = match(write_lines(tmp_path / "a.jsonl", records), OWN_FIELDS)
    assert [*texts(matching).values()] == given and "changed" not in matching.identity()


def test_records_that_are_all_void_are_an_error_with_the_mark(tmp_path):
    records = [{"question": one.question, "model_answer": "x", "excluded": True} for one in EXAMPLES[:3]]
    matching = match(write_lines(tmp_path / "a.jsonl", records), FIELDS, ALONE)
    assert "no response is left: 3 of 3 are marked (excluded)" in refused(matching.check_any)


@pytest.mark.parametrize(
    "mark",
    [
        *(
            {name: said}
            for name in ("error", "exclude", "invalid")
            for said in ("no error", "N/A", "-", "n", "[]", "OK")
        ),
        *({"status": said} for said in ("200", 200, "ok", 40, "4040")),
        *({name: None} for name in ("error", "error_message", "exception", "is_error", "status_code")),
        {"error": 0.25},
        {"valid": "yes"},
    ],
    ids=str,
)
def test_a_record_whose_mark_is_not_set_is_scored(tmp_path, mark):
    records = [{"question": EXAMPLES[0].question, "model_answer": "x", **mark}]
    assert len(match(write_lines(tmp_path / "a.jsonl", records), FIELDS, ALONE).responses) == 1


@pytest.mark.parametrize(
    "mark",
    [
        *({name: said} for name in ("status_code", "http_status", "status") for said in (429, "429", "503.0")),
        *({name: said} for name in ("error_message", "exception") for said in ("timeout", "ReadTimeout: x")),
        *({name: said} for name in ("is_error", "has_error") for said in (True, "True", 1)),
        *({"valid": said} for said in (False, "no", 0)),
    ],
    ids=str,
)
def test_a_record_that_is_marked_as_failed_is_not_scored_whatever_the_type_of_the_mark(tmp_path, mark):
    records = [{"question": EXAMPLES[0].question, "model_answer": "x", **mark}]
    matching = match(write_lines(tmp_path / "a.jsonl", records), FIELDS, ALONE)
    assert not matching.responses and "and not scored" in next(matching.notes())


def test_an_answer_that_openai_s_responses_call_incomplete_was_cut(tmp_path):
    records = [{"question": EXAMPLES[0].question, "model_answer": "x", "status": "incomplete"}]
    fields = {**FIELDS, "finish_reason": "status"}
    (found,) = match(write_lines(tmp_path / "a.jsonl", records), fields, ALONE).responses.values()
    assert (found.text, found.finish_reason) == ("x", "length")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"end": "SAFETY"}, "refused"),
        ({"end": "MAX_TOKENS", "content": {"role": "model"}}, "length"),
        ({"end": "end_turn", "content": {"parts": []}}, "stop"),
    ],
)
def test_a_reply_from_which_a_provider_leaves_out_the_text_is_empty_and_refuses_no_file(tmp_path, said, reason):
    """Gemini has no content or no parts in a reply that was blocked or cut while it thought; Anthropic's may be []."""
    whole = {"end": "STOP", "content": {"parts": [{"text": "x"}]}}
    records = [{"q": one.question, "said": reply} for one, reply in zip(EXAMPLES, (whole, said), strict=False)]
    fields = {"response": "said.content.parts.0.text", "finish_reason": "said.end", "question": "q"}
    found = [*match(write_lines(tmp_path / "a.jsonl", records), fields, ALONE).responses.values()]
    assert [(one.text, one.finish_reason) for one in found] == [("x", "stop"), ("", reason)]
    wrong = {**fields, "response": "said.content.part.0.text"}
    with pytest.raises(UserError, match="is missing"):
        match(tmp_path / "a.jsonl", wrong, ALONE)


def answered_by(tmp_path: Path, *answers: str) -> RecordedSweep:
    """Recorded answers to as many questions, by their ids."""
    asked = [example(number) for number in range(len(answers))]
    records = [{"id": one.id, "r": answer} for one, answer in zip(asked, answers, strict=True)]
    path = write_lines(tmp_path / "r.jsonl", records)
    return RecordedSweep(asked, [RecordedFile(str(path), CELLS)], {"id": "id", "response": "r"})


def test_answers_whose_line_breaks_are_lost_are_told(tmp_path):
    long = "Based on the document, the answer is X."
    flat = answered_by(tmp_path, *[f"## Answer  {long} {number}" for number in range(6)])
    assert any("many have double spaces or begin with a heading" in line for line in flat.doubts())
    for kept in ("{}\n\nSee above.", "{}"):
        whole = answered_by(tmp_path, *[kept.format(f"{long} {number}") for number in range(6)])
        assert not any("line break" in line for line in whole.doubts())


def test_answers_with_a_verdict_before_them_are_refused(tmp_path):
    """As promptfoo's tables have them: the reason of a failed verdict may quote the right answer."""
    cells = [f"[FAIL] (0.00) Expected output to contain 'X{number}'\n---\nNo idea." for number in range(6)]
    assert "the answers have a verdict and its reason before them" in refused(answered_by, tmp_path, *cells)


def test_of_a_file_only_the_rows_of_the_experiment_are_read_and_they_are_in_the_identity(tmp_path):
    records = [
        {"question": f"what is number {n}", "model_answer": f"{condition} {n}", "condition": condition}
        for condition in ("closed", "oracle")
        for n in range(3)
    ]
    path, examples = write_lines(tmp_path / "a.jsonl", records), EXAMPLES[:3]

    def read(rows: dict | None) -> RecordedSweep:
        return RecordedSweep(examples, [RecordedFile(str(path), ALONE)], FIELDS, rows=rows)

    assert "leave one of them" in refused(read, None)
    for condition in ("closed", "oracle"):
        sweep = read({"condition": condition})
        assert set(texts(sweep).values()) == {f"{condition} {n}" for n in range(3)}
        assert sweep.identity()["rows"] == {"condition": condition}
    assert "the field 'kind' (rows) is missing; there are: " in refused(read, {"kind": "closed"})
