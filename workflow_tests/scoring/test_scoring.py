"""Score rows from responses, and the accuracy table."""

from dataclasses import replace

import pandas as pd
import pytest
import record_makers
from score_frames import accuracy_table

from litm.base.messages import UserError
from litm.base.table_files import write_csv
from litm.examples.checks import answer_check_row
from litm.examples.tasks.question_answering import other_documents
from litm.records.examples import Example
from litm.records.responses import SweepResponse
from litm.scoring.scores import OPTIONAL, Score, Sweep, score_sweep

SWEEP = Sweep("m", "e", "multi_document_qa", "best_subspan_em")


def example(id: str, placement: str, size: int = 5) -> Example:
    position = int(placement.removeprefix("gold_at_"))
    target = {"name": "gold", "position": position, "depth": position / (size - 1), "answers": [f"answer {id}"]}
    return record_makers.example(id=id, size=size, placement=placement, targets=[target])


def response(id: str, placement: str, text: str | None, reason: str = "stop", size: int = 5) -> SweepResponse:
    return record_makers.response(id=id, size=size, placement=placement, response=text, finish_reason=reason)


def test_rows_are_in_the_order_of_the_examples_for_any_order_of_the_responses():
    examples = [example(id, placement) for placement in ("gold_at_0", "gold_at_4") for id in "abc"]
    responses = [response(id, p, f"Answer {id}!") for p in ("gold_at_4", "gold_at_0") for id in "cab"]
    scores = score_sweep(SWEEP, examples, responses)
    assert [*scores.columns] == [name for name in Score._fields if name not in OPTIONAL]
    assert list(zip(scores["placement"], scores["id"], strict=True)) == [(e.placement, e.id) for e in examples]
    assert scores["correct"].all()


def test_a_question_too_long_at_one_position_leaves_all_positions_of_that_size():
    examples = [example(id, p, size) for size in (5, 9) for p in ("gold_at_0", "gold_at_4") for id in "ab"]
    responses = [response(e.id, e.placement, "answer a answer b", size=e.size) for e in examples]
    responses[2] = response("a", "gold_at_4", None, "overflow")
    scores = score_sweep(SWEEP, examples, responses)
    table = accuracy_table(scores).set_index(["size", "placement"])
    assert table["n"].to_dict() == {(5, "gold_at_0"): 1, (5, "gold_at_4"): 1, (9, "gold_at_0"): 2, (9, "gold_at_4"): 2}
    assert table["n_left_out"].to_list() == [1, 1, 0, 0]
    assert table["accuracy"].to_list() == [1.0] * 4
    assert scores.loc[2, "correct"] is pd.NA


def test_empty_cut_and_refused_answers_are_counted_apart_from_wrong_ones():
    examples = [example(id, "gold_at_0") for id in "abcde"]
    responses = [
        response("a", "gold_at_0", "answer a"),
        # How this one ended hides nothing about the others.
        response("e", "gold_at_0", "answer e", "unknown"),
        response("b", "gold_at_0", " \n"),
        response("c", "gold_at_0", "I think that", "length"),
        response("d", "gold_at_0", "", "refused"),
    ]
    (row,) = accuracy_table(score_sweep(SWEEP, examples, responses)).to_dict("records")
    assert (row["n"], row["accuracy"], row["n_empty"], row["n_cut"], row["n_refused"]) == (5, 0.4, 2, 1, 1)
    assert row["ci_low"] < 0.4 < row["ci_high"]
    # Of four answers that were not cut, two are right.
    assert row["accuracy_completed"] == 0.5


def test_the_tokens_of_answers_with_their_thinking_are_told_by_position_where_all_were_counted():
    examples = [example(id, place) for place in ("gold_at_0", "gold_at_1") for id in "ab"]
    tokens = {("a", "gold_at_0"): 100, ("b", "gold_at_0"): 300, ("a", "gold_at_1"): 50, ("b", "gold_at_1"): None}
    responses = [
        replace(response(id, place, "answer"), response_tokens=number) for (id, place), number in tokens.items()
    ]
    first, second = accuracy_table(score_sweep(SWEEP, examples, responses)).to_dict("records")
    assert first["answer_tokens"] == 200 and second["answer_tokens"] is None
    without_usage = [replace(one, response_tokens=0) for one in responses]
    for row in accuracy_table(score_sweep(SWEEP, examples, without_usage)).to_dict("records"):
        assert row["answer_tokens"] is None


def test_where_labels_correct_a_judge_the_accuracy_of_completed_answers_is_not_told():
    examples = [example(id, "gold_at_0") for id in "abcd"]
    ends = ("stop", "stop", "stop", "length")
    responses = [
        response(one.id, "gold_at_0", f"answer {one.id}", end) for one, end in zip(examples, ends, strict=True)
    ]
    scores = score_sweep(SWEEP, examples, responses)
    (judged,) = accuracy_table(scores).to_dict("records")
    (corrected,) = accuracy_table(scores.assign(label=[True, False, False, True])).to_dict("records")
    assert (judged["accuracy"], judged["accuracy_completed"]) == (1, 1)
    assert corrected["accuracy"] == 0.5 and corrected["accuracy_completed"] is None


def test_a_failed_prompt_is_counted_and_never_scored():
    responses = [response("a", "gold_at_0", "answer a"), response("b", "gold_at_0", None, "failed")]
    (row,) = accuracy_table(score_sweep(SWEEP, [example(id, "gold_at_0") for id in "ab"], responses)).to_dict("records")
    assert (row["n"], row["accuracy"], row["n_failed"], row["n_left_out"]) == (1, 1.0, 1, 0)


