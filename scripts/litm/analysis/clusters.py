"""Statistics of questions in clusters: about one article, from one source, or made from one template.

Answers to questions of one cluster correlate, so n questions carry less information than n independent ones, and
intervals that count questions are too narrow (Miller 2024, "Adding error bars to evals", section 2.2). Here the cluster
is the unit, as the question is in `litm.analysis.statistics`: clusters are independent, questions of one are not.
`clusters` has one integer per question; if it is None, the functions equal those of `statistics`. All are meant for ten
clusters or more: with fewer, intervals cover less than their nominal confidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pandas as pd
from scipy import special

from litm.analysis import pbi, statistics
from litm.analysis.statistics import CochransQ, Estimate
from litm.base.intervals import clustered_interval

#: Numbers drawn at once, at most: 32 MB.
DRAWN = 2**22


def cluster_codes(scores: pd.DataFrame, ids: pd.Index) -> np.ndarray | None:
    """The number of each question's cluster, from score rows; None without clusters."""
    if "cluster" not in scores:
        return None
    of_id = scores.drop_duplicates("id").set_index("id")["cluster"].reindex(ids)
    return np.asarray(pd.factorize(of_id)[0])


def contrast_interval(
    matrix: np.ndarray, weights: Sequence[float], clusters: np.ndarray | None, confidence: float = 0.95
) -> Estimate:
    """`statistics.contrast_interval` with the cluster-robust variance of the mean (Liang & Zeger 1986).

    With d̄ the mean of the n questions and of the two added ones of `statistics.contrast_interval` (each a cluster of
    its own), the sum S and the size m of each of the G clusters, and the standard error SE₀ of that interval,

        SE² = G/(G-1) · (SE₀² + (Σ (S - m·d̄)² - Σ (dᵢ - d̄)²)/(n+2)²),  d̄ ± t(G-1)·SE

    With clusters of one question it is that interval, except for the factor and the degrees of freedom. A single
    cluster carries no information, and has the widest possible limits.
    """
    if clusters is None:
        return statistics.contrast_interval(matrix, weights, confidence)
    weight = np.asarray(weights, dtype=float)
    most = float(np.abs(weight).sum()) / 2
    found = moments(matrix, weight, clusters)
    value, centre = found.value, found.centre
    if not found.df:
        return Estimate(value, -most, most, most)
    half = float(special.stdtrit(found.df, (1 + confidence) / 2)) * found.standard_error
    low, high = max(-most, min(centre - half, value)), min(most, max(centre + half, value))
    return Estimate(value, low, high, found.standard_error)


def gap_interval(matrix: np.ndarray, clusters: np.ndarray | None, confidence: float = 0.95) -> Estimate:
    """`statistics.gap_interval` made of the intervals of `contrast_interval`."""
    if clusters is None:
        return statistics.gap_interval(matrix, confidence)
    columns = matrix.shape[1]
    pairs = list(permutations(range(columns), 2))

    def difference(pair: tuple[int, int], at: float) -> Estimate:
        return contrast_interval(matrix[:, pair], [1, -1], clusters, at)

    lows = [difference(pair, 1 - (1 - confidence) / len(pairs)).low for pair in pairs]
    best = max((difference(pair, confidence) for pair in pairs), key=lambda one: one.value)
    highs = [difference(pair, confidence).high for pair in pairs]
    return Estimate(best.value, max(0.0, *lows), max(highs), best.standard_error)


