"""Questions that a model writes: what its replies say, and what is against each question."""

import pytest
from conftest import ROOT

from litm.corpora.passages import Passage
from litm.examples.examples import read_template
from litm.examples.written_questions import (
    Outcome,
    checked_pairs,
    checking_examples,
    drawn_passages,
    in_one_passage,
    outcomes_in_words,
    read_pair,
    read_pairs,
    write_pairs,
    writing_examples,
    written_pairs,
)
from litm.records.responses import STOP, SweepResponse

PAIR = ("Who keeps the mill?", "Ada Lorn")
TEXT = "The mill at Orrin has been kept by Ada Lorn since 1987, who grinds rye and oats for the bakery on the quay."


def reply(id_: str, text: str | None, size: int = 1, placement: str = "gold_at_0") -> SweepResponse:
    return SweepResponse(id_, size, placement, id_, text, STOP, 1, 1)


@pytest.mark.parametrize(
    "text",
    [
        "Question: Who keeps the mill?\nAnswer: Ada Lorn",
        'Sure!\n\n**Question:** Who keeps  the mill?\n\n**Answer:** "Ada Lorn".\n\nQuestion: Where?\nAnswer: Orrin',
        "1. question : Who keeps the mill?\n2. ANSWER: Ada Lorn.",
        "Answer: none yet\nQuestion: Who keeps the mill?\nAnswer:\nAnswer: Ada Lorn",
    ],
)
def test_the_first_question_of_a_reply_counts_with_the_answer_after_it(text):
    assert read_pair(text) == PAIR


@pytest.mark.parametrize("text", ["", "I cannot.", "Question: Who?", "Answer: Ada", "Question:\nAnswer: Ada"])
def test_a_reply_without_question_or_answer_has_none(text):
    assert read_pair(text) is None


def test_what_a_reply_says_against_its_question_is_found_in_the_order_of_the_checks():
    replies = {
        "none": None, "prose": "No.", "elsewhere": "Question: Who?\nAnswer: Bob",
        "inside": "Question: Is Ada Lorn there?\nAnswer: Ada Lorn", "good": "Question: Who?\nAnswer: Ada Lorn",
        "again": "Question: who?\nAnswer: 1987",
    }  # fmt: skip
    drawn: dict[str | int, Passage] = {id_: Passage(id_, "Mill", TEXT) for id_ in replies}
    pairs = list(written_pairs(drawn, [reply(id_, text) for id_, text in replies.items()]))
    assert [pair.outcome for pair in pairs] == [
        Outcome.NO_REPLY, Outcome.NO_PAIR, Outcome.NOT_IN_PASSAGE, Outcome.IN_QUESTION, Outcome.KEPT, Outcome.REPEATED,
    ]  # fmt: skip


def written(**texts: str) -> list:
    """Pairs about these passages, by id, each with the question and answer of its reply."""
    drawn: dict[str | int, Passage] = {id_: Passage(id_, "Mill", text) for id_, text in texts.items()}
    said = [reply(id_, f"Question: Who is in {id_}?\nAnswer: {text.split()[0]}") for id_, text in texts.items()]
    return list(written_pairs(drawn, said))


def test_an_answer_counts_as_whole_words_in_other_passages_and_their_titles():
    pairs = written(a="Lorn mills", b="Pell bakes", c="Orrin rows")
    others = [Passage("d", "Pell", "a baker"), Passage("e", "x", "Lornish flour"), Passage("a", "Mill", "Lorn mills")]
    assert [pair.outcome for pair in in_one_passage(pairs, others)] == [Outcome.KEPT, Outcome.IN_SEVERAL, Outcome.KEPT]


def test_a_question_is_kept_if_it_is_answered_with_its_passage_and_not_without_it(tmp_path):
    pairs = written(a="Lorn mills", b="Pell bakes", c="Orrin rows")
    prompts = [read_template(ROOT / "resources" / "prompts" / f"{name}.txt", name == "multi_document_qa")
               for name in ("multi_document_qa", "closed_book_qa")]  # fmt: skip
    examples = list(checking_examples(pairs, *prompts))
    assert [("Lorn mills" in example.prompt, example.size) for example in examples[:2]] == [(True, 1), (False, 0)]
    said = iter(["It is Lorn.", "I do not know", "Bob\nPell", "Bob", "Orrin", "Orrin"])
    replies = [reply(example.id, next(said), example.size, example.placement) for example in examples]
    write_pairs(tmp_path / "pairs.jsonl.gz", pairs)
    checked = list(checked_pairs(read_pairs(tmp_path / "pairs.jsonl.gz"), replies))
    assert [pair.outcome for pair in checked] == [Outcome.KEPT, Outcome.NOT_ANSWERED, Outcome.KNOWN]
    words = "1 not answered with their passage, 1 answered without their passage, 1 kept"
    assert outcomes_in_words(pair.outcome for pair in checked) == words


def test_more_passages_include_those_of_fewer_and_short_ones_are_not_drawn():
    passages = [Passage(str(number), "t", "word " * (30 if number % 2 else 20)) for number in range(40)]
    few, more = (drawn_passages(passages, number, seed=1) for number in (5, 10))
    assert few == more[:5] and all(int(passage.id) % 2 for passage in more)
    assert drawn_passages(passages, 5, seed=2) != few


def test_a_passage_with_braces_is_filled_in_once():
    (example,) = writing_examples([Passage("a", "{passage}", "{title} x")], "{title}|{passage}")
    assert example.prompt == "{passage}|{title} x"
