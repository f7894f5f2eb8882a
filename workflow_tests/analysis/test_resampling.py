"""Permutations and utilisation."""

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from drawn_answers import TRUTHS, correlated, rng
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from litm.analysis import significance
from litm.analysis.significance import gap_test, permuted_sums
from litm.analysis.statistics import utilisation


def test_permuted_sums_have_exactly_the_probabilities_of_all_permutations():
    matrix = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1]])
    orders = [sorted(set(permutations(row))) for row in matrix.tolist()]
    exact = Counter(tuple(np.sum(choice, axis=0).tolist()) for choice in product(*orders))
    drawn = Counter(map(tuple, permuted_sums(matrix, 20000, rng()).tolist()))
    assert set(drawn) <= set(exact)
    expected = 20000 * np.array(list(exact.values())) / exact.total()
    assert stats.chisquare([drawn[sums] for sums in exact], expected).pvalue > 0.001


def test_the_gap_is_compared_with_that_of_a_model_without_position_effect():
    u = gap_test(correlated([0.9, 0.5, 0.9], 100, 5), 999, rng())
    assert u.gap > u.null_95 > u.null_mean > 0 and u.p_value == 1 / 1000
    matrix = correlated(TRUTHS["flat"], 100, 7)
    flat = gap_test(matrix, 999, rng())
    null = np.ptp(permuted_sums(matrix, 999, rng()), axis=1) / 100
    assert flat.gap == pytest.approx(np.ptp(matrix.mean(axis=0)))
    assert flat.p_value == pytest.approx((1 + (null >= flat.gap - 1e-9).sum()) / 1000) and flat.p_value > 0.05
    assert flat.null_mean == pytest.approx(null.mean())
    assert (null <= flat.null_95 + 1e-9).mean() >= 0.95 > (null < flat.null_95 - 1e-9).mean()


def test_the_gap_of_answers_that_do_not_differ_is_0_with_p_1():
    assert gap_test(np.ones((5, 4), int), 99, rng()) == significance.GapTest(0.0, 0.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="no questions"):
        gap_test(np.ones((0, 4), int), 99, rng())


def test_utilisation_is_the_share_of_what_the_context_could_give():
    closed_book, correct, oracle = correlated([0.2, 0.5, 0.8], 400, 9).T
    result = utilisation(np.column_stack([correct, closed_book, oracle]))
    assert result is not None
    assert result.value == pytest.approx((correct.mean() - closed_book.mean()) / (oracle.mean() - closed_book.mean()))
    random, slow = rng(), []
    for _ in range(2000):
        drawn = random.integers(0, 400, 400)
        closed = closed_book[drawn].mean()
        slow.append((correct[drawn].mean() - closed) / (oracle[drawn].mean() - closed))
    assert (result.low, result.high) == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])), abs=0.01)


@pytest.mark.parametrize(("closed_book", "accuracy", "oracle", "n"), [(0.2, 0.5, 0.8, 100), (0.5, 0.9, 0.95, 30)])
def test_utilisation_covers_the_truth(closed_book, accuracy, oracle, n):
    truth, found = (accuracy - closed_book) / (oracle - closed_book), []
    for seed in range(300):
        result = utilisation(correlated([accuracy, closed_book, oracle], n, seed))
        found += [result.low <= truth <= result.high] if result else []
    assert len(found) > 100 and np.mean(found) >= 0.92


def test_answers_that_are_all_right_or_all_wrong_leave_utilisation_uncertain():
    right, wrong = np.ones(16, int), np.zeros(16, int)
    all_used, none_used = (utilisation(np.column_stack([one, wrong, right])) for one in (right, wrong))
    assert all_used.value == 1 and 0.6 < all_used.low < 0.9 and all_used.high > 1.1
    assert none_used.value == 0 and none_used.low < -0.1 and 0.1 < none_used.high < 0.4


def test_there_is_no_utilisation_unless_the_oracle_is_clearly_better():
    def of(closed: float, oracle: float, n: int):
        return utilisation(correlated([closed, 0.5, oracle], n, 3)[:, [1, 0, 2]])

    nothing = [of(*case) for case in [(0.5, 0.5, 300), (0.6, 0.4, 300), (0.2, 0.8, 3), (0.2, 0.8, 0)]]
    few_more = np.repeat([[1, 0, 1], [0, 1, 0], [1, 1, 1]], [24, 10, 50], axis=0)
    assert [*nothing, utilisation(few_more)] == [None] * 5
    assert of(0.2, 0.8, 300) is not None


@settings(max_examples=50)
@given(st.integers(1, 15).flatmap(lambda n: arrays(np.int64, (n, 3), elements=st.integers(0, 1))))
def test_utilisation_is_finite_or_none(answers):
    result = utilisation(answers)
    assert result is None or np.isfinite([result.value, result.low, result.high]).all()
