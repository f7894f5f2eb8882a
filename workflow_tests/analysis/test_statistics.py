"""Statistics, compared with formulas by hand, scipy and statsmodels, slow implementations, and simulation."""

import math
from itertools import combinations

import numpy as np
import pytest
from drawn_answers import TRUTHS, correlated, rng
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from score_frames import of_matrix
from statsmodels.stats import contingency_tables
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from litm.analysis import statistics
from litm.analysis.positions import pairwise_rows
from litm.analysis.statistics import (
    cochrans_q,
    contrast_interval,
    gap_interval,
    gap_test,
    holm,
    mcnemar_p,
    paired_difference,
)
from litm.base.intervals import agresti_coull_interval, binomial_interval, wilson_interval

P, R, T, PBI = (1, 0, -1, 0, 0), (0, 0, -1, 0, 1), (-1, 0, 0, 0, 1), (0.5, 0, -1, 0, 0.5)

#: Matrices of a few questions and positions, with many constant rows among them.
matrices = st.tuples(st.integers(1, 12), st.integers(2, 5)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 1))
)
counts = st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


# --- One proportion --------------------------------------------------------------------------------------------


@given(counts)
def test_the_wilson_interval_is_the_formula(counts):
    correct, n = counts
    p, z = correct / n, 1.959963984540054
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low, high = wilson_interval(correct, n)
    assert low == pytest.approx(max(0, centre - half), abs=1e-12)
    assert high == pytest.approx(min(1, centre + half), abs=1e-12)
    assert 0 <= low <= p <= high <= 1 and low < high


@given(counts)
def test_few_answers_get_the_exact_interval_and_the_rest_agresti_and_coulls_never_wider_than_it(counts):
    correct, n = counts
    interval = binomial_interval(correct, n)
    exact = stats.binomtest(correct, n).proportion_ci(0.95, method="exact")
    if n < 30 or correct in (0, n):
        assert interval == pytest.approx((exact.low, exact.high), abs=1e-9)
    else:
        low, high = agresti_coull_interval(correct, n)
        expected = proportion_confint(correct, n, method="agresti_coull")
        assert (low, high) == pytest.approx((max(0, expected[0]), min(1, expected[1])), abs=1e-12)
        assert interval == pytest.approx((max(low, exact.low), min(high, exact.high)), abs=1e-9)
    assert 0 <= interval[0] <= correct / n <= interval[1] <= 1


def test_intervals_of_a_proportion_keep_their_confidence_where_they_are_chosen():
    def worst_coverage(n: int) -> float:
        intervals = [binomial_interval(correct, n) for correct in range(n + 1)]
        return min(
            sum(stats.binom.pmf(k, n, p) for k, (low, high) in enumerate(intervals) if low <= p <= high)
            for p in np.linspace(0.02, 0.99, 195)
        )

    assert all(worst_coverage(n) >= 0.95 for n in (1, 5, 29))
    assert all(worst_coverage(n) >= 0.93 for n in (30, 50, 100))


@pytest.mark.parametrize(("correct", "n"), [(0, 0), (3, 2), (-1, 5)])
@pytest.mark.parametrize("interval", [wilson_interval, agresti_coull_interval, binomial_interval])
def test_impossible_counts_are_refused(interval, correct, n):
    with pytest.raises(ValueError, match="need 0 <= correct <= n"):
        interval(correct, n)


# --- Contrasts -------------------------------------------------------------------------------------------------


def straightforward_contrast(matrix: np.ndarray, weights: tuple, confidence: float) -> tuple[float, float, float]:
    """Adds one question that is right exactly where weights are above 0, and one right where they are below."""
    more = [[int(weight > 0) for weight in weights], [int(weight < 0) for weight in weights]]
    values = [sum(w * x for w, x in zip(weights, row, strict=True)) for row in [*matrix.tolist(), *more]]
    n = len(values)
    mean = sum(values) / n
    variance = sum((v - mean) ** 2 for v in values) / n
    half = stats.t.ppf((1 + confidence) / 2, n - 1) * math.sqrt(variance / n)
    value = sum(values[: len(matrix)]) / len(matrix)
    return value, min(value, mean - half), max(value, mean + half)


