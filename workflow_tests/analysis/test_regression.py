"""Is a model worse than another one by more than a margin: verdicts, their error rates, and the questions needed."""

import numpy as np
import pandas as pd
import pytest
from drawn_answers import correlated
from scipy.special import gammaln, xlogy
from score_frames import assert_plain, of_matrix, of_shares, random_matrix

from litm.analysis.regression import (
    MEAN,
    NOT_COMPARED,
    NOT_WORSE,
    ONE_SIDED,
    OPEN,
    WORSE,
    _chances,
    _loss,
    outcome,
    regression_rows,
)  # fmt: skip
from litm.analysis.statistics import contrast_interval
from litm.tables.table import tables

POSITIONS = (0, 4, 9)


def sides(a: np.ndarray, b: np.ndarray) -> pd.DataFrame:
    """Score rows of both sides, (questions, positions) each."""
    return pd.concat([of_matrix(of, POSITIONS, size=10, model=side) for of, side in ((a, "a"), (b, "b"))])


#: Accuracies of the reference.
USUAL = (0.75, 0.5, 0.75)


@pytest.mark.parametrize(
    ("accuracies", "n", "margin", "means_only", "expected"),
    [
        # Equal answers: enough questions, and too few.
        (USUAL, 200, 0.05, False, NOT_WORSE),
        (USUAL, 20, 0.05, False, OPEN),
        # 20 points worse in the middle alone, which the mean of the positions shows less.
        ((0.75, 0.3, 0.75), 200, 0.05, False, WORSE),
        ((0.75, 0.3, 0.75), 200, 0.10, True, NOT_WORSE),
        # Better is not worse.
        ((0.75, 0.8, 0.75), 200, 0.05, False, NOT_WORSE),
        # Exactly as much worse as tolerated: not shown, either way.
        ((0.7, 0.45, 0.7), 200, 0.05, False, OPEN),
    ],
)
def test_the_outcome_is_that_of_the_differences_shown(accuracies, n, margin, means_only, expected):
    rows = regression_rows(sides(of_shares(accuracies, n), of_shares(USUAL, n)), margin, means_only)
    assert outcome(rows) == expected
    assert [row["placement"] for row in rows] == ["gold_at_0", "gold_at_4", "gold_at_9", MEAN]
    assert [row["placement"] for row in rows if "verdict" in row] == [row["placement"] for row in rows][
        -1 if means_only else 0 :
    ]
    assert_plain(tables()["regression"].frame(rows).to_dict("records")[0])


def test_a_row_is_the_paired_difference_of_the_questions_that_both_scored():
    a, b = random_matrix((0.9, 0.4, 0.9), 60, 1), random_matrix((0.9, 0.6, 0.9), 60, 2)
    rows = regression_rows(sides(a, b[:50]), 0.05)
    for column, row in enumerate(rows[:3]):
        found = contrast_interval(np.column_stack([a[:50, column], b[:50, column]]), [1, -1])
        assert [row["difference"], row["ci_low"], row["ci_high"]] == pytest.approx([found.value, *found.limits])
        assert (row["n"], row["n_left_out"]) == (50, 10)
    mean = contrast_interval(np.hstack([a[:50], b[:50]]), [1 / 3] * 3 + [-1 / 3] * 3)
    assert [rows[3]["difference"], rows[3]["ci_low"]] == pytest.approx([mean.value, mean.low])
    assert (rows[3]["n"], rows[3]["n_left_out"]) == (50, 10)


def test_p_of_worse_is_corrected_over_the_judged_rows_alone():
    scores = sides(of_shares((0.5, 0.3, 0.5)), of_shares((0.5, 0.5, 0.5)))
    every, means = regression_rows(scores, 0.05), regression_rows(scores, 0.05, means_only=True)
    assert every[1]["p_worse_holm"] == pytest.approx(4 * every[1]["p_worse"])
    assert means[3]["p_worse_holm"] == means[3]["p_worse"] and "p_worse_holm" not in means[1]