def gap_difference(
    first: np.ndarray, other: np.ndarray, clusters: np.ndarray | None, confidence: float = 0.95
) -> tuple[Estimate, float]:
    """Best minus worst column mean, minus the same of as many other columns, on the same questions; and two-sided p.

    With aᵢ and bⱼ the differences of the I ordered pairs of columns of each side, the true difference of the gaps is
    θ = max aᵢ - max bⱼ = minⱼ maxᵢ (aᵢ - bⱼ) = maxᵢ minⱼ (aᵢ - bⱼ). Each aᵢ - bⱼ has the limits lᵢⱼ and uᵢⱼ of
    `contrast_interval` at 1 - (1 - confidence)/I, and θ has minⱼ maxᵢ lᵢⱼ and maxᵢ minⱼ uᵢⱼ. For the true best pair j
    of the other side aᵢ - bⱼ ≤ θ for every i, so the lower limit is above θ only if one of I limits is too high, and
    likewise the upper one: each errs with a chance of at most (1 - confidence)/2 (Bonferroni), although the sample
    chooses best and worst. p is below 1 - confidence where the interval excludes 0.
    """
    pairs = np.array(list(permutations(range(first.shape[1]), 2)))
    a, b = (matrix[:, pairs[:, 0]] - matrix[:, pairs[:, 1]] for matrix in (first, other))
    n, weight = len(a), np.array([1, -1, -1, 1])
    totals, squares = a.sum(axis=0)[:, None] - b.sum(axis=0), _squares(a, b)
    centres, df = totals / (n + 2), n + 1
    _, _, errors = statistics.contrast_limits(totals, squares, n, weight)
    if clusters is not None:
        sizes, sums_a, sums_b = np.bincount(clusters), cluster_sums(a, clusters), cluster_sums(b, clusters)
        df = int((sizes > 0).sum()) - 1
        by_size = (sizes @ sums_a)[:, None] - sizes @ sums_b
        between = _squares(sums_a, sums_b) - 2 * centres * by_size + centres**2 * (sizes**2).sum()
        within = squares - 2 * centres * totals + n * centres**2
        errors = np.sqrt((df + 1) / max(df, 1) * np.maximum(0.0, errors**2 + (between - within) / (n + 2) ** 2))
    best = a.sum(axis=0).argmax(), b.sum(axis=0).argmax()
    value = float(totals[best]) / n
    if not df:
        return Estimate(value, -1.0, 1.0, 1.0), 1.0
    halves = float(special.stdtrit(df, 1 - (1 - confidence) / 2 / len(pairs))) * errors
    low = float(np.minimum(centres - halves, totals / n).max(axis=0).min())
    high = float(np.maximum(centres + halves, totals / n).min(axis=1).max())
    t = np.divide(centres, errors, out=np.zeros_like(errors), where=errors > 0)
    p = 2 * len(pairs) * min(special.stdtr(df, -t).min(axis=0).max(), special.stdtr(df, t).min(axis=1).max())
    return Estimate(value, max(-1.0, low), min(1.0, high), float(errors[best])), min(1.0, float(p))


