"""Statistics of accuracies: small pure functions, the formula and its source in each docstring.

A matrix has a row a question and a column a position (or a model, or a condition); a cell is 1 where the answer was
right, 0 where it was wrong. The question is the unit: questions are independent, the answers to one question are
not, so every comparison of columns is made within questions. Nothing here returns NaN: what cannot be computed is
None or a `ValueError`. Random numbers come from the generator that is passed in.

Distributions are those of scipy.special. Textbook tests are written out, because scipy.stats or statsmodels adds 0.7 s
to the start of each table, as much as most take in all. The tests compare with both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from litm.base.intervals import binomial_interval, check_counts, wilson_interval

#: The smallest p value that is told: a smaller one would be a zero, which no one can correct.
SMALLEST_P = float(np.finfo(float).tiny)
#: Most cells of the array of bootstrap weights: 32 MB.
WEIGHT_CELLS = 2**22


@dataclass(frozen=True)
class Estimate:
    """A value, its 95 % interval (or the confidence asked for), and the standard error the interval is made of."""

    value: float
    low: float
    high: float
    standard_error: float


@dataclass(frozen=True)
class CochransQ:
    statistic: float
    df: int
    p_value: float


@dataclass(frozen=True)
class PairTest:
    """Exact McNemar test of two columns. `only_first`: rows that are right in the first of them alone."""

    first: int
    second: int
    only_first: int
    only_second: int
    p_value: float
    p_holm: float


@dataclass(frozen=True)
class GapTest:
    """Best minus worst column mean, and what it would be if the column made no difference."""

    gap: float
    null_mean: float
    null_95: float
    p_value: float


@dataclass(frozen=True)
class PairedDifference:
    """Mean of the first minus mean of the second on the same n questions; exact McNemar p."""

    estimate: Estimate
    n: int
    only_first: int
    only_second: int
    p_value: float


# --- Contrasts of columns --------------------------------------------------------------------------------------


def contrast_interval(matrix: np.ndarray, weights: Sequence[float], confidence: float = 0.95) -> Estimate:
    """A contrast of column means, such as (start + end)/2 - middle, with its interval paired by question.

    The contrast of question i is dᵢ = Σⱼ wⱼ·xᵢⱼ, Σⱼ wⱼ = 0, and the value is their mean d̄. The interval is Student's
    for the mean of the dᵢ and of two more questions: one with the greatest contrast there can be, D = Σⱼ |wⱼ|/2, and
    one with the least, -D. So

        m = n·d̄/(n+2),  s² = (Σ dᵢ² + 2D²)/(n+2) - m²,  m ± t(n+1)·s/√(n+2)

    For two columns this is Bonett & Price's (2012) adjusted Wald interval, one question more in each cell of the 2 by 2
    table where the columns differ, with t for z; Fagerland, Lydersen & Laake (2014) recommend it for paired
    proportions. The two questions matter where few questions differ between positions: without them the interval has
    no width if none differs. Half of them, as Agresti & Min (2005) add, is too little near the ceiling: 87 % coverage
    at accuracies of .99, .95 and .98 and n = 50. Coverage is in docs/evidence.md. The bootstrap sees no more than the
    sample does either, so its intervals are no better elsewhere and cover 92 % (percentile) or 85 % (BCa) there.
    Limits are cut at -D and D, and always contain the value.

    Raises `ValueError` without questions, for cells other than 0 and 1, and for weights that do not sum to 0.
    """
    matrix, weight = _binary(matrix), np.asarray(weights, dtype=float)
    if weight.shape != matrix.shape[1:] or not np.isclose(weight.sum(), 0, atol=1e-9):
        raise ValueError(f"need a weight for each of {matrix.shape[1]} columns, sum 0, got {list(weights)}")
    if not len(matrix):
        raise ValueError("no questions, no interval")
    # From the column sums, which are whole numbers: the order of the questions cannot change the last digit.
    total = float(matrix.sum(axis=0) @ weight)
    squares = float(weight @ (matrix.T @ matrix) @ weight)
    return _estimate(total, squares, len(matrix), weight, confidence)


def _estimate(total: float, squares: float, n: int, weights: np.ndarray, confidence: float) -> Estimate:
    low, high, standard_error = contrast_limits(np.array(total), np.array(squares), n, weights, confidence)
    return Estimate(total / n, float(low), float(high), float(standard_error))


def contrast_limits(
    totals: np.ndarray, squares: np.ndarray, n: int, weights: np.ndarray, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The limits of `contrast_interval` and its standard error, from Σ dᵢ and Σ dᵢ² of any number of data sets."""
    values, centres = totals / n, totals / (n + 2)
    most = float(np.abs(weights).sum()) / 2
    variances = np.maximum(0.0, (squares + 2 * most**2) / (n + 2) - centres**2)
    standard_errors = np.sqrt(variances / (n + 2))
    halves = float(special.stdtrit(n + 1, (1 + confidence) / 2)) * standard_errors
    lows = np.maximum(-most, np.minimum(centres - halves, values))
    return lows, np.minimum(most, np.maximum(centres + halves, values)), standard_errors


