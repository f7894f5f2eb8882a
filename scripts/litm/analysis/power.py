"""Statistical power: the difference between positions that n questions can show, and the n that a difference needs.

Planning assumes a curve of three positions with an accuracy, a correlation of right and wrong between positions of
one question, and an effect. It is for a single comparison, unless several are asked for: an effect is shown if its 95 %
interval (`statistics.contrast_interval`) is on the right side of 0. Everything that says how many questions are enough
takes the number from `n_for_five_points`. Questions in clusters count as fewer independent ones
(`statistics.design_effect`).
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from itertools import product
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from litm.analysis.pbi import CONTRASTS, FLAT_WITHIN
from litm.base.intervals import is_graded
from litm.base.messages import UserError, percent, points
from litm.base.table_files import read_parquet

if TYPE_CHECKING:
    from litm.analysis.statistics import Answers

#: Probability with which an effect must be shown, and confidence of the interval that shows it.
POWER, CONFIDENCE = 0.8, 0.95
#: Fraction: the difference for which n is reported, and the largest that is called small.
FIVE_POINTS = FLAT_WITHIN
#: Number of questions above which no number is reported.
MOST_QUESTIONS = 10**7
#: Number of questions up to which power is computed exactly: for two positions, and for the Position Bias Index.
MOST_EXACT, MOST_EXACT_INDEX = 2_000, 60
#: Default assumptions: the accuracy with the largest variance, and a correlation at the low end of those of models
#: (docs/evidence.md), which needs more questions than a higher one.
ASSUMED_ACCURACY, ASSUMED_CORRELATION = 0.5, 0.5

#: Accuracies at which scores tell how many questions another model needs; at the floor all look alike.
TELLING = (0.05, 0.95)

#: All patterns of answers at start, middle and end.
_PATTERNS = np.array(list(product((0, 1), repeat=3)))
#: Grid of the common factor of a question's three answers, and its weights: a normal distribution.
_SHARED = np.linspace(-8, 8, 241)
_WEIGHTS = np.exp(-(_SHARED**2) / 2) / np.exp(-(_SHARED**2) / 2).sum()
_STEPS = 20
_MOST_LATENT = 0.995


@dataclass(frozen=True)
class Assumption:
    """The assumed curve: mean accuracy of start, middle and end, correlation of right and wrong (0 to 1) between two
    positions of a question at that accuracy, and the design effect of clusters.
    """

    accuracy: float
    correlation: float
    design_effect: float = 1.0


def observed(answers: "Answers", clusters: np.ndarray | None = None) -> Assumption:
    """Mean accuracy, correlation and design effect of pairs of columns, such as start, middle and end; answers:
    (questions, columns), 1 if right.

    The correlation is the mean covariance of two columns divided by the mean root of the product of their variances, at
    least 0; `ASSUMED_CORRELATION` if a column has no variance or there is one question.
    """
    # Imports pandas, see `_earlier_curves`.
    from litm.analysis.statistics import design_effect, verdicts_of

    matrix = verdicts_of(answers)
    accuracies = matrix.mean(axis=0)
    spread = np.sqrt(accuracies * (1 - accuracies))
    first, second = np.triu_indices(matrix.shape[1], k=1)
    scale = float((spread[first] * spread[second]).mean())
    columns = np.eye(len(spread))
    effect = design_effect(answers, columns[:, first] - columns[:, second], clusters)
    if not scale or len(matrix) < 2:
        return Assumption(float(accuracies.mean()), ASSUMED_CORRELATION, effect)
    covariance = matrix.T @ matrix / len(matrix) - np.outer(accuracies, accuracies)
    if is_graded(matrix):
        # Graded answers vary less than right and wrong ones. What they vary less makes no difference vary, so it counts
        # as covariance.
        lacking = spread**2 - np.diag(covariance)
        covariance += (lacking[:, None] + lacking) / 2
    correlation = float(covariance[first, second].mean()) / scale
    return Assumption(float(accuracies.mean()), min(1.0, max(0.0, correlation)), effect)


def planned_accuracies(contrast: str, effect: float, accuracy: float) -> tuple[float, float, float]:
    """Accuracies at start, middle and end with this effect (at least 0) and mean. A position outside the contrast is at
    the mean, or as near to it as 1 allows. If the upper ones would exceed 1, all are lowered.
    """
    weights = np.array(CONTRASTS[contrast], dtype=float)
    # All positions above the mean exceed it equally, and all below it fall short equally.
    above, below = weights > 0, weights < 0
    share = above.sum() / (above.sum() + below.sum())
    high = min(1.0, max(accuracy + (1 - share) * effect, effect))
    return tuple(np.where(above, high, np.where(below, high - effect, accuracy)).tolist())


def pattern_shares(accuracies: Sequence[float], latent: float) -> np.ndarray:
    """Fractions of questions with each of the eight patterns of answers, in the order of `product((0, 1), repeat=3)`.

    A Gaussian copula with one factor: a question has equally correlated (`latent`) normal scores at the positions, and
    is right at a position if its score is below the quantile of the accuracy.
    """
    thresholds = special.ndtri(np.clip(accuracies, 1e-12, 1 - 1e-12))[:, None]
    right = special.ndtr((thresholds - np.sqrt(latent) * _SHARED) / np.sqrt(1 - latent))
    chances = np.where(_PATTERNS[:, :, None] == 1, right, 1 - right).prod(axis=1)
    return np.asarray(chances @ _WEIGHTS)


def latent_correlation(assumed: Assumption) -> float:
    """The correlation of normal scores that gives the assumed correlation of right and wrong."""
    p = min(0.999, max(0.001, assumed.accuracy))

    def correlation(latent: float) -> float:
        both = pattern_shares((p, p, p), latent)[-2:].sum()
        return float((both - p * p) / (p * (1 - p)))

    return _smallest(lambda latent: correlation(latent) >= assumed.correlation, 0.0, _MOST_LATENT) or _MOST_LATENT


def power(
    contrast: str,
    effect: float,
    n: int,
    assumed: Assumption,
    latent: float | None = None,
    confidence: float = CONFIDENCE,
) -> float:
    """The chance that n questions show an effect of start, middle and end: `primacy`, `recency`, `tilt` or `pbi`.

    With T = Σ dᵢ and S = Σ dᵢ² of `contrast_interval`, the interval is above 0 if T > a·√(S + 2D²) with
    a = t·√((n+2)/(n+2+t²)). The probability is exact up to `MOST_EXACT` questions for two positions, where S is the
    number of questions that differ, and up to `MOST_EXACT_INDEX` for the index; above, see `_normal_power`.
    """
    if latent is None:
        latent = latent_correlation(assumed)
    d = _PATTERNS @ np.array(CONTRASTS[contrast], dtype=float)
    shares = pattern_shares(planned_accuracies(contrast, effect, assumed.accuracy), latent)
    t = float(special.stdtrit(n + 1, (1 + confidence) / 2))
    factor = t * float(np.sqrt((n + 2) / (n + 2 + t**2)))
    if n <= MOST_EXACT and np.isin(d, (-1, 0, 1)).all():
        return _exact_power(float(shares[d > 0].sum()), float(shares[d < 0].sum()), n, factor)
    if n <= MOST_EXACT_INDEX:
        return _exact_index_power(d, shares, n, factor)
    return _normal_power(d, shares, n, factor)


def _exact_power(only_first: float, only_second: float, n: int, factor: float) -> float:
    """The chance that the interval of two positions is above 0: a trinomial sum over the questions that differ.

    only_first, only_second: fractions of questions that are right in only one of the two.
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
    """The same for a contrast with weights of one half, from the joint distribution of 2T and 4S.

    The distribution is the inverse Fourier transform, over all values (2T from -2n to 2n, 4S from 0 to 4n), of the n-th
    power of one question's characteristic function.
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
    """The chance that T - a·√(S + 2D²) is above 0, by a normal approximation.

    √(S + 2D²) is linear around its mean (delta method), so the variance is that of n questions' dᵢ - b·dᵢ²,
    b = a/(2·√(n·E d² + 2D²)). d: the contrast of each pattern; factor: a.
    """
    spread = float(np.sqrt(n * float(shares @ d**2) + 2 * float(d.max()) ** 2))
    moved = d - factor / (2 * spread) * d**2
    variance = n * float(shares @ moved**2 - (shares @ moved) ** 2)
    margin = n * float(shares @ d) - factor * spread
    return float(special.ndtr(margin / np.sqrt(max(variance, 1e-12))))


def detectable_effect(contrast: str, n: int, assumed: Assumption) -> float | None:
    """The smallest effect that n questions show with a chance of 80 %; None if they show none."""
    latent, worth = latent_correlation(assumed), int(n / assumed.design_effect)
    return _smallest(lambda effect: power(contrast, effect, worth, assumed, latent) >= POWER, 0.0, 1.0)


def questions_needed(
    contrast: str, effect: float, assumed: Assumption, chance: float = POWER, confidence: float = CONFIDENCE
) -> int | None:
    """The fewest questions that show an effect with a chance of 80 %, or another one; None if ten million do not."""
    latent = latent_correlation(assumed)

    def is_enough(n: int) -> bool:
        return power(contrast, effect, n, assumed, latent, confidence) >= chance

    low, high = 1, MOST_QUESTIONS
    if not is_enough(high):
        return None
    while low < high:
        n = (low + high) // 2
        low, high = (low, n) if is_enough(n) else (n + 1, high)
    return ceil(low * assumed.design_effect)


def n_for_five_points(assumed: Assumption, comparisons: int = 1) -> int | None:
    """The fewest questions that show a difference of 5 points between two positions, conditions or models with a chance
    of 80 %; None if ten million do not.

    With several comparisons they show one in each at once, by intervals corrected for all (both by Bonferroni).
    """
    chance, confidence = (1 - (1 - level) / comparisons for level in (POWER, CONFIDENCE))
    return questions_needed("primacy", FIVE_POINTS, assumed, chance, confidence)


def earlier(results: Path, model: str, experiment: str, others: Iterable[str] = ()) -> tuple[Assumption, str]:
    """Accuracy, correlation and design effect from earlier scores of the sweep, or else of one of these other models',
    or else assumed; and their source. Scores at the floor or the ceiling are skipped, and damaged files: who reads them
    for a result says so.
    """
    for name in (model, *others):
        path = results / "scores" / name / f"{experiment}.parquet"
        with suppress(UserError, ModuleNotFoundError):
            earlier_scores = _earlier_curves(path) if path.exists() else None
            if earlier_scores and TELLING[0] < earlier_scores[0].accuracy < TELLING[1]:
                return earlier_scores[0], f"from earlier scores of {name}, n = {earlier_scores[1]:,}"
    return Assumption(ASSUMED_ACCURACY, ASSUMED_CORRELATION), "assumed, for independent questions"


def _earlier_curves(path: Path) -> tuple[Assumption, int] | None:
    """Means of `observed` over the curves of one experiment's scores, weighted by questions, and the fewest questions
    of a curve; None without a curve that has a middle.
    """
    # Imports pandas, which takes a sixth of a start: most plans have no scores.
    from litm.analysis.grid import curves, read_curve

    read = map(read_curve, curves(read_parquet(path)))
    threes = [(three, curve.cases.clusters) for curve in read if (three := curve.three) is not None]
    if not threes:
        return None
    counts = [len(three) for three, _ in threes]
    means = np.average([astuple(observed(*pair)) for pair in threes], axis=0, weights=counts)
    return Assumption(*means.tolist()), min(counts)


def shown_in_words(questions: int, assumed: Assumption, source: str) -> str:
    """The differences between two positions that questions show, and how many show 5 points; see `needed_in_words`."""
    effect = detectable_effect("primacy", questions, assumed)
    shown = "no difference" if effect is None else f"only differences of {points(effect)[1:]} or more"
    needed = needed_in_words(n_for_five_points(assumed), assumed, source)
    return f"{questions:,} questions show {shown} between positions; {needed}"


def needed_in_words(needed: int | None, assumed: Assumption, source: str = "", comparisons: int = 1) -> str:
    """`791 would show 5 points (...)`, after a sentence on questions; source: of the assumption."""
    number = "more than ten million" if needed is None else f"{needed:,}"
    where = f" in all {comparisons} comparisons" if comparisons > 1 else ""
    effect = f", design effect {assumed.design_effect:.1f}" if assumed.design_effect > 1 else ""
    return (
        f"{number} would show 5 points{where} with a chance of 80 % (accuracy {percent(assumed.accuracy)} %, "
        f"correlation {assumed.correlation:.2f}{effect}{f': {source}' if source else ''})"
    )


def _smallest(holds: Callable[[float], bool], low: float, high: float) -> float | None:
    """The smallest number of a range from which `holds` is true, by bisection; None if it is false at the end."""
    if not holds(high):
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
