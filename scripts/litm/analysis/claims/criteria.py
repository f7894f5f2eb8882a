"""What an interval has to be for a claim to be supported or contradicted: the margins, and why these."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

#: An effect of less is none worth a claim: the smallest U that the paper calls one is 2.8 points (Table 6).
NEGLIGIBLE = 0.02
#: A difference of less is small: less than a quarter of what the position does to GPT-3.5-Turbo (22 points, Table 6),
#: and as far from 0 as the suite's weakest class of the Position Bias Index begins.
SMALL = 0.05
#: "Near-perfect" (Section 4.2): as near to 1 as counts for a ceiling everywhere here, `pbi.NEAR`.
NEAR_PERFECT = 0.95


class Answer(Enum):
    """What can be shown of a quantity: what the claim says of it, or the opposite."""

    WANTED = "wanted"
    DENIED = "denied"


@dataclass(frozen=True)
class Criterion:
    """Two ranges of a quantity: what the claim says (wanted), and what contradicts it (denied).

    margins: of (low, high), how far the whole interval is inside the range of each answer; above 0 it is shown.
    sides: the number of limits that can each show the denial alone: 2 for "outside these bounds", else 1.
    weaker: of two ranges that overlap ("above 0" and "below 2 points") the one that says there is no effect worth a
    claim. It is not shown where an effect is, see `verdicts.shows`.
    """

    wanted: str
    denied: str
    margins: dict[Answer, Callable[[float, float], float]]
    sides: int = 1
    weaker: Answer | None = None

    def margin(self, answer: Answer, interval: tuple[float, float]) -> float:
        """How far the interval is inside the range of the answer, in points of the quantity; below 0 it is not."""
        return self.margins[answer](*interval)


def _two(wanted: Callable[[float, float], float], denied: Callable[[float, float], float]) -> dict:
    return {Answer.WANTED: wanted, Answer.DENIED: denied}


#: There is an effect: shown above 0, or shown to be negligible at most.
ABOVE_ZERO = Criterion(
    "above 0", "below 2 points", _two(lambda low, high: low, lambda low, high: NEGLIGIBLE - high), weaker=Answer.DENIED
)
#: There is a loss: the same below 0.
BELOW_ZERO = Criterion(
    "below 0",
    "above -2 points",
    _two(lambda low, high: -high, lambda low, high: low + NEGLIGIBLE),
    weaker=Answer.DENIED,
)
#: There is no effect: `ABOVE_ZERO` denied.
NOT_ABOVE_ZERO = Criterion(
    "below 2 points", "above 0", _two(lambda low, high: NEGLIGIBLE - high, lambda low, high: low), weaker=Answer.WANTED
)
#: It is small, or negative.
AT_MOST_SMALL = Criterion(
    "below 5 points", "above 5 points", _two(lambda low, high: SMALL - high, lambda low, high: low - SMALL)
)
#: It is small in either direction.
WITHIN_SMALL = Criterion(
    "within 5 points of 0",
    "more than 5 points from 0",
    _two(
        lambda low, high: min(low + SMALL, SMALL - high),
        lambda low, high: max(low - SMALL, -SMALL - high),
    ),
    sides=2,
)
#: An accuracy is near perfect.
ALMOST_ONE = Criterion(
    "above 95 %", "below 95 %", _two(lambda low, high: low - NEAR_PERFECT, lambda low, high: NEAR_PERFECT - high)
)
