"""Statistics, compared with formulas by hand, scipy and statsmodels, slow implementations, and simulation."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from drawn_answers import TRUTHS, correlated, rng
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from statsmodels.stats import contingency_tables
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from litm.analysis import significance
from litm.analysis.significance import cochrans_q, gap_test, holm, mcnemar_p, paired_p, with_holm
from litm.analysis.statistics import contrast_interval, gap_interval, moments, moments_of, paired_difference
from litm.base.intervals import agresti_coull_interval, binomial_interval, wilson_interval

P, R, T, PBI = (1, 0, -1, 0, 0), (0, 0, -1, 0, 1), (-1, 0, 0, 0, 1), (0.5, 0, -1, 0, 0.5)
CEILING = [0.99, 0.97, 0.95, 0.96, 0.98]

#: Matrices of a few questions and positions, with many constant rows among them.
matrices = st.tuples(st.integers(1, 12), st.integers(2, 5)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 1))
)
counts = st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts)
def test_the_wilson_interval_is_statsmodels(counts):
    low, high = wilson_interval(*counts)
    assert (low, high) == pytest.approx(proportion_confint(*counts, method="wilson"), abs=1e-12)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1 and low < high


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


@given(matrices, st.randoms(use_true_random=False), st.sampled_from([0.8, 0.95]))
def test_a_contrasts_interval_is_students_with_the_greatest_and_the_least_contrast_added(matrix, random, confidence):
    weights = np.array([random.choice([-1, -0.5, 0, 0.5, 1]) for _ in range(matrix.shape[1])])
    weights[-1] -= weights.sum()
    most, value = np.abs(weights).sum() / 2, matrix.mean(axis=0) @ weights
    values = np.append(matrix @ weights, [most, -most])
    half = stats.t.ppf((1 + confidence) / 2, len(values) - 1) * values.std() / math.sqrt(len(values))
    low, high = min(value, values.mean() - half), max(value, values.mean() + half)
    result = contrast_interval(matrix, tuple(weights), confidence=confidence)
    assert (result.value, *result.limits) == pytest.approx((value, max(-most, low), min(most, high)), abs=1e-9)
    assert -most <= result.low <= result.value <= result.high <= most


def test_a_difference_that_no_question_shows_has_an_interval_nevertheless():
    for n in (1, 10, 100):
        flat = contrast_interval(np.ones((n, 5), int), PBI)
        assert flat.value == 0 and flat.low < 0 < flat.high and flat.high == pytest.approx(-flat.low)
        certain = contrast_interval(np.tile([1, 0, 0, 0, 1], (n, 1)), PBI)
        assert certain.value == certain.high == 1 and certain.low < 1
    assert contrast_interval(np.ones((1, 5), int), PBI).high > 0.5


@pytest.mark.parametrize(
    ("accuracies", "n", "all_contrasts", "least", "mean"),
    [
        # Three standard errors of a coverage of 95 and of 98 %; intervals of 90 % or unpaired ones are outside.
        *((accuracies, 100, (P, R, T, PBI), 0.912, (0.93, 0.982)) for accuracies in TRUTHS.values()),
        # Near the ceiling few questions differ, so the sample's own variance is often too small.
        (CEILING, 50, (P, PBI), 0.93, (0.93, 1)),
    ],
)
def test_contrasts_intervals_cover_the_truth_in_95_percent_of_data_sets(accuracies, n, all_contrasts, least, mean):
    def covers(matrix: np.ndarray, weights: tuple) -> bool:
        result = contrast_interval(matrix, weights)
        return result.low <= np.dot(weights, accuracies) <= result.high

    data_sets = [correlated(accuracies, n, seed) for seed in range(300)]
    shares = [np.mean([covers(matrix, weights) for matrix in data_sets]) for weights in all_contrasts]
    assert least <= min(shares) and max(shares) <= (0.996 if n == 100 else 1), shares
    assert mean[0] <= np.mean(shares) <= mean[1], shares


@pytest.mark.parametrize(
    ("n", "bound", "level"),
    [(43, 0.1, 0.025), (81, 0.1, 0.025 / 23), (76, 0.05, 0.05), (87, 0.05, 0.025), (120, 0.05, 0.025 / 12),
     (93, 0.05, 0.05 / 3), (219, 0.02, 0.025), (3500, 0.02, 0.05)],
)  # fmt: skip
def test_a_loss_is_wrongly_shown_to_be_small_no_more_often_than_promised_though_no_question_is_won(n, bound, level):
    """Exact, where the usual limits err most. p and the limits say the same."""
    lost = np.arange(n + 1)
    found = moments_of(lost, lost, n, most=1.0)
    is_shown = found.limits(1 - 2 * level, of_small=True)[1] < bound
    assert stats.binom.pmf(lost, n, bound)[is_shown].sum() < level
    assert ((found.p_of_more(bound) < level) == is_shown).all()


@given(matrices)
def test_limits_that_show_small_differences_are_on_the_same_side_of_0_and_no_nearer(matrix):
    found = moments(matrix[:, :2], [1, -1])
    (low, high), (low_small, high_small) = found.limits(0.95), found.limits(0.95, of_small=True)
    assert low_small <= low and high <= high_small and (low_small < 0, high_small > 0) == (low < 0, high > 0)
    assert low == low_small or low < 0
    assert high == high_small or high > 0


def test_equal_answers_of_few_clusters_do_not_show_that_differences_are_small():
    clusters, equal = np.arange(20).repeat(20), np.ones((400, 2), int)
    assert moments(equal, [1, -1], clusters).limits(0.95, of_small=True)[1] > 0.1
    assert moments(equal, [1, -1]).limits(0.95, of_small=True)[1] < 0.02


def test_the_gap_s_interval_lies_around_it_and_covers_the_true_gap_of_unequal_and_of_equal_positions():
    for accuracies in (*TRUTHS.values(), CEILING):
        covered = 0
        for seed in range(200):
            matrix = correlated(accuracies, 60, seed)
            found = gap_interval(matrix)
            assert found.value == pytest.approx(np.ptp(matrix.mean(axis=0)))
            assert 0 <= found.low <= found.value <= found.high
            covered += found.low <= max(accuracies) - min(accuracies) <= found.high
        assert covered / 200 >= 0.94, accuracies
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
    for impossible in [(0, 0, 0), (3, 3, 5), (-1, 2, 5)]:
        with pytest.raises(ValueError, match="questions"):
            paired_difference(*impossible)


@given(matrices)
def test_cochrans_q_is_statsmodels_and_0_where_no_question_differs(matrix):
    result = cochrans_q(matrix)
    assert result.df == matrix.shape[1] - 1
    if (np.ptp(matrix, axis=1) == 0).all():
        assert (result.statistic, result.p_value) == (0, 1)
    else:
        expected = contingency_tables.cochrans_q(matrix)
        assert (result.statistic, result.p_value) == pytest.approx((expected.statistic, expected.pvalue))


def test_cochrans_q_of_rows_that_are_all_right_or_wrong_or_missing_finds_nothing():
    for matrix in (np.repeat([[1], [0]], 3, axis=1), np.ones((1, 3), int), np.zeros((0, 3), int)):
        assert cochrans_q(matrix) == significance.CochransQ(0.0, 2, 1.0)
    with pytest.raises(ValueError, match="two columns"):
        cochrans_q(np.ones((4, 1), int))


def test_mcnemars_p_is_statsmodels_and_1_without_differences():
    for one, other in product(range(8), repeat=2):
        expected = contingency_tables.mcnemar([[3, one], [other, 4]], exact=True).pvalue if one + other else 1
        assert mcnemar_p(one, other) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_holms_correction_of_the_rows_with_a_p_value_is_statsmodels_which_collects_garbage_at_each_call(seed):
    # With ties, and values of 0 and 1.
    p_values = [0, 1, *rng(seed).random(8).round(1).tolist()]
    *rows, none, without = with_holm([*({"p": p} for p in p_values), {"p": None}, {}], "p", "corrected")
    assert [row["corrected"] for row in rows] == pytest.approx(multipletests(p_values, method="holm")[1])
    assert "corrected" not in {*none, *without}


def test_false_alarms_of_q_the_corrected_pairs_and_the_gap_are_rare_when_the_truth_is_flat():
    alarms = np.zeros(3)
    for seed in range(300):
        matrix = correlated(TRUTHS["flat"], 100, seed, latent=0.3)
        pairs = holm([paired_p(matrix[:, pair]) for pair in combinations(range(5), 2)])
        gap = gap_test(matrix, 199, rng(seed)).p_value
        alarms += [p <= 0.05 for p in (cochrans_q(matrix).p_value, min(pairs), gap)]
    # 5 % and three standard errors. Ten pairs without a correction would be at 15 % and more.
    assert (alarms / 300 <= 0.088).all(), alarms
    assert (alarms[[0, 2]] / 300 >= 0.012).all(), alarms
