"""What difference between positions n questions can show, and how many questions show a difference.

What is planned with is a curve of three positions: an accuracy, a correlation of right and wrong between positions of
one question, and an effect. A difference counts as shown where its 95 % interval (`statistics.contrast_interval`) lies
on the right side of 0, which is what the tables and the report say.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import special

from litm.analysis.pbi import CONTRASTS

#: The chance with which an effect has to be shown, and the confidence of the interval that shows it.
POWER, CONFIDENCE = 0.8, 0.95
#: The difference that n is told for: 5 points, the bound of a flat Position Bias Index.
FIVE_POINTS = 0.05
#: More questions than this are not told.
MOST_QUESTIONS = 10**7
#: Up to so many questions a chance is summed exactly, of two positions and of the Position Bias Index.
MOST_EXACT, MOST_EXACT_INDEX = 2_000, 60
#: What is assumed where nothing is known: the accuracy with the largest spread, and a correlation at the lower end of
#: what models have (docs/evidence.md), which also asks for more questions than a higher one.
ASSUMED_ACCURACY, ASSUMED_CORRELATION = 0.5, 0.5

#: All answers to start, middle and end.
_PATTERNS = np.array(list(product((0, 1), repeat=3)))
#: Values of what the three answers to a question have in common, and how much each counts: a normal distribution.
_SHARED = np.linspace(-8, 8, 241)
_WEIGHTS = np.exp(-(_SHARED**2) / 2) / np.exp(-(_SHARED**2) / 2).sum()
_STEPS = 20
_MOST_LATENT = 0.995


@dataclass(frozen=True)
class Assumption:
    """The curve that is planned with: the mean accuracy of start, middle and end, and the correlation of right and
    wrong (from 0 to 1) between two positions of a question, at that accuracy.
    """

    accuracy: float
    correlation: float


def observed(matrix: np.ndarray) -> Assumption:
    """What the answers to start, middle and end say: (questions, 3), 1 where right.

    The correlation is the mean of the three covariances over that of the three roots of products of variances, at
    least 0; `ASSUMED_CORRELATION` where a column has no spread or there is a single question.
    """
    accuracies = matrix.mean(axis=0)
    spread = np.sqrt(accuracies * (1 - accuracies))
    first, second = np.triu_indices(3, k=1)
    scale = float((spread[first] * spread[second]).mean())
    if not scale or len(matrix) < 2:
        return Assumption(float(accuracies.mean()), ASSUMED_CORRELATION)
    covariance = matrix.T @ matrix / len(matrix) - np.outer(accuracies, accuracies)
    correlation = float(covariance[first, second].mean()) / scale
    return Assumption(float(accuracies.mean()), min(1.0, max(0.0, correlation)))


def planned_accuracies(contrast: str, effect: float, accuracy: float) -> tuple[float, float, float]:
    """Accuracies at start, middle and end with this effect (at least 0) and mean; the position that the contrast does
    not read is at the mean, or as near to it as 1 allows. Where the upper ones would pass 1, all are lower.
    """
    weights = np.array(CONTRASTS[contrast], dtype=float)
    # Those above the mean are above it by the same, and those below likewise.
    above, below = weights > 0, weights < 0
    share = above.sum() / (above.sum() + below.sum())
    high = min(1.0, max(accuracy + (1 - share) * effect, effect))
    return tuple(np.where(above, high, np.where(below, high - effect, accuracy)).tolist())


def pattern_shares(accuracies: Sequence[float], latent: float) -> np.ndarray:
    """The share of questions with each of the eight patterns of answers, in the order of `product((0, 1), repeat=3)`.

    A Gaussian copula with one factor: a question has a normal score at each position, equally correlated (`latent`),
    and is right where it is below the quantile of the accuracy.
    """
    thresholds = special.ndtri(np.clip(accuracies, 1e-12, 1 - 1e-12))[:, None]
    right = special.ndtr((thresholds - np.sqrt(latent) * _SHARED) / np.sqrt(1 - latent))
    chances = np.where(_PATTERNS[:, :, None] == 1, right, 1 - right).prod(axis=1)
    return np.asarray(chances @ _WEIGHTS)


def latent_correlation(assumed: Assumption) -> float:
    """The correlation of the normal scores that gives the assumed one of right and wrong at the assumed accuracy."""
    p = min(0.999, max(0.001, assumed.accuracy))

    def correlation(latent: float) -> float:
        both = pattern_shares((p, p, p), latent)[-2:].sum()
        return float((both - p * p) / (p * (1 - p)))

    return _smallest(lambda latent: correlation(latent) >= assumed.correlation, 0.0, _MOST_LATENT) or _MOST_LATENT


def power(contrast: str, effect: float, n: int, assumed: Assumption, latent: float | None = None) -> float:
    """The chance that n questions show an effect of start, middle and end: `primacy`, `recency`, `tilt` or `pbi`.

    With T = Σ dᵢ and S = Σ dᵢ² of `contrast_interval`, the interval is above 0 where T > a·√(S + 2D²) with
    a = t·√((n+2)/(n+2+t²)). That chance is summed exactly up to `MOST_EXACT` questions for two positions, where S is
    how many questions differ, and up to `MOST_EXACT_INDEX` for the index; above, see `_normal_power`.
    """
    if latent is None:
        latent = latent_correlation(assumed)
    d = _PATTERNS @ np.array(CONTRASTS[contrast], dtype=float)
    shares = pattern_shares(planned_accuracies(contrast, effect, assumed.accuracy), latent)
    t = float(special.stdtrit(n + 1, (1 + CONFIDENCE) / 2))
    factor = t * float(np.sqrt((n + 2) / (n + 2 + t**2)))
    if n <= MOST_EXACT and np.isin(d, (-1, 0, 1)).all():
        return _exact_power(float(shares[d > 0].sum()), float(shares[d < 0].sum()), n, factor)
    if n <= MOST_EXACT_INDEX:
        return _exact_index_power(d, shares, n, factor)
    return _normal_power(d, shares, n, factor)


def _exact_power(only_first: float, only_second: float, n: int, factor: float) -> float:
    """The chance that the interval of two positions is above 0: a trinomial sum, over how many questions differ.

    only_first, only_second: shares of questions that are right in one of the two alone.
    """
    differing = only_first + only_second
    if differing <= 0:
        return 0.0
    differ = np.arange(n + 1)
    logs = special.gammaln(n + 1) - special.gammaln(differ + 1) - special.gammaln(n - differ + 1)
    chances = np.exp(logs + special.xlogy(differ, differing) + special.xlog1py(n - differ, -min(1.0, differing)))
    enough = np.floor((differ + factor * np.sqrt(differ + 2)) / 2)
    shown = np.where(enough < differ, special.bdtrc(np.minimum(enough, differ), differ, only_first / differing), 0)
    return float(chances @ shown)


def _exact_index_power(d: np.ndarray, shares: np.ndarray, n: int, factor: float) -> float:
    """The same of a contrast in halves, from the joint distribution of 2T and 4S.

    It is the n-th power of its characteristic function, which an inverse Fourier transform over all their values
    (2T from -2n to 2n, 4S from 0 to 4n) turns into chances.
    """
    length = 4 * n + 1
    turns = np.exp(-2j * np.pi * np.arange(length) / length)
    of_one = sum(
        share * np.outer(turns ** round(2 * value), turns ** round(4 * value**2))
        for value, share in zip(d, shares, strict=True)
    )
    chances = np.fft.ifft2(of_one**n).real
    totals = np.fft.fftfreq(length, 1 / length)[:, None] / 2
    squares = np.arange(length)[None, :] / 4
    return float(chances[totals > factor * np.sqrt(squares + 2)].sum())


def _normal_power(d: np.ndarray, shares: np.ndarray, n: int, factor: float) -> float:
    """The chance that T - a·√(S + 2D²) is above 0, taken as normal.

    √(S + 2D²) is linear around its mean (delta method), so that the variance is that of n questions' dᵢ - b·dᵢ²,
    b = a/(2·√(n·E d² + 2D²)). d: the contrast of each pattern; factor: a.
    """
    spread = float(np.sqrt(n * float(shares @ d**2) + 2 * float(d.max()) ** 2))
    moved = d - factor / (2 * spread) * d**2
    variance = n * float(shares @ moved**2 - (shares @ moved) ** 2)
    margin = n * float(shares @ d) - factor * spread
    return float(special.ndtr(margin / np.sqrt(max(variance, 1e-12))))


def detectable_effect(contrast: str, n: int, assumed: Assumption) -> float | None:
    """The smallest effect that n questions show with a chance of 80 %; None if they show none at all."""
    latent = latent_correlation(assumed)
    return _smallest(lambda effect: power(contrast, effect, n, assumed, latent) >= POWER, 0.0, 1.0)


def questions_needed(contrast: str, effect: float, assumed: Assumption) -> int | None:
    """The fewest questions that show an effect with a chance of 80 %; None if ten million do not."""
    latent = latent_correlation(assumed)
    low, high = 1, MOST_QUESTIONS
    if power(contrast, effect, high, assumed, latent) < POWER:
        return None
    while low < high:
        n = (low + high) // 2
        low, high = (low, n) if power(contrast, effect, n, assumed, latent) >= POWER else (n + 1, high)
    return low


def _smallest(holds: Callable[[float], bool], low: float, high: float) -> float | None:
    """The smallest number of a range from which on something holds, by bisection; None if it does not at the end."""
    if not holds(high):
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
