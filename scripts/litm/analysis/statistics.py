"""Estimates of accuracies and of their contrasts: small pure functions with formula and source in each docstring.

A matrix has one row per question and one column per position (or model, or condition); a cell is 1 if the answer is
right, 0 if it is wrong, and a number between for a graded metric. The question is the unit: questions are independent,
answers to one question are not, so columns are always compared within questions. No function returns NaN: a value that
cannot be computed is None, or the function raises `ValueError`.

`clusters` has one integer per question, for questions about one article, from one source, or made from one template;
None without. Answers to questions of one cluster correlate, so n questions carry less information than n independent
ones, and intervals that count questions are too narrow (Miller 2024, "Adding error bars to evals", section 2.2). With
clusters the cluster is the unit: clusters are independent, questions of one are not. This is meant for ten clusters of
equal size, or unequal ones that are worth as much: with fewer, intervals may cover less than their nominal confidence.

Judged answers with labels of a person (`Labelled`) take the place of a matrix where a function says so: `moments` then
corrects each contrast by the labels, and so everything that is made of contrasts.

Distributions are those of scipy.special: importing scipy.stats adds 0.7 s to each table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import hypot, sqrt

import numpy as np
from scipy import special

from litm.base.intervals import cluster_factors, clustered_interval, is_graded, mean_error, wilson_interval
from litm.scoring.judge_error import Labelled, corrected_accuracy

#: Smallest reported p value: a smaller one would underflow to 0, which cannot be corrected.
SMALLEST_P = float(np.finfo(float).tiny)
Weights = Sequence[float] | np.ndarray
#: Answers whose contrasts are wanted: a matrix, or judged answers with labels.
Answers = np.ndarray | Labelled
#: Halvings of an interval of 1 or more until its limit is known to more digits than are written.
BISECTIONS = 40


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


def further_lost(t: float | np.ndarray) -> float | np.ndarray:
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
    df: float | np.ndarray
    """Degrees of freedom, 0 for a single cluster; of contrasts that are corrected by labels each its own."""
    most: float
    """The largest possible contrast, infinite for numbers without bounds."""

    def limits(self, confidence: float, of_small: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """The limits of `contrast_interval`; of_small: those that show a contrast to be small (`further_lost`)."""
        if not np.all(self.df):
            return np.full_like(self.value, -self.most), np.full_like(self.value, self.most)
        t = special.stdtrit(self.df, (1 + confidence) / 2)
        lows, highs = self.centre - t * self.standard_error, self.centre + t * self.standard_error
        if of_small and np.isfinite(self.most):
            lows, highs = -self._farther(t, -lows, -self.centre), self._farther(t, highs, self.centre)
        # The value last: rounding may put it above the largest possible one.
        lows = np.minimum(np.maximum(-self.most, lows), self.value)
        return lows, np.maximum(np.minimum(self.most, highs), self.value)

    def _farther(self, t: float | np.ndarray, limits: np.ndarray, centre: np.ndarray) -> np.ndarray:
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


def contrast_interval(
    matrix: Answers, weights: Weights, clusters: np.ndarray | None = None, confidence: float = 0.95
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


def moments(matrix: Answers, weights: Weights, clusters: np.ndarray | None = None) -> Moments:
    """See `contrast_interval`; weights: of each column, or (columns, contrasts) for several contrasts.

    Judged answers with labels have their own clusters, see `corrected_moments`.
    """
    if isinstance(matrix, Labelled):
        return corrected_moments(matrix, weights)
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
    if not plain.df:
        return plain
    error = plain.standard_error**2
    df = (error + added) ** 2 / (error**2 / plain.df + over_df)
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


def design_effect(matrix: Answers, weights: Weights, clusters: np.ndarray | None) -> float:
    """Factor (at least 1) by which clusters raise the number of questions for an interval of the same width; of judged
    answers also the error of the labels, if these become more with the questions.

    It is the squared ratio of the widths of `contrast_interval` with and without clusters, so it includes variance and
    quantile of t; of several contrasts (`moments`) the mean ratio. 1 without clusters and labels.
    """
    if clusters is None and not isinstance(matrix, Labelled):
        return 1.0
    robust, plain = moments(matrix, weights, clusters), moments(verdicts_of(matrix), weights)
    if not np.all(robust.df):
        return float(matrix.shape[0])
    widths = [special.stdtrit(contrast.df, 0.975) * contrast.standard_error for contrast in (robust, plain)]
    return max(1.0, float(np.mean((widths[0] / widths[1]) ** 2)))


def gap_interval(matrix: Answers, clusters: np.ndarray | None = None, confidence: float = 0.95) -> Estimate:
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
    pairs = ordered_pairs(columns)
    contrasts = moments(matrix, pairs, clusters)
    best = contrasts.value.argmax()
    lows, highs = contrasts.limits(1 - (1 - confidence) / pairs.shape[1])[0], contrasts.limits(confidence)[1]
    return Estimate(float(contrasts.value[best]), max(0.0, float(lows.max())), float(highs.max()))


def ordered_pairs(columns: int) -> np.ndarray:
    """(columns, pairs): the weights of the difference of each pair of columns, in both orders."""
    firsts, others = np.array(list(permutations(range(columns), 2))).T
    return np.eye(columns)[:, firsts] - np.eye(columns)[:, others]


def gap_difference(
    both: Answers, clusters: np.ndarray | None = None, confidence: float = 0.95
) -> tuple[Estimate, float]:
    """Best minus worst column mean of the first half of the columns, minus the same of the other half, on the same
    questions; and two-sided p.

    With aᵢ and bⱼ the differences of the I ordered pairs of columns of each side, the true difference of the gaps is
    θ = max aᵢ - max bⱼ = minⱼ maxᵢ (aᵢ - bⱼ) = maxᵢ minⱼ (aᵢ - bⱼ). Each aᵢ - bⱼ has the limits lᵢⱼ and uᵢⱼ of
    `contrast_interval` at 1 - (1 - confidence)/I, and θ has minⱼ maxᵢ lᵢⱼ and maxᵢ minⱼ uᵢⱼ. For the true best pair j
    of the other side aᵢ - bⱼ ≤ θ for every i, so the lower limit is above θ only if one of I limits is too high, and
    likewise the upper one: each errs with a chance of at most (1 - confidence)/2 (Bonferroni), although the sample
    chooses best and worst. p is below 1 - confidence where the interval excludes 0.
    """
    pairs = ordered_pairs(both.shape[1] // 2)
    count = pairs.shape[1]
    weights = np.vstack([np.repeat(pairs, count, axis=1), -np.tile(pairs, count)])
    contrasts = moments(both, weights, clusters)
    values, centres, errors = (
        flat.reshape(count, count) for flat in (contrasts.value, contrasts.centre, contrasts.standard_error)
    )
    value = float(values.max(axis=0).min())
    if not np.all(contrasts.df):
        return Estimate(value, -1.0, 1.0), 1.0
    lows, highs = (flat.reshape(count, count) for flat in contrasts.limits(1 - (1 - confidence) / count))
    low, high = float(lows.max(axis=0).min()), float(highs.min(axis=1).max())
    t = np.divide(centres, errors, out=np.zeros_like(errors), where=errors > 0)
    df = np.broadcast_to(contrasts.df, contrasts.value.shape).reshape(count, count)
    below, above = special.stdtr(df, -t), special.stdtr(df, t)
    p = 2 * count * min(below.min(axis=0).max(), above.min(axis=1).max())
    return Estimate(value, max(-1.0, low), min(1.0, high)), min(1.0, float(p))


def proportion(answers: Answers, clusters: np.ndarray | None = None) -> Estimate | None:
    """The share of right answers, or the mean of graded ones, with `clustered_interval`; None without answers.

    Of judged answers with labels it is corrected, see `judge_error.corrected_accuracy`.
    """
    if isinstance(answers, Labelled):
        return Estimate(*corrected_accuracy(answers))
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


def utilisation(answers: Answers, clusters: np.ndarray | None = None) -> Estimate | None:
    """Utilisation of the context, u = (accuracy - closed book)/(oracle - closed book), with Fieller's (1954) interval.

    answers: (questions, 3), the three in this order. The interval has every u for which 0 is within `contrast_interval`
    of accuracy - u·oracle - (1 - u)·closed book, so it is paired. The value may be below 0 or above 1. None unless the
    whole 99 % interval of oracle - closed book is above 0: otherwise the ratio is meaningless, and the interval may
    have no end.
    """
    if not answers.shape[0] or contrast_interval(answers, [0, -1, 1], clusters, confidence=0.99).low <= 0:
        return None
    gained, possible = moments(answers, np.array([[1, 0], [-1, -1], [0, 1]]), clusters).value.tolist()
    value = gained / possible

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


def verdicts_of(answers: Answers) -> np.ndarray:
    """The matrix; of judged answers with labels the verdicts of the judge."""
    return answers.verdicts if isinstance(answers, Labelled) else answers


def as_answers(matrix: np.ndarray) -> np.ndarray:
    """The matrix as integers, or as fractions if answers are graded; `ValueError` unless it has rows, columns, and
    cells from 0 to 1.
    """
    matrix = np.asarray(matrix)
    if matrix.ndim != 2 or not ((matrix >= 0) & (matrix <= 1)).all():
        raise ValueError(f"need rows and columns of numbers from 0 to 1, got shape {matrix.shape} and other cells")
    return matrix.astype(float) if is_graded(matrix) else matrix.astype(np.int64)