def mean_interval(matrix: np.ndarray, confidence: float = 0.95) -> Estimate:
    """The mean over all columns, with its interval over the questions.

    Of question i the share right is sᵢ = Σⱼ xᵢⱼ/k, and the interval is Student's for their mean, s̄ ± t(n-1)·SD(s)/√n,
    cut at 0 and 1; `binomial_interval` where all shares are 0 or all are 1, and for a single question. Raises
    `ValueError` without questions.
    """
    matrix = _binary(matrix)
    n = len(matrix)
    if not n:
        raise ValueError("no questions, no interval")
    value = int(matrix.sum()) / matrix.size
    if n == 1 or value in (0, 1):
        return Estimate(value, *binomial_interval(round(value * n), n, confidence), 0.0)
    standard_error = float(matrix.mean(axis=1).std(ddof=1) / np.sqrt(n))
    half = float(special.stdtrit(n - 1, (1 + confidence) / 2)) * standard_error
    return Estimate(value, max(0.0, value - half), min(1.0, value + half), standard_error)


def unpaired_difference(correct: int, n: int, other_correct: int, other_n: int, confidence: float = 0.95) -> Estimate:
    """Difference p₁ - p₂ of two independent proportions, with Newcombe's (1998, method 10) hybrid score interval.

    With Wilson's limits l and u of each: p₁ - p₂ - √((p₁-l₁)² + (u₂-p₂)²) to p₁ - p₂ + √((u₁-p₁)² + (p₂-l₂)²). The
    standard error is the unpooled one. Raises `ValueError` for n = 0.
    """
    check_counts(correct, n)
    check_counts(other_correct, other_n)
    p, other = correct / n, other_correct / other_n
    low, high = wilson_interval(correct, n, confidence)
    other_low, other_high = wilson_interval(other_correct, other_n, confidence)
    return Estimate(
        value=p - other,
        low=p - other - float(np.hypot(p - low, other_high - other)),
        high=p - other + float(np.hypot(high - p, other - other_low)),
        standard_error=float(np.sqrt(p * (1 - p) / n + other * (1 - other) / other_n)),
    )


def gap_interval(matrix: np.ndarray, confidence: float = 0.95) -> Estimate:
    """Best minus worst column mean, and an interval for the best minus the worst of the true accuracies.

    From the intervals of all pairs of columns, each as in `contrast_interval`. The true gap g is that of some pair, so
    the greatest upper limit of all pairs is below g only if that of this one pair is: it needs no correction. Its
    lower limit is the greatest of all pairs and above g only if that of some pair is too high, so it is corrected
    for all k(k-1) ordered pairs by Bonferroni's inequality, and cut at 0. So each side errs in at most
    (1 - confidence)/2, as far as the intervals of the pairs do. The best and the worst of the sample alone would
    give a gap that is too large, see `gap_test`. Raises `ValueError` without questions or with one column.
    """
    matrix = _binary(matrix)
    n, columns = matrix.shape
    if not n or columns < 2:
        raise ValueError(f"need questions and two columns for a gap, got {n} and {columns}")
    only = matrix.T @ (1 - matrix)
    pairs = [(int(only[a, b]), int(only[b, a])) for a, b in zip(*np.triu_indices(columns, k=1), strict=True)]
    # Of each pair the two sides mirror each other, so that the positive one is enough.
    counts = [(max(pair), min(pair)) for pair in pairs]
    corrected = 1 - (1 - confidence) / (columns * (columns - 1))
    uppers = [_difference(more, fewer, n, confidence).high for more, fewer in counts]
    lowers = [_difference(more, fewer, n, corrected).low for more, fewer in counts]
    more, fewer = max(counts, key=lambda pair: pair[0] - pair[1])
    best = _difference(more, fewer, n, confidence)
    return Estimate(best.value, max(0.0, *lowers), max(uppers), best.standard_error)


def _difference(only_first: int, only_second: int, n: int, confidence: float) -> Estimate:
    return _estimate(only_first - only_second, only_first + only_second, n, np.array([1.0, -1.0]), confidence)


# --- Tests -----------------------------------------------------------------------------------------------------


