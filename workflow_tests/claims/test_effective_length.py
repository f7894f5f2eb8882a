"""The effective length: its verdicts and their error rate."""

import pandas as pd
import pytest
from drawn_answers import correlated
from score_frames import assert_plain, of_matrix, sized_scores

from litm.claims.effective_length import BEYOND, MARGIN, OPEN, WITHIN, effective_length_rows, in_words
from litm.claims.evidence import scored_evidence


def rows_of(*sweeps: pd.DataFrame) -> list[dict]:
    return list(effective_length_rows(scored_evidence(sweeps)))


def test_sizes_are_shown_within_or_beyond_the_margin_as_far_as_their_intervals_say():
    accuracies = {5: (0.9, 0.88, 0.9), 10: (0.9, 0.87, 0.89), 20: (0.9, 0.79, 0.9), 30: (0.8, 0.5, 0.8)}
    rows = rows_of(sized_scores(accuracies))
    assert [row["verdict"] for row in rows] == [WITHIN, WITHIN, OPEN, BEYOND]
    assert {row["effective_length"] for row in rows} == {"10 or more: shown; less than 30: shown"}
    assert rows[0]["ci_low"] == 0
    last = rows[-1]
    assert (last["accuracy_best"], last["accuracy_worst"], last["position_worst"]) == (0.9, 0.5, 14)
    assert last["loss"] == pytest.approx(0.4) and last["ci_low"] > MARGIN and last["n"] == 200
    assert [row["tokens_mean"] for row in rows] == [500, 1000, 2000, 3000]
    for row in rows:
        assert_plain(row)


def test_few_questions_show_nothing_though_the_accuracies_are_equal():
    rows = rows_of(sized_scores({5: (0.8, 0.8), 10: (0.8, 0.8)}, n=10))
    assert [row["loss"] for row in rows] == [0, 0] and {row["verdict"] for row in rows} == {OPEN}
    assert rows[0]["effective_length"] == "5 or more: not shown; less than 10: not shown"


def test_a_loss_is_not_shown_to_be_small_by_few_questions_of_which_none_is_won():
    """At 43 questions the usual limit after one loss is 9.7 points; that of small losses is above 10."""
    (_, one), (_, none) = (rows_of(sized_scores({5: (1.0, 1.0), 10: (1.0, right)}, n=43)) for right in (42 / 43, 1.0))
    assert one["ci_high"] > MARGIN > none["ci_high"] and (one["verdict"], none["verdict"]) == (OPEN, WITHIN)


def test_a_size_after_one_that_is_not_shown_is_not_shown_either():
    rows = rows_of(sized_scores({5: (0.9, 0.9), 10: (0.9, 0.8), 20: (0.9, 0.9)}))
    assert [row["verdict"] for row in rows] == [WITHIN, OPEN, OPEN] and rows[2]["ci_high"] < MARGIN


def test_a_size_that_nobody_was_scored_at_is_not_shown():
    scores = sized_scores({5: (0.9, 0.9), 10: (0.9, 0.9)})
    scores["excluded"] = scores["size"] == 10
    first, last = rows_of(scores)
    assert (first["verdict"], last["verdict"]) == (WITHIN, OPEN) and "loss" not in last
    assert first["effective_length"] == "5 or more: shown; less than 10: not shown"


def test_a_model_that_is_hardly_ever_right_has_no_effective_length():
    rows = rows_of(sized_scores({5: (0.05, 0.0), 10: (0.0, 0.0)}))
    told = {(row["effective_length"], row["verdict"]) for row in rows}
    assert told == {("none: not shown to be right at the smallest size more often than the margin", OPEN)}


def test_sizes_with_questions_of_their_own_are_compared_without_pairs():
    accuracies = {5: (0.9, 0.9), 10: (0.9, 0.9)}
    paired = rows_of(sized_scores(accuracies))[1]
    unpaired = rows_of(sized_scores(accuracies, own_questions=True))[1]
    assert (paired["is_paired"], unpaired["is_paired"]) == (True, False)
    assert unpaired["ci_high"] > paired["ci_high"]


def test_more_models_of_an_experiment_have_wider_limits_and_one_size_no_row():
    one = sized_scores({5: (0.9, 0.8), 10: (0.9, 0.7)})
    alone = rows_of(one)[1]
    both = rows_of(one, one.assign(model="other"), sized_scores({5: (0.9, 0.8)}, model="short"))
    assert [(row["model"], row["size"]) for row in both] == [("m", 5), ("m", 10), ("other", 5), ("other", 10)]
    assert both[1]["confidence"] == 0.975 and both[1]["ci_high"] > alone["ci_high"]


def test_the_words_say_what_is_shown_and_what_is_not():
    words = {
        (WITHIN, WITHIN): "10 or more: shown",
        (WITHIN, OPEN): "5 or more: shown; less than 10: not shown",
        (WITHIN, BEYOND): "5 or more: shown; less than 10: shown",
        (OPEN, BEYOND): "5 or more: not shown; less than 10: shown",
        (BEYOND, BEYOND): "less than 5: shown",
    }
    assert {verdicts: in_words([5, 10], verdicts) for verdicts in words} == words


def test_at_a_loss_of_just_the_margin_either_verdict_is_rare():
    """The limit is 2.5 % on each side: 1 of 40 families, and 4 are within three standard errors."""
    found = []
    for seed in range(40):
        answers = correlated([0.9, 0.9, 0.9, 0.8], 200, seed)
        scores = [of_matrix(answers[:, :2], [0, 4], size=5), of_matrix(answers[:, 2:], [0, 9], size=10)]
        found.append(rows_of(pd.concat(scores))[1]["verdict"])
    assert found.count(WITHIN) <= 4 and found.count(BEYOND) <= 4 and found.count(OPEN) > 30
