"""Intervals of one proportion, such as an accuracy, a recall or a rate of flips.

The formulas are written out, because importing scipy.stats or statsmodels adds 0.7 s to each scoring job, which takes
hardly longer. The tests compare with both.
"""

import numpy as np
from scipy import special

#: Answers: below this number the interval is Clopper and Pearson's, see `binomial_interval`.
SMALL_N = 30


def wilson_interval(correct: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a proportion (Wilson 1927), as fractions.

    (p + z²/2n ± z·√(p(1-p)/n + z²/4n²)) / (1 + z²/n); it stays inside [0, 1] and is never empty, also for
    0 or n correct of n. Raises `ValueError` for n = 0: no answers, no interval.
    """
    check_counts(correct, n)
    p, z = correct / n, float(special.ndtri((1 + confidence) / 2))
    centre, scale = p + z**2 / (2 * n), 1 + z**2 / n
    half = z * float(np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)))
    # At 0 and n of n a limit equals the proportion exactly, which rounding can miss by one unit in the last place.
    return max(0.0, min(centre / scale - half / scale, p)), min(1.0, max(centre / scale + half / scale, p))


def clopper_pearson_interval(correct: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval for a proportion (Clopper & Pearson 1934), as fractions.

    Quantiles a/2 of Beta(k, n-k+1) and 1-a/2 of Beta(k+1, n-k), with 0 for the lower one at k = 0 and 1 for the upper
    one at k = n, a = 1 - confidence. It covers the truth in at least `confidence` of all samples, whatever the truth.
    """
    check_counts(correct, n)
    tail = (1 - confidence) / 2
    low = special.betaincinv(correct, n - correct + 1, tail) if correct else 0.0
    high = special.betainccinv(correct + 1, n - correct, tail) if correct < n else 1.0
    return float(low), float(high)


def agresti_coull_interval(correct: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Agresti & Coull's (1998) interval for a proportion, as fractions, cut at 0 and 1.

    p̃ ± z·√(p̃(1-p̃)/ñ) with ñ = n + z² and p̃ = (k + z²/2)/ñ: the centre of Wilson's interval, and never inside it.
    """
    check_counts(correct, n)
    z = float(special.ndtri((1 + confidence) / 2))
    more = n + z**2
    centre = (correct + z**2 / 2) / more
    half = z * float(np.sqrt(centre * (1 - centre) / more))
    return max(0.0, centre - half), min(1.0, centre + half)


def binomial_interval(correct: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Agresti & Coull's interval, cut where it is wider than Clopper & Pearson's; the latter alone for n < 30.

    Brown, Cai & DasGupta (2001) recommend Agresti & Coull's for n of 40 and more, because Wilson's covers too little
    near 0 and 1: at n = 30 to 100 only 90 to 93 % where the truth is between 96 and 99 %, which is where a model that
    finds nearly everything is. Agresti & Coull's covers 93.2 % at the least for truths from 2 to 99 % and every n from
    30 on (docs/evidence.md); for n < 30 the guaranteed interval is worth its width. The cut keeps certainty out:
    with one wrong answer the interval does not reach 100 %, and for none or all correct it is the exact one.
    """
    exact_low, exact_high = clopper_pearson_interval(correct, n, confidence)
    if n < SMALL_N:
        return exact_low, exact_high
    low, high = agresti_coull_interval(correct, n, confidence)
    return max(low, exact_low), min(high, exact_high)


def clustered_interval(right: np.ndarray, clusters: np.ndarray | None, confidence: float = 0.95) -> tuple[float, float]:
    """The interval for the proportion of right answers to questions in clusters, or for the mean of graded answers: the
    binomial one at the effective sample size; `binomial_interval` if answers are right or wrong and clusters is None.

    right: for each question, 0 to 1, or a row of its answers at several positions, which then form a cluster or are
    part of the question's. clusters: a whole number for each question. n* = n/deff · (z/t(df))² (Korn & Graubard 1998;
    Dean & Pagano 2015 compare such intervals), with the design effect and df of `answers_effect`. If all or none are
    right, n* is n²/Σk² for clusters of k answers, their number if they are equal. A single cluster has no interval
    narrower than 0 to 1.
    """
    if right.ndim > 1 and right.shape[1] > 1:
        clusters = np.repeat(np.arange(len(right)) if clusters is None else clusters, right.shape[1])
    right = right.ravel()
    n, total = len(right), float(right.sum())
    if clusters is None:
        if not is_graded(right):
            return binomial_interval(total, n, confidence)
        clusters = np.arange(n)
    sizes = np.bincount(clusters)
    if sizes.max() == n:
        return 0.0, 1.0
    worth = float(n**2 / (sizes**2).sum())
    if 0 < total < n:
        effect, df = answers_effect(right, clusters)
        z, t = special.ndtri((1 + confidence) / 2), special.stdtrit(df, (1 + confidence) / 2)
        worth = n / effect * float(z / t) ** 2
    return binomial_interval(total / n * worth, worth, confidence)


def answers_effect(right: np.ndarray, clusters: np.ndarray) -> tuple[float, float]:
    """The design effect (cluster-robust variance of the mean)/(p(1-p)/n) of answers in clusters, and its degrees of
    freedom (`cluster_factors`). It is at least 1, except for graded answers, which differ less than right and wrong.

    Two further clusters of the mean size count, one all right and one all wrong, like the further questions of
    `contrast_interval`. Without them, the few wrong answers of a model that is nearly always right look independent of
    one another, even if other clusters are all wrong.
    """
    added = round(len(right) / np.count_nonzero(np.bincount(clusters)))
    answers = np.concatenate([right, np.repeat([1, 0], added)])
    codes = np.concatenate([clusters, clusters.max() + np.repeat([1, 2], added)])
    p = answers.mean()
    error, df = mean_error(answers, p, codes)
    return max(0.0 if is_graded(right) else 1.0, error**2 * len(answers) / (p * (1 - p))), df


def is_graded(answers: np.ndarray) -> bool:
    """Whether some answers are neither right (1) nor wrong (0)."""
    return bool(((answers != 0) & (answers != 1)).any())


def mean_error(values: np.ndarray, mean: float, clusters: np.ndarray | None) -> tuple[float, float]:
    """The standard error of the mean of n values, and its degrees of freedom.

    The error is SD/√n with n - 1 degrees of freedom; with clusters the cluster-robust one, see `cluster_factors`. A
    single question or cluster has 0 degrees of freedom.
    """
    codes = np.arange(len(values)) if clusters is None else clusters
    factors, df = cluster_factors(np.bincount(codes))
    return float(np.sqrt(factors @ np.bincount(codes, values - mean) ** 2)) / len(values), df


def cluster_factors(sizes: np.ndarray) -> tuple[np.ndarray, float]:
    """The factor of each cluster's squared sum in the variance of a mean, and the degrees of freedom of the variance.

    Large clusters have too small residuals, and a variance that few of them make is uncertain, whatever their number.
    With a cluster's share u of the questions the factor is 1/(1-u), and with q = u²/(1-u) the degrees of freedom are
    1/(Σu² + (Σq)² - Σq²) (Bell & McCaffrey 2002, for questions that do not correlate). G equal clusters have G/(G-1)
    and G-1 (Liang & Zeger 1986). A single cluster has 0 degrees of freedom.
    """
    shares = sizes / sizes.sum()
    if shares.max() == 1:
        return np.ones(len(sizes)), 0.0
    q = shares**2 / (1 - shares)
    return 1 / (1 - shares), float(1 / ((shares**2).sum() + q.sum() ** 2 - (q**2).sum()))


def check_counts(correct: float, n: float) -> None:
    """Raise `ValueError` unless 0 <= correct <= n and n > 0."""
    if not 0 <= correct <= n or n == 0:
        raise ValueError(f"need 0 <= correct <= n and n > 0, got correct={correct}, n={n}")
