"""Statistics of accuracies: small pure functions with formula and source in each docstring.

A matrix has one row per question and one column per position (or model, or condition); a cell is 1 if the answer is
right, 0 if it is wrong. The question is the unit: questions are independent, answers to one question are not, so
columns are always compared within questions. No function returns NaN: a value that cannot be computed is None, or the
function raises `ValueError`. Random numbers come from the generator that is passed in.

Distributions are those of scipy.special. Textbook tests are written out, because importing scipy.stats or statsmodels
adds 0.7 s to each table, which is as long as most tables take. The tests compare with both.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from litm.base.intervals import binomial_interval, check_counts, wilson_interval
from litm.base.messages import points

#: Level of significance: a smaller p value, corrected where there are several, is called more than chance.
SIGNIFICANT = 0.05
#: Smallest reported p value: a smaller one would underflow to 0, which cannot be corrected.
SMALLEST_P = float(np.finfo(float).tiny)
#: Cells of the array of bootstrap weights, at most: 32 MB.
WEIGHT_CELLS = 2**22


@dataclass(frozen=True)
class Estimate:
    """A value, its interval (95 % unless another confidence is asked for), and the standard error of the interval."""

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
    """Exact McNemar test of two columns. only_first: number of rows that are right in the first column only."""

    first: int
    second: int
    only_first: int
    only_second: int
    p_value: float
    p_holm: float


@dataclass(frozen=True)
class GapTest:
    """Best minus worst column mean, and its distribution if columns do not differ."""

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
    for the mean of the dᵢ and of two further questions: one with the largest possible contrast, D = Σⱼ |wⱼ|/2, and one
    with the smallest, -D:

        m = n·d̄/(n+2),  s² = (Σ dᵢ² + 2D²)/(n+2) - m²,  m ± t(n+1)·s/√(n+2)

    For two columns this is Bonett & Price's (2012) adjusted Wald interval (one further question in each cell of the 2
    by 2 table where the columns differ) with t instead of z; Fagerland, Lydersen & Laake (2014) recommend it for paired
    proportions. The two questions matter if few questions differ between positions: without them the interval has
    width 0 if none differs. Half a question each, as in Agresti & Min (2005), is too little near the ceiling: coverage
    is 87 % at accuracies of .99, .95 and .98 and n = 50, where bootstrap intervals cover 92 % (percentile) or 85 %
    (BCa); elsewhere these are no better either. Coverage is in docs/evidence.md. Limits are cut at -D and D, and always
    contain the value.

    Raises `ValueError` without questions, for cells other than 0 and 1, and for weights that do not sum to 0.
    """
    matrix, weight = _binary(matrix), np.asarray(weights, dtype=float)
    if weight.shape != matrix.shape[1:] or not np.isclose(weight.sum(), 0, atol=1e-9):
        raise ValueError(f"need a weight for each of {matrix.shape[1]} columns, sum 0, got {list(weights)}")
    if not len(matrix):
        raise ValueError("no questions, no interval")
    # Column sums are integers, so the order of the questions cannot change the last digit.
    total = float(matrix.sum(axis=0) @ weight)
    squares = float(weight @ (matrix.T @ matrix) @ weight)
    return _estimate(total, squares, len(matrix), weight, confidence)


def _estimate(total: float, squares: float, n: int, weights: np.ndarray, confidence: float) -> Estimate:
    low, high, standard_error = contrast_limits(np.array(total), np.array(squares), n, weights, confidence)
    return Estimate(total / n, float(low), float(high), float(standard_error))


