"""Tests of columns that do not differ: p values, corrections for their number, and what is called shown.

Matrices and clusters are those of `litm.analysis.statistics`. Random numbers come from the generator that is passed in.
Textbook tests are written out, because importing scipy.stats or statsmodels adds 0.7 s to each table, which is as long
as most tables take. The tests compare with both.

A difference is *shown* if its p value, corrected for the number of tests in its family (`p_holm`), is below 0.05. The
same rule decides words, stars and verdicts. An interval of 95 % without a correction tells how large a difference may
be, and decides nothing: of twenty intervals of no difference one excludes 0. Intervals of claims and sizes have the
corrected confidence, so that they and p agree.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy import special

from litm.analysis.statistics import SMALLEST_P, Answers, Estimate, as_answers, cluster_sums, moments, ordered_pairs
from litm.base.intervals import is_graded
from litm.base.messages import percent
from litm.scoring.metrics import GRADES

R = TypeVar("R", bound=Mapping)

#: Level of significance: a smaller p value, corrected where there are several, is called more than chance.
SIGNIFICANT = 0.05
#: Numbers drawn at once, at most: 32 MB.
DRAWN = 2**22
#: What a single 95 % interval says: all of it is above 0, below 0, or neither.
ABOVE, BELOW, OPEN = "above 0", "below 0", "contains 0"


@dataclass(frozen=True)
class CochransQ:
    """The result of `cochrans_q`."""

    statistic: float
    """Q, with clusters divided by the design effect."""
    df: int
    """Degrees of freedom: the number of columns minus 1."""
    p_value: float
    """p of equal columns, 1 if nothing differs."""


@dataclass(frozen=True)
class GapTest:
    """Best minus worst column mean, and its distribution if columns do not differ."""

    gap: float
    """The observed one."""
    null_mean: float
    """The mean if columns do not differ."""
    null_95: float
    """The smallest gap that at least 95 % of the replicates do not exceed."""
    p_value: float
    """The share of replicates with at least the observed gap, which counts as one of them: never 0."""


def cochrans_q(matrix: np.ndarray, clusters: np.ndarray | None = None) -> CochransQ:
    """Test of equal columns: Cochran's (1950) Q, approximately χ² with k-1 degrees of freedom.

    Q = (k-1)·(k·Σⱼ Gⱼ² - G²) / (k·G - Σᵢ Lᵢ²) with column sums Gⱼ, row sums Lᵢ and the total G. Rows that are all right
    or all wrong do not count. Without other rows the denominator is 0, there is no evidence of a difference, and
    Q = 0, p = 1. Raises `ValueError` for fewer than two columns.

    With clusters Q is divided by the mean design effect of the columns (Rao & Scott 1981, first order), with F for χ².
    With the deviation r of each answer from the mean of its question, T = Σ r by column and V = Σ T_g T_gᵀ over the
    clusters g, the statistic is (k-1)·T·T/tr V, which for clusters of one question is Q; it is compared with k-1
    times F(k-1, G-1). Graded answers have the same statistic of questions, compared with χ².
    """
    matrix = as_answers(matrix)
    columns = matrix.shape[1]
    if columns < 2:
        raise ValueError(f"need at least two columns to compare, got {columns}")
    # Times the number of columns, so that deviations of right and wrong answers are whole numbers.
    deviations = cluster_sums(columns * matrix - matrix.sum(axis=1, keepdims=True), clusters)
    groups, df = None if clusters is None else len(np.unique(clusters)), columns - 1
    totals, spread = deviations.sum(axis=0), float((deviations**2).sum())
    if not spread or groups == 1:
        return CochransQ(0.0, df, 1.0)
    statistic = df * float(totals @ totals) / spread
    p = special.fdtrc(df, groups - 1, statistic / df) if groups else special.chdtrc(df, statistic)
    return CochransQ(statistic, df, max(SMALLEST_P, float(p)))


def any_pair_p(answers: Answers, clusters: np.ndarray | None = None) -> float:
    """Two-sided p of equal columns: the smallest of all pairs (`moments`) times their number (Bonferroni)."""
    pairs = ordered_pairs(answers.shape[1])
    contrasts = moments(answers, pairs, clusters)
    if not np.all(contrasts.df):
        return 1.0
    p = special.stdtr(contrasts.df, -contrasts.centre / contrasts.standard_error)
    return float(np.clip(pairs.shape[1] * p.min(), SMALLEST_P, 1.0))


def paired_p(pair: np.ndarray, clusters: np.ndarray | None = None) -> float:
    """Two-sided p of two equal columns: exact (`sign_test_p`); of graded answers that of `contrast_interval`."""
    if is_graded(pair):
        return moments(pair, [1, -1], clusters).p_value
    return sign_test_p(pair[:, 0] > pair[:, 1], pair[:, 1] > pair[:, 0], clusters)


def sign_test_p(only_first: np.ndarray, only_second: np.ndarray, clusters: np.ndarray | None = None) -> float:
    """Two-sided p of equal columns: exact McNemar test (`mcnemar_p`), with clusters instead of questions.

    only_first, only_second: by question, whether it is right in that column alone. If the conditions do not differ,
    they may be swapped within any whole cluster, which changes the sign of its D = b - c. p is the fraction of all such
    swaps with |Σ ±D| at least as large as observed. It is exact: the distribution of the integer sum is computed
    cluster by cluster. With clusters of one question it is McNemar's test; for many clusters it approaches Obuchowski's
    (1998) test, (Σ D)²/Σ D².
    """
    if clusters is None:
        return mcnemar_p(int(only_first.sum()), int(only_second.sum()))
    signed = only_first.astype(np.int64) - only_second.astype(np.int64)
    steps = np.abs(np.rint(np.bincount(clusters, signed)).astype(np.int64))
    steps = steps[steps > 0]
    observed, most = abs(int(signed.sum())), int(steps.sum())
    share = np.zeros(2 * most + 1)
    share[most] = 1.0
    for step in steps:
        share = (np.roll(share, step) + np.roll(share, -step)) / 2
    beyond = np.abs(np.arange(-most, most + 1)) >= observed
    return min(1.0, float(share[beyond].sum()))


def mcnemar_p(only_first: int, only_second: int) -> float:
    """Exact two-sided McNemar test (McNemar 1947) of b and c, the questions right in only one of two columns.

    p = min(1, 2·P(X ≤ min(b, c))), X binomial with b + c trials of probability 1/2; 1 if no question differs, and never
    below `SMALLEST_P`.
    """
    fewer, more = sorted((only_first, only_second))
    # P(X ≤ b) of b + c trials is the regularised incomplete beta function I(c, b + 1) at one half. It needs c > 0; the
    # value for b = 0 and c = 1 is the 1 that is needed if nothing differs.
    return float(np.clip(2 * special.betainc(max(more, 1), fewer + 1, 0.5), SMALLEST_P, 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's (1979) correction: the i-th smallest of m times m-i+1, never below that of a smaller one, at most 1.

    Equal to statsmodels' `multipletests`, which runs the garbage collector at each call (20 ms).
    """
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values, kind="stable")
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(1, np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)))
    return corrected.tolist()