def _squares(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Σ (aᵢ - bⱼ)² over the rows, for each column i of a and j of b."""
    return (a**2).sum(axis=0)[:, None] + (b**2).sum(axis=0) - 2 * a.T @ b


def limit_of(matrix: np.ndarray, clusters: np.ndarray | None) -> str | None:
    """`pbi.limit_of` of (questions, positions) answers, with the intervals of clusters."""
    intervals = [clustered_interval(column, clusters) for column in matrix.T]
    return pbi.limit_of(matrix.sum(axis=0).tolist(), len(matrix), intervals)


def design_effect(matrix: np.ndarray, weights: Sequence[float], clusters: np.ndarray | None) -> float:
    """Factor (at least 1) by which clusters raise the number of questions for an interval of the same width.

    It is the squared ratio of the widths of `contrast_interval` with and without clusters, so it includes variance and
    quantile of t. 1 without clusters.
    """
    if clusters is None:
        return 1.0
    robust = moments(matrix, np.asarray(weights, dtype=float), clusters)
    error, df = robust.standard_error, robust.df
    plain = statistics.contrast_interval(matrix, weights).standard_error
    if not df:
        return float(len(matrix))
    return max(1.0, float((special.stdtrit(df, 0.975) * error / special.stdtrit(len(matrix) + 1, 0.975) / plain) ** 2))


@dataclass(frozen=True)
class Moments:
    """A contrast's value, and the centre, standard error and degrees of freedom of its interval."""

    value: float
    centre: float
    standard_error: float
    df: int


def contrast_p(matrix: np.ndarray, weights: Sequence[float], clusters: np.ndarray | None) -> float:
    """Two-sided p of a contrast of 0: below 0.05 if the interval of `contrast_interval` excludes 0."""
    return _p_value(moments(matrix, np.asarray(weights, dtype=float), clusters))


def _p_value(of: Moments) -> float:
    return float(2 * special.stdtr(of.df, -abs(of.centre) / of.standard_error)) if of.df and of.standard_error else 1.0


def pooled_contrast(parts: Sequence[Moments], most: float) -> tuple[Estimate, float]:
    """The mean of the contrasts of independent parts with its 95 % interval, and its two-sided p.

    With the centre cₛ and standard error SEₛ of each of S parts, the interval is Σcₛ/S ± t(Σdfₛ)·√(Σ SEₛ²)/S, which
    for one part is that of `contrast_interval`. most: the largest possible contrast.
    """
    share = 1 / len(parts)
    mean = Moments(
        share * sum(one.value for one in parts),
        share * sum(one.centre for one in parts),
        share * float(np.sqrt(sum(one.standard_error**2 for one in parts))),
        sum(one.df for one in parts),
    )
    if not mean.df:
        return Estimate(mean.value, -most, most, most), 1.0
    half = float(special.stdtrit(mean.df, 0.975)) * mean.standard_error
    low, high = max(-most, min(mean.centre - half, mean.value)), min(most, max(mean.centre + half, mean.value))
    return Estimate(mean.value, low, high, mean.standard_error), _p_value(mean)


def moments(matrix: np.ndarray, weight: np.ndarray, clusters: np.ndarray | None) -> Moments:
    """See `contrast_interval`."""
    contrasts, n = np.asarray(matrix) @ weight, len(matrix)
    plain = statistics.contrast_interval(matrix, weight.tolist())
    if clusters is None:
        return Moments(plain.value, plain.value * n / (n + 2), plain.standard_error, n + 1)
    sums, sizes = np.bincount(clusters, contrasts), np.bincount(clusters)
    groups = int((sizes > 0).sum())
    value, centre = float(contrasts.sum()) / n, float(contrasts.sum()) / (n + 2)
    within = float(((contrasts - centre) ** 2).sum())
    between = float(((sums - sizes * centre) ** 2).sum())
    correction = groups / (groups - 1) if groups > 1 else 1.0
    variance = correction * max(0.0, plain.standard_error**2 + (between - within) / (n + 2) ** 2)
    return Moments(value, centre, float(np.sqrt(variance)), groups - 1)


def sign_test_p(only_first: np.ndarray, only_second: np.ndarray, clusters: np.ndarray | None) -> float:
    """Two-sided p of equal columns: exact McNemar test with clusters instead of questions.

    only_first, only_second: by question, whether it is right in that column alone. If the conditions do not differ,
    they may be swapped within any whole cluster, which changes the sign of its D = b - c. p is the fraction of all such
    swaps with |Σ ±D| at least as large as observed. It is exact: the distribution of the integer sum is computed
    cluster by cluster. With clusters of one question it is McNemar's test; for many clusters it approaches Obuchowski's
    (1998) test, (Σ D)²/Σ D².
    """
    if clusters is None:
        return statistics.mcnemar_p(int(only_first.sum()), int(only_second.sum()))
    signed = only_first.astype(np.int64) - only_second.astype(np.int64)
    steps = np.abs(np.rint(np.bincount(clusters, signed)).astype(np.int64))
    steps = steps[steps > 0]
    found, most = abs(int(signed.sum())), int(steps.sum())
    share = np.zeros(2 * most + 1)
    share[most] = 1.0
    for step in steps:
        share = (np.roll(share, step) + np.roll(share, -step)) / 2
    beyond = np.abs(np.arange(-most, most + 1)) >= found
    return min(1.0, float(share[beyond].sum()))


def cochrans_q(matrix: np.ndarray, clusters: np.ndarray | None) -> CochransQ:
    """Cochran's Q divided by the mean design effect of the columns (Rao & Scott 1981, first order); F for χ².

    With the deviation r of each answer from the mean of its question, T = Σ r by column and V = Σ T_g T_gᵀ over the
    clusters g, the statistic is (k-1)·T·T/tr V, which for clusters of one question is Q; it is compared with k-1
    times F(k-1, G-1).
    """
    plain = statistics.cochrans_q(matrix)
    if clusters is None or plain.p_value == 1:
        return plain
    deviations = matrix - matrix.mean(axis=1, keepdims=True)
    by_cluster = cluster_sums(deviations, clusters)
    totals, spread = by_cluster.sum(axis=0), float((by_cluster**2).sum())
    groups = int((np.bincount(clusters) > 0).sum())
    if groups < 2 or not spread:
        return CochransQ(0.0, plain.df, 1.0)
    statistic = plain.df * float(totals @ totals) / spread
    return CochransQ(statistic, plain.df, float(special.fdtrc(plain.df, groups - 1, statistic / plain.df)))


def gap_test(
    matrix: np.ndarray, replicates: int, rng: np.random.Generator, clusters: np.ndarray | None
) -> statistics.GapTest:
    """`statistics.gap_test` with one random order of the columns for all questions of a cluster."""
    if clusters is None:
        return statistics.gap_test(matrix, replicates, rng)
    return statistics.gap_against(np.ptp(permuted_sums(matrix, clusters, replicates, rng), axis=1), matrix)


def cluster_sums(matrix: np.ndarray, clusters: np.ndarray | None) -> np.ndarray:
    """(clusters, columns): the sums over the questions of each cluster; the matrix itself without clusters."""
    if clusters is None:
        return matrix
    return np.column_stack([np.bincount(clusters, column) for column in np.asarray(matrix).T])


def permuted_sums(matrix: np.ndarray, clusters: np.ndarray, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """(replicates, columns): column sums after the columns of each cluster were put in one random order."""
    by_cluster = cluster_sums(matrix, clusters)
    by_cluster = by_cluster[np.ptp(by_cluster, axis=1) > 0]
    groups, columns = by_cluster.shape
    constant = np.asarray(matrix).sum(axis=0).sum() - by_cluster.sum()
    sums = np.empty((replicates, columns))
    chunk = max(1, DRAWN // max(1, groups * columns))
    for start in range(0, replicates, chunk):
        size = min(chunk, replicates - start)
        order = np.argsort(rng.random((size, groups, columns)), axis=2)
        sums[start : start + size] = np.take_along_axis(by_cluster[None], order, axis=2).sum(axis=1)
    return np.rint(sums + constant / columns).astype(np.int64) if groups else np.zeros_like(sums, dtype=np.int64)


def mean_interval(matrix: np.ndarray, clusters: np.ndarray | None, confidence: float = 0.95) -> Estimate:
    """`statistics.mean_interval`, with the cluster-robust standard error and G - 1 degrees of freedom."""
    plain = statistics.mean_interval(matrix, confidence)
    if clusters is None or plain.value in (0, 1):
        return plain
    shares = matrix.mean(axis=1)
    sums, sizes = np.bincount(clusters, shares - plain.value), np.bincount(clusters)
    groups = int((sizes > 0).sum())
    if groups < 2:
        return Estimate(plain.value, 0.0, 1.0, 1.0)
    standard_error = float(np.sqrt(groups / (groups - 1) * (sums**2).sum())) / len(shares)
    half = float(special.stdtrit(groups - 1, (1 + confidence) / 2)) * standard_error
    return Estimate(plain.value, max(0.0, plain.value - half), min(1.0, plain.value + half), standard_error)


def utilisation(
    answers: np.ndarray, clusters: np.ndarray | None, replicates: int, rng: np.random.Generator
) -> Estimate | None:
    """`statistics.utilisation` of (questions, 3) answers, with a bootstrap of clusters instead of questions."""
    if clusters is None:
        return statistics.utilisation(answers[:, 0], answers[:, 1], answers[:, 2], replicates, rng)
    if not len(answers) or contrast_interval(answers, [0, -1, 1], clusters, confidence=0.99).low <= 0:
        return None
    means = statistics.bootstrap_means(cluster_sums(answers, clusters), replicates, rng)
    return statistics.share_gained(answers, means)
