"""A graded metric, such as token F1: intervals and tests of answers between 0 and 1, and their tables."""

import numpy as np
import pandas as pd
import pytest
from drawn_answers import correlated, rng
from scipy import stats
from score_frames import accuracy_table, score_rows

from litm.analysis.cells import sensitivity_rows, utilisation_rows, wrong_answer_rows
from litm.analysis.grid import Files
from litm.analysis.positions import pairwise_rows
from litm.analysis.power import observed
from litm.analysis.significance import cochrans_q, gap_test, paired_p
from litm.analysis.statistics import contrast_interval, gap_interval, moments
from litm.base.intervals import binomial_interval, clustered_interval
from litm.claims.curve_words import position_bias_table
from litm.scoring.metrics import GRADES

PLACES = (0, 4, 8)


def graded(means: list[float], n: int, seed: int) -> np.ndarray:
    """Answers with about these means, correlated within questions: a third right or wrong, the others between."""
    kind, own = rng(seed).random((n, 1)), rng(seed + 1).random((n, len(means)))
    value = np.where(kind < 0.33, own < means, np.minimum(1, 2 * np.array(means) * own))
    return np.round(np.asarray(value, dtype=float) * GRADES) / GRADES


def scores(matrix: np.ndarray, **more) -> pd.DataFrame:
    """Score rows of graded answers, with the same first line and whole answer."""
    columns = {place: [0] * len(matrix) for place in PLACES[: matrix.shape[1]]}
    rows = score_rows(columns, metric="token_f1", **more)
    values = pd.array(matrix.T.ravel(), dtype="Float64")
    names = ("correct", "correct_first_line", "correct_full")
    kinds = np.where(matrix.T.ravel() == 0, "other", None)
    return rows.assign(**dict.fromkeys(names, values), wrong_kind=pd.array(kinds, dtype="string"), taken_from=pd.NA)


def true_means(means: list[float]) -> np.ndarray:
    return graded(means, 400_000, 9).mean(axis=0)


def test_the_interval_of_a_mean_is_binomial_with_more_questions_as_graded_answers_differ_less():
    values = graded([0.6], 50, 1)[:, 0]
    interval = clustered_interval(values, None)
    # One answer more is right and one wrong. They vary less, so they are worth more questions.
    more = np.append(values, [1, 0])
    worth = (
        50 * more.mean() * (1 - more.mean()) / more.var(ddof=1) * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 51)) ** 2
    )
    assert interval == pytest.approx(binomial_interval(values.mean() * worth, worth))
    assert clustered_interval(values[:, None], None) == interval
    assert clustered_interval(np.array([1.0, 0, 1]), None) == binomial_interval(2, 3)
    # Questions that are copies of one another carry no more information.
    copies, clusters = np.repeat(values, 4), np.repeat(np.arange(50), 4)
    assert clustered_interval(copies, clusters) == pytest.approx(interval)
    none = np.zeros(200, dtype=int)
    assert clustered_interval(np.column_stack([none, none]), clusters) == clustered_interval(none, clusters)


@pytest.mark.parametrize("n", [10, 20, 50])
def test_the_interval_of_a_mean_covers_the_truth_where_few_answers_are_partly_right(n):
    # Student's misses 11 % of means at n = 50, where a tenth of the answers is partly right and the others are wrong.
    covered = np.zeros(2)
    for seed in range(600):
        partly = np.where(rng(seed).random(n) < 0.1, rng(seed + 1000).beta(2, 2, n), 0)
        for case, values, truth in ((0, partly, 0.05), (1, 1 - partly, 0.95)):
            low, high = clustered_interval(values, None)
            covered[case] += low <= truth <= high
    assert (covered / 600 >= 0.95).all(), covered


@pytest.mark.parametrize("means", [[0.5, 0.5, 0.5], [0.4, 0.2, 0.45]])
def test_intervals_of_means_and_differences_cover_the_truth(means):
    truth, covered = true_means(means), np.zeros(3)
    for seed in range(400):
        matrix = graded(means, 60, 10 * seed)
        best = gap_interval(matrix)
        intervals = [clustered_interval(matrix[:, 0], None), contrast_interval(matrix, [1, -1, 0]).limits, best.limits]
        values = (truth[0], truth[0] - truth[1], truth.max() - truth.min())
        covered += [low <= value <= high for (low, high), value in zip(intervals, values, strict=True)]
    # 95 % and three standard errors; the gap's interval is wider than needed.
    assert (covered / 400 >= 0.917).all(), covered


def test_false_alarms_are_rare_when_positions_do_not_differ_and_effects_are_found():
    alarms, found = np.zeros(3), np.zeros(3)
    for seed in range(300):
        for counts, means in ((alarms, [0.4, 0.4, 0.4]), (found, [0.5, 0.2, 0.5])):
            matrix = graded(means, 60, 10 * seed)
            p = (cochrans_q(matrix).p_value, paired_p(matrix[:, :2]), gap_test(matrix, 199, rng(seed)).p_value)
            counts += [one <= 0.05 for one in p]
    assert (alarms / 300 <= 0.088).all(), alarms
    assert (found / 300 >= 0.9).all(), found


def test_p_and_interval_of_a_pair_agree_and_the_statistic_is_cochrans_for_right_and_wrong():
    for seed in range(40):
        pair = graded([0.5, 0.4], 40, seed)
        low, high = contrast_interval(pair, [1, -1]).limits
        assert (paired_p(pair) < 0.05) == (low > 0 or high < 0)
        assert paired_p(pair) == moments(pair, [1, -1]).p_value
    binary = correlated([0.6, 0.4, 0.5], 80, 2)
    halved = cochrans_q(binary / 2)
    assert (halved.statistic, halved.df) == pytest.approx((cochrans_q(binary).statistic, 2))


def test_fewer_questions_are_needed_where_answers_vary_less_than_right_and_wrong():
    matrix = graded([0.4, 0.4, 0.4], 4000, 3)
    assumed, spread = observed(matrix), matrix[:, 0] - matrix[:, 1]
    # The variance of a difference, which decides how many questions an effect needs, is that of the answers.
    variance = 2 * assumed.accuracy * (1 - assumed.accuracy) * (1 - assumed.correlation)
    assert variance == pytest.approx(spread.var(), rel=0.05)


def test_tables_have_means_of_graded_answers(tmp_path):
    matrix = graded([0.8, 0.3, 0.8], 200, 5)
    own = scores(matrix)
    cells = accuracy_table(own.assign(items=9, strict=pd.NA))
    assert cells["accuracy"].tolist() == pytest.approx(matrix.mean(axis=0))
    own.to_parquet(tmp_path / "scores.parquet")
    (bias,) = position_bias_table(Files([str(tmp_path / "scores.parquet")]), 0, [])
    assert bias["shape"] == "U" and bias["primacy"] == pytest.approx(matrix[:, 0].mean() - matrix[:, 1].mean())
    first, *_ = pairwise_rows(own)
    assert first["n_right_only_a"] == (matrix[:, 0] > matrix[:, 1]).sum() and first["p_value"] < 0.001
    (start, *_) = wrong_answer_rows(own)
    assert start["n_wrong"] == (matrix[:, 0] == 0).sum()
    book, oracle = (
        scores(one[:, None], experiment=name) for one, name in ((matrix[:, 1] / 4, "b"), (matrix[:, 0], "o"))
    )
    used, *_ = utilisation_rows(own, book.assign(placement="no_gold"), oracle.assign(placement="oracle"))
    assert used["utilisation"] == pytest.approx(1.0)
    rows = list(sensitivity_rows(own, None, None))
    assert not any(row["changes_with_reading"] for row in rows)