def test_few_answers_get_the_exact_interval_and_a_cell_without_a_fitting_question_no_accuracy():
    scores = score_sweep(SWEEP, [example("a", "gold_at_0")], [response("a", "gold_at_0", "no")])
    (row,) = accuracy_table(scores).to_dict("records")
    assert (row["ci_low"], row["ci_high"]) == (0, pytest.approx(0.975))
    scores = score_sweep(SWEEP, [example("a", "gold_at_0")], [response("a", "gold_at_0", None, "overflow")])
    (row,) = accuracy_table(scores).to_dict("records")
    assert (row["n"], row["n_left_out"]) == (0, 1) and pd.isna(row["accuracy"])


def test_a_number_is_written_the_same_way_with_and_without_empty_cells(tmp_path):
    with_gold = score_sweep(SWEEP, [example("a", "gold_at_1")], [response("a", "gold_at_1", "x")])
    nowhere = {"position": None, "depth": None, "answers": ["answer a"]}
    closed = record_makers.example(id="a", size=5, placement="no_gold", targets=[nowhere])
    without = score_sweep(SWEEP, [closed], [response("a", "no_gold", "x")])
    write_csv(tmp_path / "a.csv", accuracy_table(with_gold))
    write_csv(tmp_path / "b.csv", pd.concat([accuracy_table(with_gold), accuracy_table(without)]))
    assert (tmp_path / "b.csv").read_text().startswith((tmp_path / "a.csv").read_text())
    assert ",no_gold,,,gold,1,0.000000," in (tmp_path / "b.csv").read_text()


def test_a_missing_response_is_an_error_that_names_the_question():
    with pytest.raises(UserError, match="no response to question b, size 5, gold_at_0"):
        score_sweep(SWEEP, [example("a", "gold_at_0"), example("b", "gold_at_0")], [response("a", "gold_at_0", "x")])


def test_a_response_to_another_prompt_is_refused_with_its_file_and_question():
    now = example("a", "gold_at_0")
    made_for = record_makers.response(id="a", size=5, response="answer a", prompt_sha256=now.prompt_sha256)
    assert score_sweep(SWEEP, [now], [made_for])["correct"].all()
    edited = replace(now, prompt="another seed")
    with pytest.raises(UserError, match="^r.jsonl.gz: the response to question a, size 5, gold_at_0, answers another"):
        score_sweep(SWEEP, [edited], [made_for], "r.jsonl.gz")
    with pytest.raises(UserError, match="--forcerun generate generate_shard import_responses"):
        score_sweep(SWEEP, [replace(now, messages=[{"role": "user", "content": "another"}])], [made_for])


def test_gold_answers_that_need_care_are_counted():
    questions = [
        {"question": "which key multiplies", "targets": [{"answers": ["*"]}], "answer_in_distractors": False},
        {"question": "how many", "targets": [{"answers": ["7", "seven"]}], "answer_in_distractors": True},
        {"question": "was it Paris or Rome", "targets": [{"answers": ["Rome"]}], "answer_in_distractors": True},
        {"question": "who was it", "targets": [{"answers": ["Marie Curie"]}], "answer_in_distractors": False},
    ]
    for question, (start, end) in zip(questions[2:], [(0, 8), (9, 25)], strict=True):
        question |= {
            "prompt": "In Paris was Marie Curie.",
            "targets": [{**question["targets"][0], "span": [start, end]}],
        }
    row = answer_check_row("e", 5, [record_makers.example(**one) for one in questions])
    counts = {"n_symbols_only": 1, "n_short": 1, "n_in_question": 1, "n_in_distractors": 2}
    assert row == {"experiment": "e", "size": 5, "n": 4, **counts, "n_not_in_gold": 1, "n_choices": 0, "chance": None}
    assert answer_check_row("e", 5, [], "exact_integer")["n_not_in_gold"] is None


def test_answers_that_are_a_choice_are_counted_with_the_level_that_a_guess_reaches():
    asked = [record_makers.example(targets=[{"answers": [answer]}]) for answer in ("no", "Yes.", "No", "Ada Quill")]
    row = answer_check_row("e", 1, asked)
    assert row["n_choices"] == 3 and row["chance"] == pytest.approx(2 / 3)


def test_own_answers_are_looked_for_in_the_other_documents_as_whole_words():
    def counted(metric: str, other: str) -> int:
        texts = ["a dose of 5 mg", other]
        prompt = "\n".join(f"Document [{number}](Title: t) {text}" for number, text in enumerate(texts, start=1))
        target = {"answers": ["5 mg"], "span": [0, prompt.index("\n")], "position": 0}
        example = record_makers.example(prompt=prompt, targets=[target], question="how much")
        return answer_check_row("e", 2, [example], metric, other_documents)["n_in_distractors"]

    assert [counted("whole_words", other) for other in ("15 mg", "up to 5mg.")] == [0, 1]


def test_first_lines_that_end_with_a_colon_are_counted_and_answers_with_more_lines_too():
    examples = [example(id, "gold_at_0") for id in "abcd"]
    texts = {"a": "The answer is:\nanswer a", "b": "answer b", "c": "\n答えは\uff1a", "d": None}
    scores = score_sweep(SWEEP, examples, [response(id, "gold_at_0", text) for id, text in texts.items()])
    assert scores["preamble"].to_list() == [True, False, True, False]
    assert scores["more_lines"].to_list() == [True, False, False, False]
    assert accuracy_table(scores)["n_preamble"].to_list() == [2]


def test_a_choice_needs_not_to_be_in_its_gold_item():
    shown = {"prompt": "The bridge is of wood.", "question": "is it of stone"}
    rows = [
        answer_check_row("e", 1, [record_makers.example(**shown, targets=[{"answers": [answer], "span": [0, 22]}])])
        for answer in ("no", "stone")
    ]
    assert [row["n_not_in_gold"] for row in rows] == [0, 1]
