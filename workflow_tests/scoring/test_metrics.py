"""Metrics: which answers are right."""

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from litm.answers import contains_normalized, normalize_answer
from litm.base.messages import UserError
from litm.scoring.metrics import FULL, GRADES, METRICS, Metric, best_subspan_em, first_line, value_in_answer
from litm.scoring.scores import judge


@pytest.mark.parametrize(
    ("text", "answers", "right"),
    [
        ("It was Wilhelm Conrad Röntgen, in 1901.", ["Wilhelm Conrad Röntgen"], True),
        ("the BEATLES!", ["Beatles"], True),
        ("the Beatles", ["The Beatles", "Wings"], True),
        ("1,954 people", ["1954"], True),
        ("well-known", ["well known"], False),
        ("a cat", ["the dog"], False),
        ("", ["x"], False),
        # Symbols are compared as written, and an article must be a word of its own.
        ("press * to multiply", ["*"], True),
        ("press x to multiply", ["*"], False),
        ("Vitamin A, mostly", ["A"], True),
        ("Alabama", ["A"], False),
        ("答案是A。", ["A"], True),
    ],
)
def test_an_answer_counts_if_it_is_a_normalised_substring(text, answers, right):
    assert best_subspan_em(text, answers) is right


def test_normalisation_drops_case_punctuation_articles_and_spaces():
    assert normalize_answer("  The  U.S. — a  land ") == "us — land"


parts = ["a", "The", "us", "U.S.", "Ω", "land", "—", "-", " ", " ", "\u00a0", "st."]
texts = st.lists(st.sampled_from(parts)).map("".join)


@given(texts, texts.filter(normalize_answer))
def test_an_answer_is_contained_where_its_normal_form_is_in_that_of_the_text(text, answer):
    assert contains_normalized(text, [answer]) == (normalize_answer(answer) in normalize_answer(text))


def test_a_value_counts_in_any_case_anywhere_in_the_answer():
    assert value_in_answer('The value is "AB-12".\nDone.', ["ab-12"])
    assert not value_in_answer("ab-13", ["ab-12"])


def test_the_first_line_is_the_first_that_is_not_blank():
    assert [first_line(text) for text in ("\n \n  Paris. \nLondon", " \n ")] == ["Paris.", ""]


def test_a_qa_answer_counts_in_its_first_line_and_in_the_full_answer_apart_and_a_kv_answer_is_read_to_its_end():
    qa = judge("best_subspan_em", "I do not know.\nParis", ["Paris"])
    verdict = {"correct": False, "correct_first_line": False, "correct_full": True}
    assert qa == {**verdict, "correct_strict": False, "correct_lenient": None}
    kv = judge("value_in_answer", "Here it is:\nab-12", ["ab-12"])
    assert kv == {**verdict, "correct": True, "correct_strict": None, "correct_lenient": None}


@pytest.mark.parametrize(
    ("answer", "golds", "f1"),
    [
        ("The Eiffel Tower!", ["eiffel tower"], 1),
        # One of two tokens and one of one: 2 · 1 / 3, of the nearest gold answer.
        ("Eiffel Tower", ["Paris", "Eiffel"], 2 / 3),
        # A token counts as often as both have it.
        ("no no no", ["no no"], 4 / 5),
        ("Rome", ["Paris"], 0),
    ],
)
def test_token_f1_is_that_of_the_first_line_with_the_nearest_gold_answer(answer, golds, f1):
    verdict = judge("token_f1", f"{answer}\nParis", golds)
    assert verdict["correct"] == verdict["correct_first_line"] == pytest.approx(f1, abs=0.5 / GRADES)


@pytest.mark.parametrize(
    ("answer", "correct", "strict"),
    [("Paris", True, True), ("  Paris\nRome", True, True), ("\nParis", True, False), ("Rome\nParis", False, False)],
)
def test_the_strict_score_of_qa_reads_the_first_line_even_if_it_is_blank(answer, correct, strict):
    verdict = judge("best_subspan_em", answer, ["Paris"])
    assert (verdict["correct"], verdict["correct_strict"]) == (correct, strict)


def test_codes_are_judged_by_the_strict_and_the_lenient_rule_whichever_is_the_metric():
    both, one = "TRK-5938 or BCD-2222", "It is TRK-5938."
    for answer, strict in ((both, False), (one, True)):
        exact, only = (judge(metric, answer, ["TRK-5938"]) for metric in ("exact_code", "only_code"))
        assert (exact["correct"], exact["correct_strict"], exact["correct_lenient"]) == (True, strict, None)
        assert (only["correct"], only["correct_strict"], only["correct_lenient"]) == (strict, None, True)


def test_without_a_response_there_is_no_verdict():
    assert set(judge("best_subspan_em", None, ["x"]).values()) == {None}


def test_a_metric_that_gives_no_verdict_is_refused_by_its_functions_name():
    def wordy(text, answers):
        """Whether an answer is in the text."""
        return "yes"

    for is_graded, wanted in ((False, "True or False"), (True, "a number from")):
        metric = Metric(wordy, FULL, "an answer is in the text.", is_graded=is_graded)
        with pytest.raises(UserError, match=f"the metric's function wordy must give {wanted}.* and gives 'yes'"):
            metric.verdict(metric.judge, "a", ["a"])


def test_the_page_on_numbers_has_a_row_for_every_metric():
    lines = (ROOT / "docs" / "numbers.md").read_text(encoding="utf-8").splitlines()
    named = [line.split("`")[1] for line in lines if line.startswith("| `")]
    assert [name for name in METRICS if name not in named] == []