def contrast_limits(
    totals: np.ndarray, squares: np.ndarray, n: int, weights: np.ndarray, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Limits and standard error of `contrast_interval`, from Σ dᵢ and Σ dᵢ² of any number of data sets."""
    values, centres = totals / n, totals / (n + 2)
    most = float(np.abs(weights).sum()) / 2
    variances = np.maximum(0.0, (squares + 2 * most**2) / (n + 2) - centres**2)
    standard_errors = np.sqrt(variances / (n + 2))
    halves = float(special.stdtrit(n + 1, (1 + confidence) / 2)) * standard_errors
    lows = np.maximum(-most, np.minimum(centres - halves, values))
    return lows, np.minimum(most, np.maximum(centres + halves, values)), standard_errors


def mean_interval(matrix: np.ndarray, confidence: float = 0.95) -> Estimate:
    """The mean over all columns, with its interval over the questions.

    Question i is right in the fraction sᵢ = Σⱼ xᵢⱼ/k of columns; the interval is Student's for their mean, s̄ ±
    t(n-1)·SD(s)/√n, cut at 0 and 1. It is `binomial_interval` if all fractions are 0 or all are 1, and for a single
    question. Raises `ValueError` without questions.
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

    The interval is made from those of all pairs of columns (`contrast_interval`). The true gap g is the difference of
    one pair. The upper limit is the largest of all pairs: it is below g only if that pair's limit is, so it needs no
    correction. The lower limit is also the largest of all pairs: it is above g only if some pair's limit is too high,
    so it is corrected for all k(k-1) ordered pairs (Bonferroni), and is at least 0. Each side errs with a chance of at
    most (1 - confidence)/2, if the intervals of the pairs hold their level. Best minus worst of the sample
    overestimates the gap, see `gap_test`. Raises `ValueError` without questions or with one column.
    """
    matrix = _binary(matrix)
    n, columns = matrix.shape
    if not n or columns < 2:
        raise ValueError(f"need questions and two columns for a gap, got {n} and {columns}")
    only = matrix.T @ (1 - matrix)
    pairs = [(int(only[a, b]), int(only[b, a])) for a, b in zip(*np.triu_indices(columns, k=1), strict=True)]
    # The two orders of a pair mirror each other, so the positive one is enough.
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
    """Test of equal columns: Cochran's (1950) Q, approximately χ² with k-1 degrees of freedom.

    Q = (k-1)·(k·Σⱼ Gⱼ² - G²) / (k·G - Σᵢ Lᵢ²) with column sums Gⱼ, row sums Lᵢ and the total G. Rows that are all right
    or all wrong do not count. Without other rows the denominator is 0, there is no evidence of a difference, and
    Q = 0, p = 1. Raises `ValueError` for fewer than two columns.
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
    """Exact two-sided McNemar test (McNemar 1947) of b and c, the questions right in only one of two columns.

    p = min(1, 2·P(X ≤ min(b, c))), X binomial with b + c trials of probability 1/2; 1 if no question differs, and never
    below `SMALLEST_P`.
    """
    return float(_mcnemar_p(np.array(only_first), np.array(only_second)))


def _mcnemar_p(only_first: np.ndarray, only_second: np.ndarray) -> np.ndarray:
    fewer, more = np.minimum(only_first, only_second), np.maximum(only_first, only_second)
    # P(X ≤ b) of b + c trials is the regularised incomplete beta function I(c, b + 1) at one half. It needs c > 0; the
    # value for b = 0 and c = 1 is the 1 that is needed if nothing differs.
    return np.clip(2 * special.betainc(np.maximum(more, 1), fewer + 1, 0.5), SMALLEST_P, 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's (1979) correction: the i-th smallest of m times m-i+1, never below that of a smaller one, at most 1.

    Equal to statsmodels' `multipletests`, which runs the garbage collector at each call (20 ms).
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
    """Difference of two columns from the numbers b and c of n questions that are right in only one of them.

    Value (b - c)/n, interval as in `contrast_interval`, p as in `mcnemar_p`. Raises `ValueError` for n = 0.
    """
    if min(only_first, only_second) < 0 or only_first + only_second > n or n == 0:
        raise ValueError(f"need {only_first} + {only_second} of {n} > 0 questions")
    estimate = _difference(only_first, only_second, n, confidence)
    return PairedDifference(estimate, n, only_first, only_second, mcnemar_p(only_first, only_second))


# --- Resampling ------------------------------------------------------------------------------------------------


def gap_test(matrix: np.ndarray, replicates: int, rng: np.random.Generator) -> GapTest:
    """Best minus worst column mean against its permutation null, with each question's cells in random order.

    Even without an effect of position the gap is above 0, because the best of several positions always exceeds the
    worst; the null gives its size. p = (1 + #{gap* ≥ gap}) / (1 + replicates) (Phipson & Smyth 2010), never 0;
    `null_95` is the smallest gap that at least 95 % of the replicates do not exceed. Raises `ValueError` without
    questions.
    """
    matrix = _binary(matrix)
    if not len(matrix):
        raise ValueError("no questions, no gap")
    return gap_against(np.ptp(permuted_sums(matrix, replicates, rng), axis=1), matrix)


def gap_against(null: np.ndarray, matrix: np.ndarray) -> GapTest:
    """The gap of a matrix compared with gaps under the null, from one row of column sums per replicate: `gap_test`."""
    n, gap, replicates = len(matrix), int(np.ptp(matrix.sum(axis=0))), len(null)
    return GapTest(
        gap=gap / n,
        null_mean=float(null.mean()) / n,
        null_95=float(np.quantile(null, 0.95, method="inverted_cdf")) / n,
        p_value=(1 + int((null >= gap).sum())) / (1 + replicates),
    )


def permuted_sums(matrix: np.ndarray, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """(replicates, columns): column sums after shuffling the cells of every row.

    They are drawn without shuffling. A row with j ones left for its last r columns has a one in the first of these with
    probability j/r, and rows with equal j are exchangeable. So the number of rows for each j is enough: one binomial
    number per j and column. The cost does not depend on the number of rows.
    """
    matrix = _binary(matrix)
    columns = matrix.shape[1]
    rows_with = np.tile(np.bincount(matrix.sum(axis=1), minlength=columns + 1), (replicates, 1))
    sums = np.zeros((replicates, columns), dtype=np.int64)
    for column in range(columns):
        left = columns - column
        # A row with as many ones as columns left has a one here; a row without ones has none.
        ones = rng.binomial(rows_with[:, 1:], np.minimum(1, np.arange(1, columns + 1) / left))
        sums[:, column] = ones.sum(axis=1)
        rows_with[:, 1:] -= ones
        rows_with[:, :-1] += ones
    return sums


def bootstrap_means(matrix: np.ndarray, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """(replicates, columns): column means of samples of whole rows with replacement, which keeps pairs together.

    The cluster bootstrap (Davison & Hinkley 1997, section 3.8) with the question as the cluster. Equal rows are
    exchangeable, so multinomial weights of the distinct rows are drawn. Cells may be any numbers. Raises `ValueError`
    without rows.
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
    """Utilisation of the context: (accuracy - closed book)/(oracle - closed book).

    All three are answers to the same questions in the same order; the interval is the paired percentile bootstrap. The
    value may be below 0 or above 1. None unless the whole 99 % interval of oracle - closed book is above 0: otherwise
    the ratio is meaningless, and bootstrap denominators below 0 would affect the limits.
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
    """The matrix as integers; `ValueError` unless it has rows, columns, and only 0 and 1."""
    matrix = np.asarray(matrix)
    if matrix.ndim != 2 or not np.isin(matrix, (0, 1)).all():
        raise ValueError(f"need rows and columns of 0 and 1, got shape {matrix.shape} and other cells")
    return matrix.astype(np.int64)


# --- Conclusions -----------------------------------------------------------------------------------------------
#
# A difference is *shown* if its p value, corrected for the number of tests in its family (`p_holm`), is below 0.05. The
# same rule decides words, stars and verdicts. An interval of 95 % without a correction tells how large a difference may
# be, and decides nothing: of twenty intervals of no difference one excludes 0. Intervals of claims and sizes have the
# corrected confidence, so that they and p agree.

#: What a single 95 % interval says: all of it is above 0, below 0, or neither.
ABOVE, BELOW, OPEN = "above 0", "below 0", "contains 0"


def with_holm(rows: Iterable[Mapping], p_value: str, corrected: str) -> list[dict]:
    """The rows with a further value `corrected`: `p_value` corrected by Holm (1979) over all rows that have one."""
    made = [{**row, corrected: None} for row in rows]
    tested = [row for row in made if not pd.isna(row.get(p_value))]
    for row, value in zip(tested, holm([row[p_value] for row in tested]), strict=True):
        row[corrected] = value
    return made


def difference_in_words(difference: float, p_holm: float) -> str:
    """`3.2 points higher`, or `not shown to differ`."""
    if p_holm >= SIGNIFICANT:
        return "not shown to differ"
    return f"{points(abs(difference)).removeprefix('+')} {'higher' if difference > 0 else 'lower'}"


def conclusion(estimate: Estimate) -> str:
    """The conclusion from an interval: `ABOVE`, `BELOW` or `OPEN`."""
    return ABOVE if estimate.low > 0 else BELOW if estimate.high < 0 else OPEN


def changes_sign(one: Estimate, other: Estimate) -> bool:
    """Whether two readings of the same answers lead to different conclusions."""
    return conclusion(one) != conclusion(other)