def gap_test(
    matrix: np.ndarray, replicates: int, rng: np.random.Generator, clusters: np.ndarray | None = None
) -> GapTest:
    """Best minus worst column mean against its permutation null, with each question's cells in random order; all
    questions of a cluster have the same order.

    Even without an effect of position the gap is above 0, because the best of several positions always exceeds the
    worst; the null gives its size. p = (1 + #{gap* ≥ gap}) / (1 + replicates) (Phipson & Smyth 2010), never 0;
    `null_95` is the smallest gap that at least 95 % of the replicates do not exceed. Raises `ValueError` without
    questions.
    """
    matrix = as_answers(matrix)
    if not len(matrix):
        raise ValueError("no questions, no gap")
    null = np.ptp(permuted_sums(matrix, replicates, rng, clusters), axis=1)
    n, gap = len(matrix), np.ptp(matrix.sum(axis=0)).item()
    return GapTest(
        gap=gap / n,
        null_mean=float(null.mean()) / n,
        null_95=float(np.quantile(null, 0.95, method="inverted_cdf")) / n,
        p_value=(1 + int((null >= gap).sum())) / (1 + replicates),
    )


def permuted_sums(
    matrix: np.ndarray, replicates: int, rng: np.random.Generator, clusters: np.ndarray | None = None
) -> np.ndarray:
    """(replicates, columns): column sums after shuffling the cells of every row, or the columns of every cluster.

    Those of rows are drawn without shuffling. A row with j ones left for its last r columns has a one in the first of
    these with probability j/r, and rows with equal j are exchangeable. So the number of rows for each j is enough: one
    binomial number per j and column. The cost does not depend on the number of rows. Rows of graded answers are
    shuffled.
    """
    matrix = as_answers(matrix)
    if clusters is not None or is_graded(matrix):
        return _permuted_clusters(matrix, np.arange(len(matrix)) if clusters is None else clusters, replicates, rng)
    columns = matrix.shape[1]
    rows_with = np.tile(np.bincount(matrix.sum(axis=1), minlength=columns + 1), (replicates, 1))
    sums = np.zeros((replicates, columns), dtype=np.int64)
    for column in range(columns):
        remaining = columns - column
        # A row with as many ones as columns left has a one here; a row without ones has none.
        ones = rng.binomial(rows_with[:, 1:], np.minimum(1, np.arange(1, columns + 1) / remaining))
        sums[:, column] = ones.sum(axis=1)
        rows_with[:, 1:] -= ones
        rows_with[:, :-1] += ones
    return sums