def cochrans_q(matrix: np.ndarray) -> CochransQ:
    """Is any column different? Cochran's (1950) Q, approximately χ² with k-1 degrees of freedom.

    Q = (k-1)·(k·Σⱼ Gⱼ² - G²) / (k·G - Σᵢ Lᵢ²) with column sums Gⱼ, row sums Lᵢ and the total G. Rows that are all right
    or all wrong do not enter. Where there is no other row the denominator is 0, nothing speaks for a difference,
    and Q = 0, p = 1. Raises `ValueError` for fewer than two columns.
    """
    matrix = _binary(matrix)
    columns = matrix.shape[1]
    if columns < 2:
        raise ValueError(f"need at least two columns to compare, got {columns}")
    in_column, in_row, total = matrix.sum(axis=0), matrix.sum(axis=1), int(matrix.sum())
    mixed = columns * total - int(in_row @ in_row)
    if not mixed:
        return CochransQ(0.0, columns - 1, 1.0)
    statistic = (columns - 1) * (columns * int(in_column @ in_column) - total**2) / mixed
    return CochransQ(statistic, columns - 1, max(SMALLEST_P, float(special.chdtrc(columns - 1, statistic))))


def mcnemar_p(only_first: int, only_second: int) -> float:
    """Exact two-sided McNemar test (McNemar 1947): are b and c, the questions right in one column alone, a fair split?

    min(1, 2·P(X ≤ min(b, c))), X binomial with b + c throws of a fair coin; 1 if no question differs, and never below
    `SMALLEST_P`.
    """
    return float(_mcnemar_p(np.array(only_first), np.array(only_second)))


