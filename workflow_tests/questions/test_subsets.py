"""Subsets of questions: by labels of AmbigNQ, SituatedQA or the user, and seeded samples."""

import json
from dataclasses import dataclass

import pytest
from conftest import write_lines

from litm.base.messages import UserError
from litm.questions.released_format import question_id
from litm.questions.subsets import FORMATS, Coverage, first_by_digest, match_key, read_labels, select
from litm.records import Question


def questions(*texts: str) -> list[Question]:
    return [Question(question_id(text), text, (), ()) for text in texts]


@dataclass(frozen=True)
class Item:
    id: str


def single(*answers: str) -> dict:
    return {"type": "singleAnswer", "answer": list(answers)}


def multiple(*pairs: tuple[str, str]) -> dict:
    return {"type": "multipleQAs", "qaPairs": [{"question": q, "answer": [a]} for q, a in pairs]}


@pytest.fixture
def ambignq(tmp_path):
    """A file of the form of AmbigNQ's dev_light.json."""
    two = multiple(("Who wrote the book?", "Baum"), ("Who wrote the film?", "Langley"))
    records = [
        {"id": "-807825", "question": "Who got the first nobel prize in physics?", "annotations": [single("Röntgen")]},
        {"id": "846237", "question": "Who wrote the wizard of oz?", "annotations": [two]},
        {"id": "-30937", "question": "When did the hagia sophia burn?", "annotations": [single("532"), two]},
        {"id": "-12346", "question": "Who won?", "annotations": [single("A"), single("B")]},
    ]
    path = tmp_path / "dev_light.json"
    path.write_text(json.dumps(records))
    return path


def test_ambignq_keeps_the_questions_that_every_annotator_gave_a_single_answer(ambignq):
    assert read_labels(ambignq, "ambignq") == {
        "who got the first nobel prize in physics": True,
        "who wrote the wizard of oz": False,
        "when did the hagia sophia burn": False,
        "who won": True,
    }


def test_situatedqa_keeps_what_does_not_depend_on_the_time(tmp_path):
    lines = [
        {"question": "who has the oldest team in the nba", "source_dataset": "nq_table.open", "is_dependent": "yes"},
        {"question": "what color is the cue ball in pool", "source_dataset": "nq_table.open", "is_dependent": "no"},
        {"question": "When was the polio vaccine developed?", "source_dataset": "tydi", "label": False},
        {"question": "How many people live in Christchruch?", "source_dataset": "tydi", "label": True},
    ]
    assert read_labels(write_lines(tmp_path / "temp.test.jsonl", lines), "situatedqa") == {
        "who has the oldest team in the nba": False,
        "what color is the cue ball in pool": True,
        "when was the polio vaccine developed": True,
        "how many people live in christchruch": False,
    }


def test_a_list_of_ones_own_says_what_to_keep(tmp_path):
    text = write_lines(tmp_path / "keep.txt", ["who was first?", "", "  Who was  second "])
    assert read_labels(text, "txt") == {"who was first": True, "who was second": True}
    flags = [{"question": "who was first", "keep": True}, {"question": "who was second", "keep": False}]
    assert read_labels(write_lines(tmp_path / "keep.jsonl", flags), "jsonl") == {
        "who was first": True,
        "who was second": False,
    }


def test_a_question_with_several_labels_is_kept_only_if_all_keep_it(tmp_path):
    lines = [{"question": "who?", "keep": True}, {"question": "Who", "keep": False}, {"question": "WHO?", "keep": True}]
    assert read_labels(write_lines(tmp_path / "keep.jsonl", lines), "jsonl") == {"who": False}


@pytest.mark.parametrize("text", ["Who  got\tit ?", "who got it", "Who got it?", " who GOT it? "])
def test_case_spaces_and_a_final_question_mark_do_not_matter(text):
    assert match_key(text) == "who got it"


def test_a_question_mark_within_matters():
    assert match_key("who? what") != match_key("who what")


def test_selection_keeps_the_order_and_counts_what_has_a_label():
    asked = questions("who got it", "where is it", "when was it", "why is it")
    kept, coverage = select(asked, {"why is it": True, "who got it": True, "where is it": False})
    assert kept == [asked[0], asked[3]]
    assert coverage == Coverage(questions=4, labelled=3, kept=2)


def test_selection_without_a_labelled_question_is_an_error():
    with pytest.raises(UserError, match="none of the 2 questions is among the 1 labelled ones"):
        select(questions("a", "b"), {"c": True})


def test_selection_that_keeps_nothing_is_an_error():
    with pytest.raises(UserError, match=r"the labels keep none of the 2 questions \(1 of them have a label\)"):
        select(questions("a", "b"), {"a": False})


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
    with pytest.raises(UserError) as error:
        read_labels(path, format)
    assert str(error.value).startswith(str(path)) and message in str(error.value)


def test_an_unknown_format_is_an_error_that_lists_the_known_ones():
    with pytest.raises(UserError, match="unknown format 'csv', choose one of ambignq, situatedqa, jsonl, txt"):
        read_labels("labels.csv", "csv")


def test_every_format_says_how_its_files_look():
    assert all(reader.__doc__ for reader in FORMATS.values())


def test_a_larger_sample_has_all_of_a_smaller_one_in_the_order_of_the_questions():
    items = [Item(f"q{n}") for n in range(200)]
    smaller, larger = first_by_digest(items, 20, seed=3), first_by_digest(items, 50, seed=3)
    assert len(smaller) == 20 and len(larger) == 50
    assert set(smaller) < set(larger)
    assert larger == sorted(larger, key=items.index)


def test_a_sample_depends_on_the_seed_and_the_ids_alone():
    items = [Item(f"q{n}") for n in range(200)]
    sample = first_by_digest(items, 20, seed=3)
    assert set(sample) == set(first_by_digest(items[::-1], 20, seed=3))
    assert set(sample) != set(first_by_digest(items, 20, seed=4))
    assert len(set(sample) & set(items[:20])) < 10
    assert [item.id for item in first_by_digest(items, 3, seed=0)] == ["q32", "q81", "q84"]


def test_a_sample_of_more_questions_than_there_are_is_an_error():
    assert first_by_digest([Item("a"), Item("b")], 2, seed=0) == [Item("a"), Item("b")]
    with pytest.raises(UserError, match="a sample of 3 questions was asked for, there are only 2"):
        first_by_digest([Item("a"), Item("b")], 3, seed=0)
