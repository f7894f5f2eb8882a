"""Answers to a user's own questions are found as whole words, by one function for passages and for what models say."""

import pytest
from answer_texts import IN, NOT_IN
from hypothesis import given
from hypothesis import strategies as st

from litm.answer_words import CHECKS, has_answer, options_in, words_check
from litm.corpora.passages import Passage
from litm.scoring.metrics import METRICS


@pytest.mark.parametrize(("text", "answer"), IN)
def test_an_answer_is_found_in_another_form(text, answer):
    assert has_answer(text, [answer])


@pytest.mark.parametrize(("text", "answer"), NOT_IN)
def test_an_answer_inside_another_word_or_number_is_none(text, answer):
    assert not has_answer(text, [answer])


#: Some of them are choices, articles or numbers.
WORDS = st.sampled_from(
    ["Ada", "Quill", "no", "yes", "A", "I", "a", "the", "15", "5mg", "1.5", "2,000", "\ufb01n", "C++"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_a_model_that_copies_a_passage_is_right_exactly_if_the_checks_find_the_answer_in_it(text, answers):
    metric, passage = METRICS["whole_words"], Passage("a", "", text)
    verdict = metric.verdict(metric.judge, text, answers)
    assert verdict == words_check(passage, answers) == CHECKS["words"](passage, answers)


@given(TEXTS)
def test_every_text_has_itself_as_an_answer_unless_it_is_a_choice_that_another_precedes(text):
    assert has_answer(text, [text])


@pytest.mark.parametrize("answer", ["Ada Quill.", '"Ada Quill"', "Ada Quill,", " Ada  Quill ", "ada quill"])
def test_how_an_answer_is_written_in_a_table_does_not_count(answer):
    for text, expected in (("It was Ada Quill.", True), ("It was Ada Quiller.", False), ("Quill, Ada", False)):
        assert has_answer(text, [answer]) == expected


@pytest.mark.parametrize(
    ("text", "is_true"),
    [
        ("No, that is not true.", False),
        ("True, no doubt.", True),
        ("It isn\u2019t true.", False),
        ("Not false.", True),
        ("Yes. It is not true that it fell.", True),
    ],
)
def test_a_truth_value_in_words_is_the_first_of_yes_no_true_and_false_with_its_not(text, is_true):
    assert has_answer(text, ["True", "yes"]) == is_true
    assert has_answer(text, ["False", "no"]) != is_true


def test_articles_and_pronouns_are_no_options():
    assert options_in("A mill is a mill, I think: B, not c.") == ["b", "c"]


def test_the_lenient_reading_of_the_metric_is_inside_words():
    verdicts = METRICS["whole_words"].verdicts("a dose of 15 mg", ["5 mg"])
    assert (verdicts["correct"], verdicts["correct_lenient"]) == (False, True)