def _mcnemar_p(only_first: np.ndarray, only_second: np.ndarray) -> np.ndarray:
    fewer, more = np.minimum(only_first, only_second), np.maximum(only_first, only_second)
    # P(X ≤ b) of b + c throws is the regularised incomplete beta function I(c, b + 1) at one half. It needs c > 0; that
    # of b = 0 and c = 1 gives the 1 that is wanted where nothing differs.
    return np.clip(2 * special.betainc(np.maximum(more, 1), fewer + 1, 0.5), SMALLEST_P, 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's (1979) correction: the i-th smallest of m times m-i+1, never below that of a smaller one, at most 1.

    As statsmodels' `multipletests`, which collects the garbage of the whole program at each call (20 ms).
    """
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values, kind="stable")
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(1, np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)))
    return corrected.tolist()


def mcnemar_pairs(matrix: np.ndarray) -> list[PairTest]:
    """`mcnemar_p` for every pair of columns in their order, with `holm` over all of them; [] for one column."""
    matrix = _binary(matrix)
    only = matrix.T @ (1 - matrix)
    first, second = np.triu_indices(matrix.shape[1], k=1)
    p_values = _mcnemar_p(only[first, second], only[second, first]).tolist()
    columns = (first.tolist(), second.tolist(), only[first, second].tolist(), only[second, first].tolist())
    return [PairTest(*pair) for pair in zip(*columns, p_values, holm(p_values), strict=True)]


def paired_difference(only_first: int, only_second: int, n: int, confidence: float = 0.95) -> PairedDifference:
    """Difference of two columns from what they differ in: b and c of n questions are right in one of them alone.

    Value (b - c)/n, interval as in `contrast_interval`, p as in `mcnemar_p`. Raises `ValueError` for n = 0.
    """
    if min(only_first, only_second) < 0 or only_first + only_second > n or n == 0:
        raise ValueError(f"need {only_first} + {only_second} of {n} > 0 questions")
    estimate = _difference(only_first, only_second, n, confidence)
    return PairedDifference(estimate, n, only_first, only_second, mcnemar_p(only_first, only_second))


# --- Resampling ------------------------------------------------------------------------------------------------


def gap_test(matrix: np.ndarray, replicates: int, rng: np.random.Generator) -> GapTest:
    """Best minus worst column mean against its permutation null: the cells of each question in random order.

    The gap of a model without any position effect is not 0, as the best of many is always better than the worst;
    this is how large it is. p = (1 + #{gap* ≥ gap}) / (1 + replicates) (Phipson & Smyth 2010), never 0; `null_95` is
    the smallest gap that at least 95 % of the replicates do not exceed. Raises `ValueError` without questions.
    """
    matrix = _binary(matrix)
    if not len(matrix):
        raise ValueError("no questions, no gap")
    return gap_against(np.ptp(permuted_sums(matrix, replicates, rng), axis=1), matrix)


def gap_against(null: np.ndarray, matrix: np.ndarray) -> GapTest:
    """The gap of a matrix beside the gaps of its column sums under the null, one a replicate; see `gap_test`."""
    n, gap, replicates = len(matrix), int(np.ptp(matrix.sum(axis=0))), len(null)
    return GapTest(
        gap=gap / n,
        null_mean=float(null.mean()) / n,
        null_95=float(np.quantile(null, 0.95, method="inverted_cdf")) / n,
        p_value=(1 + int((null >= gap).sum())) / (1 + replicates),
    )


def permuted_sums(matrix: np.ndarray, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Column sums after the cells of every row were shuffled: (replicates, columns).

    Drawn without shuffling. A row with j ones left for its r last columns has a one in the first of these with
    probability j/r, and rows with the same j are alike, so it is enough to know how many rows have each j: one
    binomial number for each j and column. The cost does not depend on the number of rows.
    """
    matrix = _binary(matrix)
    columns = matrix.shape[1]
    rows_with = np.tile(np.bincount(matrix.sum(axis=1), minlength=columns + 1), (replicates, 1))
    sums = np.zeros((replicates, columns), dtype=np.int64)
    for column in range(columns):
        left = columns - column
        # A row with `left` ones has one here for certain, a row without any cannot.
        ones = rng.binomial(rows_with[:, 1:], np.minimum(1, np.arange(1, columns + 1) / left))
        sums[:, column] = ones.sum(axis=1)
        rows_with[:, 1:] -= ones
        rows_with[:, :-1] += ones
    return sums


def bootstrap_means(matrix: np.ndarray, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Column means of samples of the rows with replacement: (replicates, columns); whole rows, so pairs stay pairs.

    The cluster bootstrap (Davison & Hinkley 1997, section 3.8) with the question as the cluster. Equal rows are
    interchangeable, so what is drawn is how often each distinct row occurs: multinomial weights times distinct rows.
    Any numbers will do, not only 0 and 1. Raises `ValueError` without rows.
    """
    matrix = np.asarray(matrix, dtype=float)
    n = len(matrix)
    if not n:
        raise ValueError("no questions, no bootstrap")
    rows, counts = np.unique(matrix, axis=0, return_counts=True)
    chunk = max(1, WEIGHT_CELLS // len(rows))
    means = np.empty((replicates, matrix.shape[1]))
    for start in range(0, replicates, chunk):
        weights = rng.multinomial(n, counts / n, size=min(chunk, replicates - start))
        means[start : start + chunk] = weights @ rows / n
    return means


def percentile_interval(replicates: np.ndarray, confidence: float = 0.95) -> tuple[float, float]:
    """The percentile bootstrap interval (Efron 1979) of one quantity, from its bootstrap replicates."""
    low, high = np.quantile(replicates, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def utilisation(
    correct: np.ndarray, closed_book: np.ndarray, oracle: np.ndarray, replicates: int, rng: np.random.Generator
) -> Estimate | None:
    """The share of what the context could give that the model takes from it: (acc - closed)/(oracle - closed).

    All three are answers to the same questions in the same order; interval by the paired percentile bootstrap. It can
    be below 0 or above 1. None unless oracle - closed book is clearly above 0, that is with its whole 99 % interval:
    the ratio means nothing without it, and a bootstrap denominator is then below 0 too rarely to reach the limits.
    """
    answers = _binary(np.column_stack([correct, closed_book, oracle]))
    if not len(answers) or contrast_interval(answers, [0, -1, 1], confidence=0.99).low <= 0:
        return None
    return share_gained(answers, bootstrap_means(answers, replicates, rng))


def share_gained(answers: np.ndarray, means: np.ndarray) -> Estimate | None:
    """The ratio of `utilisation` with its percentile interval; means: (replicates, 3), or any multiple of a row."""
    gained, gainable = means[:, 0] - means[:, 1], means[:, 2] - means[:, 1]
    usable = gainable > 0
    ratios = np.where(usable, gained / np.where(usable, gainable, 1), np.copysign(np.inf, gained))
    low, high = percentile_interval(ratios)
    if not np.isfinite([low, high]).all():
        return None
    value = float((answers[:, 0].sum() - answers[:, 1].sum()) / (answers[:, 2].sum() - answers[:, 1].sum()))
    return Estimate(value, low, high, float(ratios[usable].std()))


def _binary(matrix: np.ndarray) -> np.ndarray:
    """The matrix as whole numbers, if it has rows and columns of 0 and 1 alone."""
    matrix = np.asarray(matrix)
    if matrix.ndim != 2 or not np.isin(matrix, (0, 1)).all():
        raise ValueError(f"need rows and columns of 0 and 1, got shape {matrix.shape} and other cells")
    return matrix.astype(np.int64)