def _permuted_clusters(
    matrix: np.ndarray, clusters: np.ndarray, replicates: int, rng: np.random.Generator
) -> np.ndarray:
    by_cluster = cluster_sums(matrix, clusters)
    by_cluster = by_cluster[np.ptp(by_cluster, axis=1) > 0]
    groups, columns = by_cluster.shape
    constant = (matrix.sum() - by_cluster.sum()) / columns
    sums = np.zeros((replicates, columns))
    chunk = max(1, DRAWN // max(1, groups * columns))
    for start in range(0, replicates if groups else 0, chunk):
        size = min(chunk, replicates - start)
        order = np.argsort(rng.random((size, groups, columns)), axis=2)
        sums[start : start + size] = np.take_along_axis(by_cluster[None], order, axis=2).sum(axis=1)
    # Multiples of the same fraction as the answers: sums are compared without error.
    return np.rint((sums + constant) * GRADES) / GRADES if is_graded(matrix) else np.rint(sums + constant).astype(int)


def with_holm(rows: Iterable[R], p_value: str = "p_value", corrected: str = "p_holm") -> list[R]:
    """The rows, those with a `p_value` with a further value: it corrected by Holm (1979) over all of them."""
    listed = list(rows)
    tested: list[Any] = [row for row in listed if not pd.isna(row.get(p_value))]
    for row, value in zip(tested, holm([row[p_value] for row in tested]), strict=True):
        row[corrected] = value
    return listed


def difference_in_words(difference: float, p_holm: float) -> str:
    """`3.2 points higher`, or `not shown to differ`."""
    if p_holm >= SIGNIFICANT:
        return "not shown to differ"
    return f"{percent(abs(difference))} points {'higher' if difference > 0 else 'lower'}"


def conclusion(estimate: Estimate) -> str:
    """The conclusion from an interval: `ABOVE`, `BELOW` or `OPEN`."""
    return ABOVE if estimate.low > 0 else BELOW if estimate.high < 0 else OPEN


def changes_sign(first: Estimate, other: Estimate) -> bool:
    """Whether two readings of the same answers lead to different conclusions."""
    return conclusion(first) != conclusion(other)