@given(matrices, st.randoms(use_true_random=False), st.sampled_from([0.8, 0.95]))
def test_a_contrasts_interval_is_students_with_the_greatest_and_the_least_contrast_added(matrix, random, confidence):
    weights = np.array([random.choice([-1, -0.5, 0, 0.5, 1]) for _ in range(matrix.shape[1])])
    weights[-1] -= weights.sum()
    result = contrast_interval(matrix, tuple(weights), confidence=confidence)
    value, low, high = straightforward_contrast(matrix, tuple(weights), confidence)
    most = np.abs(weights).sum() / 2
    assert result.value == pytest.approx(value, abs=1e-12)
    assert (result.low, result.high) == pytest.approx((max(-most, low), min(most, high)), abs=1e-9)
    assert -most <= result.low <= result.value <= result.high <= most


def test_with_many_questions_a_contrasts_interval_is_the_paired_t_interval():
    matrix = correlated(TRUTHS["U"], 5000, 1)
    expected = stats.ttest_rel(matrix[:, 0], matrix[:, 2]).confidence_interval(0.95)
    result = contrast_interval(matrix, P)
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high), abs=3e-4)


def test_a_difference_that_no_question_shows_has_an_interval_nevertheless():
    for n in (1, 10, 100):
        flat = contrast_interval(np.ones((n, 5), int), PBI)
        assert flat.value == 0 and flat.low < 0 < flat.high and flat.high == pytest.approx(-flat.low)
        certain = contrast_interval(np.tile([1, 0, 0, 0, 1], (n, 1)), PBI)
        assert certain.value == certain.high == 1 and certain.low < 1
    assert contrast_interval(np.ones((1, 5), int), PBI).high > 0.5


@pytest.mark.parametrize("truth", TRUTHS)
def test_contrasts_intervals_cover_the_truth_in_95_percent_of_data_sets(truth):
    covered = dict.fromkeys((P, R, T, PBI), 0)
    data_sets = 300
    for seed in range(data_sets):
        matrix = correlated(TRUTHS[truth], 100, seed)
        for weights in covered:
            result = contrast_interval(matrix, weights)
            covered[weights] += result.low <= np.dot(weights, TRUTHS[truth]) <= result.high
    # Three standard errors of a coverage of 95 and of 98 %; intervals of 90 % or unpaired ones (over 99 %) lie outside.
    assert all(0.912 <= count / data_sets <= 0.996 for count in covered.values()), covered
    assert 0.93 <= sum(covered.values()) / (4 * data_sets) <= 0.982, covered


@pytest.mark.parametrize("weights", [P, PBI])
def test_contrasts_of_rarely_differing_positions_are_covered_too(weights):
    """Near the ceiling few questions differ, so the sample's own variance is often too small."""
    accuracies = [0.99, 0.97, 0.95, 0.96, 0.98]
    covered = 0
    for seed in range(300):
        result = contrast_interval(correlated(accuracies, 50, seed), weights)
        covered += result.low <= np.dot(weights, accuracies) <= result.high
    assert covered / 300 >= 0.93


def test_the_gap_s_interval_lies_around_it_and_covers_the_true_gap_of_unequal_and_of_equal_positions():
    for name, accuracies in {**TRUTHS, "ceiling": [0.99, 0.97, 0.95, 0.96, 0.98]}.items():
        covered = 0
        for seed in range(200):
            matrix = correlated(accuracies, 60, seed)
            found = gap_interval(matrix)
            assert found.value == pytest.approx(np.ptp(matrix.mean(axis=0)))
            assert 0 <= found.low <= found.value <= found.high
            covered += found.low <= max(accuracies) - min(accuracies) <= found.high
        assert covered / 200 >= 0.94, name
    with pytest.raises(ValueError, match="two columns"):
        gap_interval(np.ones((5, 1), int))


def test_a_p_value_of_thousands_of_differing_questions_is_never_zero():
    assert 0 < mcnemar_p(2655, 0) <= mcnemar_p(600, 0) < 1e-170
    assert cochrans_q(np.tile([1, 0], (5000, 1))).p_value > 0


