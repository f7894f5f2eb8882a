"""Criteria by which an interval supports or contradicts a claim: the margins and their reasons."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

#: Fraction: smaller effects are negligible. Of the paper's curves the smallest Position Bias Index is 2.8 points (Table
#: 6), and the smallest side of one that is a U 1.2 (Table 5).
NEGLIGIBLE = 0.02
#: Fraction: smaller differences are small. It is less than a quarter of the effect of position on GPT-3.5-Turbo (22
#: points, Table 6), and the bound at which the suite's weakest class of the Position Bias Index begins.
SMALL = 0.05
#: Fraction: accuracy that counts as "near-perfect" (Section 4.2), as near to 1 as a ceiling, see `pbi.NEAR`.
NEAR_PERFECT = 0.95
#: Verdicts on a curve in position_bias.csv.
MEASURED, NO_INFORMATION = "measured", "no_information"


class Answer(Enum):
    """What can be shown about a quantity: the claim, or its opposite."""

    WANTED = "wanted"
    DENIED = "denied"


@dataclass(frozen=True)
class Criterion:
    """Two ranges of a quantity: one supports the claim (wanted), one contradicts it (denied).

    margins: functions of (low, high): how far the whole interval is inside the range of each answer; above 0 it is
    shown. sides: number of limits that can each show the denial alone: 2 for "outside these bounds", else 1. weaker: of
    two overlapping ranges ("above 0" and "below 2 points"), the one that means a negligible effect. It is not shown if
    an effect is shown, see `verdicts.shows`.
    """

    wanted: str
    denied: str
    margins: dict[Answer, Callable[[float, float], float]]
    sides: int = 1
    weaker: Answer | None = None

    def margin(self, answer: Answer, interval: tuple[float, float]) -> float:
        """How far the interval is inside the range of the answer, in units of the quantity; below 0 outside."""
        return self.margins[answer](*interval)


def _two(wanted: Callable[[float, float], float], denied: Callable[[float, float], float]) -> dict:
    return {Answer.WANTED: wanted, Answer.DENIED: denied}


#: There is an effect: supported above 0, contradicted if at most negligible.
ABOVE_ZERO = Criterion(
    "above 0", "below 2 points", _two(lambda low, high: low, lambda low, high: NEGLIGIBLE - high), weaker=Answer.DENIED
)
#: There is a loss: the same criterion below 0.
BELOW_ZERO = Criterion(
    "below 0",
    "above -2 points",
    _two(lambda low, high: -high, lambda low, high: low + NEGLIGIBLE),
    weaker=Answer.DENIED,
)
#: There is no effect: the opposite of `ABOVE_ZERO`.
NOT_ABOVE_ZERO = Criterion(
    "below 2 points", "above 0", _two(lambda low, high: NEGLIGIBLE - high, lambda low, high: low), weaker=Answer.WANTED
)
#: The quantity is small or negative.
AT_MOST_SMALL = Criterion(
    "below 5 points", "above 5 points", _two(lambda low, high: SMALL - high, lambda low, high: low - SMALL)
)
#: The quantity is small in either direction.
WITHIN_SMALL = Criterion(
    "within 5 points of 0",
    "more than 5 points from 0",
    _two(
        lambda low, high: min(low + SMALL, SMALL - high),
        lambda low, high: max(low - SMALL, -SMALL - high),
    ),
    sides=2,
)
#: The accuracy is near perfect.
ALMOST_ONE = Criterion(
    "above 95 %", "below 95 %", _two(lambda low, high: low - NEAR_PERFECT, lambda low, high: NEAR_PERFECT - high)
)
