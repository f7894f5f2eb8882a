"""Subsets of questions: by labels of AmbigNQ, SituatedQA or the user, and seeded samples."""

import json

import pytest
from conftest import write_lines
from programs import refused

from litm.base.messages import UserError
from litm.questions.released_format import question_id
from litm.questions.subsets import Coverage, first_by_digest, match_key, read_labels, select
from litm.records.questions import Question


def questions(*texts: str) -> list[Question]:
    return [Question(question_id(text), text, (), ()) for text in texts]


PAIRS = [{"question": "Who wrote the book?", "answer": ["B"]}, {"question": "Who wrote it?", "answer": ["L"]}]
TWO = {"type": "multipleQAs", "qaPairs": PAIRS}
ONE = {"type": "singleAnswer", "answer": ["x"]}


def asked(text: str, **label) -> dict:
    return {"question": text, **label}


@pytest.mark.parametrize(
    ("format", "records", "labels"),
    [
        # A question is kept that every annotator gave a single answer.
        (
            "ambignq",
            [asked("Who got the nobel prize in physics?", annotations=[ONE]), asked("Who?", annotations=[TWO]),
             asked("When did it burn?", annotations=[ONE, TWO]), asked("Who won?", annotations=[ONE, ONE])],
            {"who got the nobel prize in physics": True, "who": False, "when did it burn": False, "who won": True},
        ),
        # What does not depend on the time.
        (
            "situatedqa",
            [asked("who has the oldest team", is_dependent="yes"), asked("what color is it", is_dependent="no"),
             asked("When was it developed?", label=False), asked("How many live there?", label=True)],
            {"who has the oldest team": False, "what color is it": True, "when was it developed": True,
             "how many live there": False},
        ),
        ("txt", ["who was first?", "", "  Who was  second "], {"who was first": True, "who was second": True}),
        ("jsonl", [asked("first", keep=True), asked("second", keep=False)], {"first": True, "second": False}),
        # Of several labels all must keep it.
        ("jsonl", [asked("who?", keep=True), asked("Who", keep=False), asked("WHO?", keep=True)], {"who": False}),
    ],
)  # fmt: skip
def test_a_file_of_labels_says_what_to_keep(tmp_path, format, records, labels):
    path = tmp_path / "labels"
    if format == "ambignq":
        path.write_text(json.dumps(records))
    else:
        write_lines(path, records)
    assert read_labels(path, format) == labels


@pytest.mark.parametrize("text", ["Who  got\tit ?", "who got it", "Who got it?", " who GOT it? "])
def test_case_spaces_and_a_final_question_mark_do_not_matter(text):
    assert match_key(text) == "who got it" != match_key("who? got it")


def test_selection_keeps_the_order_counts_what_has_a_label_and_must_keep_something():
    asked = questions("who got it", "where is it", "when was it", "why is it")
    kept, coverage = select(asked, {"why is it": True, "who got it": True, "where is it": False})
    assert kept == [asked[0], asked[3]]
    assert coverage == Coverage(questions=4, labelled=3, kept=2)
    with pytest.raises(UserError, match="none of the 4 questions is among the 1 labelled ones"):
        select(asked, {"c": True})
    with pytest.raises(UserError, match=r"the labels keep none of the 4 questions \(1 of them have a label\)"):
        select(asked, {"why is it": False})


@pytest.mark.parametrize(
    ("format", "content", "message"),
    [
        ("ambignq", '{"question": "a"}', "expected a JSON list of AmbigNQ's records, found dict"),
        ("ambignq", '{"question": "a"}\n{"question": "b"}', "not a JSON file of AmbigNQ"),
        ("ambignq", '[{"question": "a", "annotations": []}]', "item 1: 'annotations' must be a list"),
        ("ambignq", '[{"question": "a", "annotations": {"type": ["singleAnswer"]}}]', "item 1: 'annotations'"),
        ("ambignq", '[{"annotations": [{"type": "singleAnswer"}]}]', "item 1: the field 'question'"),
        ("situatedqa", '{"question": "a", "is_dependent": "maybe"}', "line 1: 'is_dependent' must be"),
        ("situatedqa", '{"question": "a", "keep": true}', "found None"),
        ("situatedqa", '{"question": "a", "is_dependent": ["yes"]}', "line 1: 'is_dependent' must be"),
        ("jsonl", '{"question": "a", "keep": "yes"}', "line 1: 'keep' must be true or false, found 'yes'"),
        ("jsonl", '\n{"question": " ?", "keep": true}', "line 2: the field 'question'"),
        ("jsonl", "", "there are no labels in it"),
        ("txt", '{"question": "a"}', "line 1: expected a question, found JSON"),
        ("txt", "\n\n", "there are no labels in it"),
    ],
)
def test_a_file_of_another_format_is_an_error_that_names_the_place(tmp_path, format, content, message):
    path = tmp_path / "labels"
    path.write_text(content)
    said = refused(read_labels, path, format)
    assert said.startswith(str(path)) and message in said
    assert "unknown format 'csv', choose one of ambignq, situatedqa, jsonl, txt" in refused(read_labels, path, "csv")


def numbered(count: int) -> list[Question]:
    return [Question(f"q{number}", "", (), ()) for number in range(count)]


def test_a_larger_sample_has_all_of_a_smaller_one_in_the_order_of_the_questions():
    items = numbered(200)
    smaller, larger = first_by_digest(items, 20, seed=3), first_by_digest(items, 50, seed=3)
    assert len(smaller) == 20 and len(larger) == 50
    assert {one.id for one in smaller} < {one.id for one in larger}
    assert larger == sorted(larger, key=items.index)


def test_a_sample_depends_on_the_seed_and_the_ids_alone():
    items = numbered(200)
    sample = first_by_digest(items, 20, seed=3)
    assert set(sample) == set(first_by_digest(items[::-1], 20, seed=3))
    assert set(sample) != set(first_by_digest(items, 20, seed=4))
    assert len(set(sample) & set(items[:20])) < 10
    assert [item.id for item in first_by_digest(items, 3, seed=0)] == ["q32", "q81", "q84"]


def test_a_sample_of_more_questions_than_there_are_is_an_error():
    assert first_by_digest(numbered(2), 2, seed=0) == numbered(2)
    with pytest.raises(UserError, match="a sample of 3 questions was asked for, there are only 2"):
        first_by_digest(numbered(2), 3, seed=0)