def test_contrasts_of_no_question_or_with_wrong_weights_or_cells_are_refused():
    with pytest.raises(ValueError, match="no questions"):
        contrast_interval(np.zeros((0, 5), int), PBI)
    for weights in [(1, 0, 0, 0, 0), (1, -1)]:
        with pytest.raises(ValueError, match="sum 0"):
            contrast_interval(np.zeros((3, 5), int), weights)
    for cells in (np.full((3, 5), np.nan), np.full((3, 5), 2), np.zeros(5)):
        with pytest.raises(ValueError, match="from 0 to 1"):
            contrast_interval(cells, PBI)


# --- Tests -----------------------------------------------------------------------------------------------------


@given(matrices)
def test_cochrans_q_is_the_formula_and_statsmodels(matrix):
    k, rows, columns = matrix.shape[1], matrix.sum(axis=1), matrix.sum(axis=0)
    result = cochrans_q(matrix)
    denominator = k * rows.sum() - (rows**2).sum()
    assert result.df == k - 1
    if not denominator:
        assert (result.statistic, result.p_value) == (0, 1)
        return
    expected = (k - 1) * (k * (columns**2).sum() - columns.sum() ** 2) / denominator
    assert result.statistic == pytest.approx(expected, abs=1e-9)
    assert result.p_value == pytest.approx(stats.chi2.sf(expected, k - 1))
    reference = contingency_tables.cochrans_q(matrix)
    assert (result.statistic, result.p_value) == pytest.approx((reference.statistic, reference.pvalue))


def test_cochrans_q_of_rows_that_are_all_right_or_wrong_or_missing_finds_nothing():
    for matrix in (np.repeat([[1], [0]], 3, axis=1), np.ones((1, 3), int), np.zeros((0, 3), int)):
        assert cochrans_q(matrix) == statistics.CochransQ(0.0, 2, 1.0)
    with pytest.raises(ValueError, match="two columns"):
        cochrans_q(np.ones((4, 1), int))


def test_mcnemars_p_is_statsmodels():
    matrix = correlated([0.9, 0.6, 0.5, 0.5], 40, 2)
    for first, second in combinations(matrix.T, 2):
        table = [[((first == a) & (second == b)).sum() for b in (1, 0)] for a in (1, 0)]
        assert mcnemar_p(table[0][1], table[1][0]) == pytest.approx(
            contingency_tables.mcnemar(table, exact=True).pvalue
        )


@pytest.mark.parametrize("seed", range(5))
def test_holms_correction_is_statsmodels_which_collects_garbage_at_each_call(seed):
    # With ties, and values of 0 and 1.
    p_values = [0, 1, *rng(seed).random(8).round(1).tolist()]
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])


def test_mcnemars_p_is_that_of_a_fair_coin_and_1_without_differences():
    assert mcnemar_p(0, 0) == 1
    assert mcnemar_p(3, 3) == 1
    assert mcnemar_p(0, 5) == mcnemar_p(5, 0) == pytest.approx(2 / 2**5)
    assert mcnemar_p(1, 6) == pytest.approx(2 * (1 + 7) / 2**7)


def test_false_alarms_of_q_the_corrected_pairs_and_the_gap_are_rare_when_the_truth_is_flat():
    alarms = np.zeros(3)
    for seed in range(300):
        matrix = correlated(TRUTHS["flat"], 100, seed, latent=0.3)
        alarms += [
            cochrans_q(matrix).p_value <= 0.05,
            min(row["p_holm"] for row in pairwise_rows(of_matrix(matrix, (0, 2, 4, 6, 8)))) <= 0.05,
            gap_test(matrix, 199, rng(seed)).p_value <= 0.05,
        ]
    # 5 % and three standard errors. Ten pairs without a correction would be at 15 % and more.
    assert (alarms / 300 <= 0.088).all(), alarms
    assert (alarms[[0, 2]] / 300 >= 0.012).all(), alarms


def test_a_paired_difference_is_the_contrast_of_two_columns():
    matrix = correlated([0.7, 0.5], 60, 3)
    only_first, only_second = (int((matrix @ np.array(w) == 1).sum()) for w in ([1, -1], [-1, 1]))
    result = paired_difference(only_first, only_second, 60)
    expected = contrast_interval(matrix, (1, -1))
    assert (result.value, *result.limits) == pytest.approx((expected.value, *expected.limits))
    for impossible in [(0, 0, 0), (3, 3, 5), (-1, 2, 5)]:
        with pytest.raises(ValueError, match="questions"):
            paired_difference(*impossible)