@pytest.mark.parametrize(
    ("n", "margin", "won"),
    [(60, 0.05, 0.0), (50, 0.05, 0.0), (60, 0.1, 0.0), (100, 0.1, 0.005), (150, 0.02, 0.0), (60, 0.05, 0.1)],
)
def test_each_verdict_on_a_difference_of_exactly_the_margin_is_wrong_in_5_percent_of_cases_at_most(n, margin, won):
    """Exact: a sum over all numbers of questions that only one side has right."""
    lost, not_worse, worse = won + margin, 0.0, 0.0
    for only_a in range(n + 1 if won else 1):
        for only_b in range(n + 1 - only_a):
            counts, shares = (only_a, only_b, n - only_a - only_b), (won, lost, 1 - won - lost)
            terms = (xlogy(k, p) - gammaln(k + 1) for k, p in zip(counts, shares, strict=True))
            chance = np.exp(gammaln(n + 1) + sum(terms))
            if chance > 1e-9:
                p_worse, p_not_worse = _chances(_loss(np.repeat([1.0, -1.0, 0.0], counts), None), margin)
                worse, not_worse = worse + chance * (p_worse < 0.05), not_worse + chance * (p_not_worse < 0.05)
    assert max(worse, not_worse) <= 0.0505


def test_answers_that_are_equal_within_clusters_count_as_one_question_each():
    differences, clusters = np.array([1.0, 0, -1, 0, 0, -1, 0, 0]), np.arange(8)
    repeated = _chances(_loss(differences.repeat(5), clusters.repeat(5)), 0.1)
    assert repeated == pytest.approx(_chances(_loss(differences, None), 0.1))
    # So 200 equal answers in 20 clusters do not show what 200 single ones do.
    single, clustered = (_loss(np.zeros(200), codes) for codes in (None, np.arange(20).repeat(10)))
    assert _chances(single, 0.05)[1] < 0.05 < _chances(clustered, 0.05)[1]


@pytest.mark.long
@pytest.mark.parametrize("clusters", [1, 10])
def test_a_model_at_the_margin_seldom_gets_a_verdict(clusters):
    """All three positions are worse by exactly the margin, so each verdict is an error."""
    rng, found = np.random.default_rng(0), []
    for _ in range(60):
        level = rng.standard_normal((200 // clusters, 1)).repeat(clusters, axis=0)
        # 65 and 70 % right
        a, b = (0.7 * level + 0.7 * rng.standard_normal((200, 3)) < threshold for threshold in (0.385, 0.524))
        scores = sides(a, b)
        if clusters > 1:
            scores["cluster"] = scores["id"].str[1:].astype(int) // clusters
        found.append(outcome(regression_rows(scores, 0.05)))
    assert found.count(WORSE) <= 9 and found.count(NOT_WORSE) <= 9


def test_the_questions_needed_tell_in_four_of_five_cases_if_nothing_differs():

    def equal_models(n: int, seed: int) -> pd.DataFrame:
        both = correlated([0.62] * 6, n, seed)
        return sides(both[:, :3], both[:, 3:])

    rows = regression_rows(equal_models(60, 0), 0.1)
    assert outcome(rows) == OPEN
    needed = max(row["n_needed"] for row in rows if row["verdict"] == OPEN)
    told = [outcome(regression_rows(equal_models(needed, seed), 0.1)) for seed in range(1, 61)]
    assert told.count(NOT_WORSE) >= 42


def test_one_cell_has_no_mean_and_is_judged_as_it_is():
    scores = sides(of_shares(USUAL, 20), of_shares(USUAL, 20))
    (row,) = regression_rows(scores.query("position == 0"), 0.05, means_only=True)
    assert row["placement"] == "gold_at_0" and row["verdict"] == OPEN


@pytest.mark.parametrize(
    ("without", "not_compared"),
    [
        ("model == 'a'", [20, 20, 20]),
        ("model == 'b' and position == 4", [0, 20, 0, 0]),
        ("model == 'a' and position != 0", [0, 20, 20]),
        ("position == 4", [0, 0, 0]),
    ],
)
@pytest.mark.parametrize("means_only", [False, True])
def test_a_cell_that_one_side_lacks_has_a_row_and_the_outcome_is_open_if_it_was_asked(
    without, not_compared, means_only
):
    """Answers left out are not scored, or were not asked for; a cell that both lack is no part of the comparison."""
    equal = sides(of_shares(USUAL, 20), of_shares(USUAL, 20))
    unscored = equal.assign(correct=equal["correct"].mask(equal.eval(without)))
    for scores, verdict in ((unscored, NOT_COMPARED), (equal.query(f"not ({without})"), ONE_SIDED)):
        rows = regression_rows(scores, 0.3, means_only)
        assert [row["n_left_out"] for row in rows] == not_compared
        assert [row["n"] == 0 for row in rows] == [row.get("verdict") == verdict for row in rows]
        assert [row["n"] == 0 for row in rows] == [n > 0 for n in not_compared]
        is_open = all(not_compared) or (any(not_compared) and verdict == NOT_COMPARED)
        assert outcome(rows) == (OPEN if is_open else NOT_WORSE)
