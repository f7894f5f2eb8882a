"""Statistics of accuracies: small pure functions with formula and source in each docstring.

A matrix has one row per question and one column per position (or model, or condition); a cell is 1 if the answer is
right, 0 if it is wrong, and a number between for a graded metric. The question is the unit: questions are independent,
answers to one question are not, so columns are always compared within questions. No function returns NaN: a value that
cannot be computed is None, or the function raises `ValueError`. Random numbers come from the generator that is passed
in.

`clusters` has one integer per question, for questions about one article, from one source, or made from one template;
None without. Answers to questions of one cluster correlate, so n questions carry less information than n independent
ones, and intervals that count questions are too narrow (Miller 2024, "Adding error bars to evals", section 2.2). With
clusters the cluster is the unit: clusters are independent, questions of one are not. This is meant for ten clusters of
equal size, or unequal ones that are worth as much: with fewer, intervals may cover less than their nominal confidence.

Distributions are those of scipy.special. Textbook tests are written out, because importing scipy.stats or statsmodels
adds 0.7 s to each table, which is as long as most tables take. The tests compare with both.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import hypot, sqrt
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy import special

from litm.base.intervals import cluster_factors, clustered_interval, is_graded, mean_error, wilson_interval
from litm.base.messages import percent
from litm.scoring.judge_error import Labelled
from litm.scoring.metrics import GRADES

R = TypeVar("R", bound=Mapping)

#: Level of significance: a smaller p value, corrected where there are several, is called more than chance.
SIGNIFICANT = 0.05
#: Smallest reported p value: a smaller one would underflow to 0, which cannot be corrected.
SMALLEST_P = float(np.finfo(float).tiny)
Weights = Sequence[float] | np.ndarray
#: Halvings of an interval of 1 or more until its limit is known to more digits than are written.
BISECTIONS = 40
#: Numbers drawn at once, at most: 32 MB.
DRAWN = 2**22


@dataclass(frozen=True)
class Estimate:
    """A value and its interval, of 95 % unless another confidence is asked for."""

    value: float
    """What the answers give."""
    low: float
    """Lower limit of the interval."""
    high: float
    """Upper limit of the interval."""

    @property
    def limits(self) -> tuple[float, float]:
        return self.low, self.high


def further_lost(t: float) -> float:
    """Further questions that count as lost where a loss is shown to be small: (t² + 2)/3 for a quantile t.

    If questions are lost and none is won, their number is skewed: a sample with few losses has too low a mean and too
    small a variance, and the limit of `contrast_interval` is below the true loss up to 2 times as often as promised at
    5 %, and 8 times at 0.2 %. The exact limit for a Poisson number of k losses (Garwood 1936) is nearly
    k + (t² + 2)/3 + t·√(k + 1), by Cornish & Fisher's expansion. If questions are also won, the skewness is less by the
    share x/(x + 2·won) of the loss x in all questions that differ (Johnson 1978), and so is the number. It is 0 for
    x = 0, so that it changes no statement that a difference exists.
    """
    return (t**2 + 2) / 3


@dataclass(frozen=True)
class Moments:
    """Contrasts of the same columns, one element each."""

    value: np.ndarray
    """What the answers give."""
    centre: np.ndarray
    """Centre of the interval, which is nearer to 0."""
    standard_error: np.ndarray
    """Standard error around the centre."""
    df: float
    """Degrees of freedom, 0 for a single cluster."""
    most: float
    """The largest possible contrast, infinite for numbers without bounds."""

    def limits(self, confidence: float, of_small: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """The limits of `contrast_interval`; of_small: those that show a contrast to be small (`further_lost`)."""
        if not self.df:
            return np.full_like(self.value, -self.most), np.full_like(self.value, self.most)
        t = float(special.stdtrit(self.df, (1 + confidence) / 2))
        lows, highs = self.centre - t * self.standard_error, self.centre + t * self.standard_error
        if of_small and np.isfinite(self.most):
            lows, highs = -self._farther(t, -lows, -self.centre), self._farther(t, highs, self.centre)
        # The value last: rounding may put it above the largest possible one.
        lows = np.minimum(np.maximum(-self.most, lows), self.value)
        return lows, np.maximum(np.minimum(self.most, highs), self.value)

    def _farther(self, t: float, limits: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """Upper limits x with `further_lost`, x = limit + lost·x/(x + won); those below 0 as they are.

        With clusters it is as if two whole ones differed at least, because clusters without a difference do not show
        how much their questions correlate.
        """
        unit, won = self.most / (self.df + 1), self._won(centre)
        lost = further_lost(t) * unit + t * np.maximum(0, sqrt(2) * unit - self.standard_error)
        half = (limits + lost - won) / 2
        return np.where(limits > 0, half + np.sqrt(half**2 + np.maximum(0, limits) * won), limits)

    def _won(self, centre: np.ndarray) -> np.ndarray:
        """Twice the share of won questions, times D: that of the questions that differ, minus the loss."""
        return np.maximum(0, (self.standard_error**2 * (self.df + 1) + centre**2) / self.most - centre)

    def p_of_more(self, bound: float) -> np.ndarray:
        """One-sided p of contrasts of `bound` > 0 or more: below 0.025 if the upper limit of 95 % of small ones is."""
        third = bound / (bound + self._won(self.centre)) * self.most / (self.df + 1) / 3
        room = bound - self.centre - 2 * third
        root = np.sqrt(np.maximum(0, self.standard_error**2 + 4 * third * room))
        return special.stdtr(self.df, -2 * room / (self.standard_error + root))

    def estimate(self, confidence: float = 0.95, of_small: bool = False) -> Estimate:
        """A single contrast with its interval."""
        low, high = self.limits(confidence, of_small)
        return Estimate(float(self.value), float(low), float(high))

    @property
    def p_value(self) -> float:
        """Two-sided p of a single contrast of 0: below 0.05 if its 95 % interval excludes 0."""
        if not self.df or not self.centre:
            return 1.0
        t = abs(self.centre) / self.standard_error if self.standard_error else np.inf
        return max(SMALLEST_P, float(2 * special.stdtr(self.df, -t)))


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


# --- Contrasts of columns --------------------------------------------------------------------------------------


def contrast_interval(
    matrix: np.ndarray, weights: Weights, clusters: np.ndarray | None = None, confidence: float = 0.95
) -> Estimate:
    """A contrast of column means, such as (start + end)/2 - middle, with its interval paired by question.

    The contrast of question i is dᵢ = Σⱼ wⱼ·xᵢⱼ, Σⱼ wⱼ = 0, and the value is their mean d̄. The interval is Student's
    for the mean of the dᵢ and of two further questions: one with the largest possible contrast, D = Σⱼ |wⱼ|/2, and one
    with the smallest, -D:

        m = n·d̄/(n+2),  s² = (Σ dᵢ² + 2D²)/(n+2) - m²,  SE² = s²/(n+2),  m ± t(n+1)·SE

    For two columns this is Bonett & Price's (2012) adjusted Wald interval (one further question in each cell of the 2
    by 2 table where the columns differ) with t instead of z; Fagerland, Lydersen & Laake (2014) recommend it for paired
    proportions. The two questions matter if few questions differ between positions: without them the interval has
    width 0 if none differs. Half a question each, as in Agresti & Min (2005), is too little near the ceiling: coverage
    is 87 % at accuracies of .99, .95 and .98 and n = 50, where bootstrap intervals cover 92 % (percentile) or 85 %
    (BCa); elsewhere these are no better either. Coverage is in docs/evidence.md. Limits are cut at -D and D, and always
    contain the value.

    Clusters have the cluster-robust variance of the mean. With the sum S, the size k and the share u = k/n of each
    cluster, each of the two added questions a cluster of its own,

        SE² = (Σ (S - k·m)²/(1-u) + ((D - m)² + (D + m)²)/(1 - Σu²))/(n+2)²,  m ± t(df)·SE

    with df of `cluster_factors`. With clusters of one question it is the same interval, except for the factors and the
    degrees of freedom. A single cluster carries no information, and has the widest possible limits.

    Raises `ValueError` without questions, for cells outside 0 to 1, and for weights that do not sum to 0.
    """
    return moments(matrix, weights, clusters).estimate(confidence)


def moments(matrix: np.ndarray, weights: Weights, clusters: np.ndarray | None = None) -> Moments:
    """See `contrast_interval`; weights: of each column, or (columns, contrasts) for several contrasts."""
    matrix, weight = as_answers(matrix), np.asarray(weights, dtype=float)
    if weight.shape[:1] != matrix.shape[1:] or not np.allclose(weight.sum(axis=0), 0, atol=1e-9):
        raise ValueError(f"need a weight for each of {matrix.shape[1]} columns, sum 0, got {list(weights)}")
    n = len(matrix)
    if not n:
        raise ValueError("no questions, no interval")
    # Sums over the questions first, which are exact, so that their order cannot change the last digit.
    totals, squares = matrix.sum(axis=0) @ weight, (weight * (matrix.T @ matrix @ weight)).sum(axis=0)
    plain = moments_of(totals, squares, n, float(np.abs(weight).sum(axis=0).max()) / 2)
    if clusters is None:
        return plain
    sizes, centres = np.bincount(clusters), plain.centre
    factors, df = cluster_factors(sizes)
    sums = cluster_sums(matrix, clusters) @ weight - np.multiply.outer(sizes, centres)
    within = squares - 2 * centres * totals + n * centres**2
    added = ((n + 2) ** 2 * plain.standard_error**2 - within) / max(1 - ((sizes / n) ** 2).sum(), 1 / n)
    errors = np.sqrt(np.maximum(0.0, (factors @ sums**2 + added) / (n + 2) ** 2))
    return Moments(plain.value, centres, errors, df, plain.most)


def corrected_moments(answers: Labelled, weights: Weights) -> Moments:
    """`moments` of judged answers, corrected by labels (`scoring.judge_error`): those of the expected answers, with the
    error of the shares of right answers. The degrees of freedom are Satterthwaite's.
    """
    weight = np.asarray(weights, dtype=float)
    plain = moments(answers.expected, weight, answers.clusters)
    added, over_df = answers.second_phase(weight)
    if not plain.df or not added:
        return plain
    error = plain.standard_error**2
    df = float((error + added) ** 2 / (error**2 / plain.df + over_df))
    return replace(plain, standard_error=np.sqrt(error + added), df=df)


def moments_of(totals: np.ndarray, squares: np.ndarray, n: int, most: float) -> Moments:
    """The same without clusters from Σ dᵢ, Σ dᵢ² and D, of one or several data sets of n questions."""
    centres = totals / (n + 2)
    variances = np.maximum(0.0, (squares + 2 * most**2) / (n + 2) - centres**2)
    return Moments(totals / n, centres, np.sqrt(variances / (n + 2)), n + 1, most)


def cluster_sums(matrix: np.ndarray, clusters: np.ndarray | None) -> np.ndarray:
    """(clusters, columns): the sums over the questions of each cluster; the matrix itself without clusters."""
    if clusters is None:
        return matrix
    return np.column_stack([np.bincount(clusters, column) for column in np.asarray(matrix).T])


def paired_difference(only_first: int, only_second: int, n: int, confidence: float = 0.95) -> Estimate:
    """`contrast_interval` of two columns, from the numbers b and c of n questions that are right in only one of them.

    Raises `ValueError` for n = 0.
    """
    if min(only_first, only_second) < 0 or only_first + only_second > n or n == 0:
        raise ValueError(f"need {only_first} + {only_second} of {n} > 0 questions")
    totals, squares = np.array(only_first - only_second), np.array(only_first + only_second)
    return moments_of(totals, squares, n, most=1.0).estimate(confidence)


def pooled_contrast(parts: Sequence[Moments]) -> Moments:
    """The mean of the contrasts of independent parts.

    With the centre cₛ and standard error SEₛ of each of S parts, its interval is Σcₛ/S ± t(Σdfₛ)·√(Σ SEₛ²)/S, which
    for one part is that of `contrast_interval`.
    """
    values, centres, errors = np.array([(part.value, part.centre, part.standard_error) for part in parts]).T
    error = np.sqrt((errors**2).sum()) / len(parts)
    return Moments(values.mean(), centres.mean(), error, sum(part.df for part in parts), parts[0].most)


def design_effect(matrix: np.ndarray, weights: Weights, clusters: np.ndarray | None) -> float:
    """Factor (at least 1) by which clusters raise the number of questions for an interval of the same width.

    It is the squared ratio of the widths of `contrast_interval` with and without clusters, so it includes variance and
    quantile of t; of several contrasts (`moments`) the mean ratio. 1 without clusters.
    """
    if clusters is None:
        return 1.0
    robust, plain = moments(matrix, weights, clusters), moments(matrix, weights)
    if not robust.df:
        return float(len(matrix))
    widths = [special.stdtrit(contrast.df, 0.975) * contrast.standard_error for contrast in (robust, plain)]
    return max(1.0, float(np.mean((widths[0] / widths[1]) ** 2)))


def gap_interval(matrix: np.ndarray, clusters: np.ndarray | None = None, confidence: float = 0.95) -> Estimate:
    """Best minus worst column mean, and an interval for the best minus the worst of the true accuracies.

    The interval is made from those of all pairs of columns (`contrast_interval`). The true gap g is the difference of
    one pair. The upper limit is the largest of all pairs: it is below g only if that pair's limit is, so it needs no
    correction. The lower limit is also the largest of all pairs: it is above g only if some pair's limit is too high,
    so it is corrected for all k(k-1) ordered pairs (Bonferroni), and is at least 0. Each side errs with a chance of at
    most (1 - confidence)/2, if the intervals of the pairs hold their level. Best minus worst of the sample
    overestimates the gap, see `gap_test`. Raises `ValueError` without questions or with one column.
    """
    n, columns = matrix.shape
    if not n or columns < 2:
        raise ValueError(f"need questions and two columns for a gap, got {n} and {columns}")
    pairs = _ordered_pairs(columns)
    contrasts = moments(matrix, pairs, clusters)
    best = contrasts.value.argmax()
    lows, highs = contrasts.limits(1 - (1 - confidence) / pairs.shape[1])[0], contrasts.limits(confidence)[1]
    return Estimate(float(contrasts.value[best]), max(0.0, float(lows.max())), float(highs.max()))


def _ordered_pairs(columns: int) -> np.ndarray:
    """(columns, pairs): the weights of the difference of each pair of columns, in both orders."""
    firsts, others = np.array(list(permutations(range(columns), 2))).T
    return np.eye(columns)[:, firsts] - np.eye(columns)[:, others]


def gap_difference(
    first: np.ndarray, other: np.ndarray, clusters: np.ndarray | None = None, confidence: float = 0.95
) -> tuple[Estimate, float]:
    """Best minus worst column mean, minus the same of as many other columns, on the same questions; and two-sided p.

    With aᵢ and bⱼ the differences of the I ordered pairs of columns of each side, the true difference of the gaps is
    θ = max aᵢ - max bⱼ = minⱼ maxᵢ (aᵢ - bⱼ) = maxᵢ minⱼ (aᵢ - bⱼ). Each aᵢ - bⱼ has the limits lᵢⱼ and uᵢⱼ of
    `contrast_interval` at 1 - (1 - confidence)/I, and θ has minⱼ maxᵢ lᵢⱼ and maxᵢ minⱼ uᵢⱼ. For the true best pair j
    of the other side aᵢ - bⱼ ≤ θ for every i, so the lower limit is above θ only if one of I limits is too high, and
    likewise the upper one: each errs with a chance of at most (1 - confidence)/2 (Bonferroni), although the sample
    chooses best and worst. p is below 1 - confidence where the interval excludes 0.
    """
    pairs = _ordered_pairs(first.shape[1])
    count = pairs.shape[1]
    weights = np.vstack([np.repeat(pairs, count, axis=1), -np.tile(pairs, count)])
    contrasts = moments(np.hstack([first, other]), weights, clusters)
    values, centres, errors = (
        flat.reshape(count, count) for flat in (contrasts.value, contrasts.centre, contrasts.standard_error)
    )
    best = (first.sum(axis=0) @ pairs).argmax(), (other.sum(axis=0) @ pairs).argmax()
    value = float(values[best])
    if not contrasts.df:
        return Estimate(value, -1.0, 1.0), 1.0
    lows, highs = (flat.reshape(count, count) for flat in contrasts.limits(1 - (1 - confidence) / count))
    low, high = float(lows.max(axis=0).min()), float(highs.min(axis=1).max())
    t = np.divide(centres, errors, out=np.zeros_like(errors), where=errors > 0)
    below, above = special.stdtr(contrasts.df, -t), special.stdtr(contrasts.df, t)
    p = 2 * count * min(below.min(axis=0).max(), above.min(axis=1).max())
    return Estimate(value, max(-1.0, low), min(1.0, high)), min(1.0, float(p))


def proportion(answers: np.ndarray, clusters: np.ndarray | None = None) -> Estimate | None:
    """The share of right answers, or the mean of graded ones, with `clustered_interval`; None without answers."""
    return (
        Estimate(float(answers.sum()) / answers.size, *clustered_interval(answers, clusters)) if len(answers) else None
    )


def mean_of_numbers(values: np.ndarray, clusters: np.ndarray | None = None) -> Moments | None:
    """The mean of one number without bounds a question, such as a paired difference in nats, for Student's interval
    (`intervals.mean_error`); None with a single question or cluster, or without any.
    """
    if not len(values):
        return None
    error, df = mean_error(values, float(values.mean()), clusters)
    return Moments(values.mean(), values.mean(), np.array(error), df, np.inf) if df else None


def unpaired_difference(correct: int, n: int, other_correct: int, other_n: int) -> Estimate:
    """Difference p₁ - p₂ of two independent proportions, with Newcombe's (1998, method 10) hybrid score interval.

    With Wilson's limits l and u of each: p₁ - p₂ - √((p₁-l₁)² + (u₂-p₂)²) to p₁ - p₂ + √((u₁-p₁)² + (p₂-l₂)²).
    """
    first, other = (
        Estimate(right / total, *wilson_interval(right, total))
        for right, total in ((correct, n), (other_correct, other_n))
    )
    return separate_difference(first, other)


def separate_difference(first: Estimate, other: Estimate) -> Estimate:
    """The difference of two quantities that are estimated separately (Zou & Donner 2008, Statist. Med. 27, 1693-1702).

    d - √((a - aₗ)² + (bᵤ - b)²) to d + √((aᵤ - a)² + (b - bₗ)²), d = a - b: exact if the two are independent,
    conservative if they are positively correlated, as quantities of the same questions are.
    """
    value = first.value - other.value
    below = hypot(first.value - first.low, other.high - other.value)
    above = hypot(first.high - first.value, other.value - other.low)
    return Estimate(value, value - below, value + above)


# --- Tests -----------------------------------------------------------------------------------------------------


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


# --- Resampling ------------------------------------------------------------------------------------------------


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


def utilisation(answers: np.ndarray, clusters: np.ndarray | None = None) -> Estimate | None:
    """Utilisation of the context, u = (accuracy - closed book)/(oracle - closed book), with Fieller's (1954) interval.

    answers: (questions, 3), the three in this order. The interval has every u for which 0 is within `contrast_interval`
    of accuracy - u·oracle - (1 - u)·closed book, so it is paired. The value may be below 0 or above 1. None unless the
    whole 99 % interval of oracle - closed book is above 0: otherwise the ratio is meaningless, and the interval may
    have no end.
    """
    answers = as_answers(answers)
    if not len(answers) or contrast_interval(answers, [0, -1, 1], clusters, confidence=0.99).low <= 0:
        return None
    right, without, most = answers.sum(axis=0).tolist()
    value = (right - without) / (most - without)

    def is_inside(u: float) -> bool:
        difference = contrast_interval(answers, [1, u - 1, -u], clusters)
        return difference.low <= 0 <= difference.high

    def limit(step: float) -> float:
        inside, outside = value, value + step
        while is_inside(outside):
            inside, outside = outside, 2 * outside - value
        for _ in range(BISECTIONS):
            tried = (inside + outside) / 2
            inside, outside = (tried, outside) if is_inside(tried) else (inside, tried)
        return inside

    return Estimate(value, limit(-1), limit(1))


def as_answers(matrix: np.ndarray) -> np.ndarray:
    """The matrix as integers, or as fractions if answers are graded; `ValueError` unless it has rows, columns, and
    cells from 0 to 1.
    """
    matrix = np.asarray(matrix)
    if matrix.ndim != 2 or not ((matrix >= 0) & (matrix <= 1)).all():
        raise ValueError(f"need rows and columns of numbers from 0 to 1, got shape {matrix.shape} and other cells")
    return matrix.astype(float) if is_graded(matrix) else matrix.astype(np.int64)


# --- Conclusions -----------------------------------------------------------------------------------------------
#
# A difference is *shown* if its p value, corrected for the number of tests in its family (`p_holm`), is below 0.05. The
# same rule decides words, stars and verdicts. An interval of 95 % without a correction tells how large a difference may
# be, and decides nothing: of twenty intervals of no difference one excludes 0. Intervals of claims and sizes have the
# corrected confidence, so that they and p agree.

#: What a single 95 % interval says: all of it is above 0, below 0, or neither.
ABOVE, BELOW, OPEN = "above 0", "below 0", "contains 0"


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
