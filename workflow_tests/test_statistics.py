"""Intervals, against the formula worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litm.statistics import wilson_interval


@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_wilson_interval_is_the_formula(counts):
    correct, n = counts
    p, z = correct / n, 1.959963984540054
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low, high = wilson_interval(correct, n)
    assert low == pytest.approx(max(0, centre - half), abs=1e-12)
    assert high == pytest.approx(min(1, centre + half), abs=1e-12)
    assert 0 <= low <= p <= high <= 1 and low < high


@pytest.mark.parametrize(("correct", "n"), [(0, 0), (3, 2), (-1, 5)])
def test_impossible_counts_are_refused(correct, n):
    with pytest.raises(ValueError, match="need 0 <= correct <= n"):
        wilson_interval(correct, n)
