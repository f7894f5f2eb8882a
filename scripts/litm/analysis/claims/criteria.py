"""What an interval has to be for a claim to be supported or contradicted: the margins, and why these."""

from collections.abc import Callable
from dataclasses import dataclass

#: An effect of less is none worth a claim: the smallest U that the paper calls one is 2.8 points (Table 6).
NEGLIGIBLE = 0.02
#: A difference of less is small: what the suite calls flat, and less than a quarter of what the position does to
#: GPT-3.5-Turbo (22 points, Table 6).
SMALL = 0.05
#: "Near-perfect" (Section 4.2): as near to 1 as counts for a ceiling everywhere here, `position_bias.NEAR`.
NEAR_PERFECT = 0.95


@dataclass(frozen=True)
class Criterion:
    """Two ranges of a quantity: a claim is supported if the whole interval is `wanted`, contradicted if it is `denied`.

    supports, contradicts: of (low, high). Where the ranges overlap, in effects that are there and negligible, what the
    claim says in so many words comes first: `verdict` asks `supports` before `contradicts`, or the other way round if
    the claim is that there is no effect.
    """

    wanted: str
    denied: str
    supports: Callable[[float, float], bool]
    contradicts: Callable[[float, float], bool]
    denial_first: bool = False

    def verdict(self, low: float, high: float) -> bool | None:
        """True for supported, False for contradicted, None where the interval decides neither."""
        answers = [(self.supports, True), (self.contradicts, False)]
        for holds, answer in reversed(answers) if self.denial_first else answers:
            if holds(low, high):
                return answer
        return None


#: There is an effect: shown above 0, or shown to be negligible at most.
ABOVE_ZERO = Criterion("above 0", "below 2 points", lambda low, high: low > 0, lambda low, high: high < NEGLIGIBLE)
#: There is a loss: the same below 0.
BELOW_ZERO = Criterion("below 0", "above -2 points", lambda low, high: high < 0, lambda low, high: low > -NEGLIGIBLE)
#: There is no effect: `ABOVE_ZERO` denied.
NOT_ABOVE_ZERO = Criterion(
    ABOVE_ZERO.denied, ABOVE_ZERO.wanted, ABOVE_ZERO.contradicts, ABOVE_ZERO.supports, denial_first=True
)
#: It is small, or negative.
AT_MOST_SMALL = Criterion(
    "below 5 points", "above 5 points", lambda low, high: high < SMALL, lambda low, high: low > SMALL
)
#: It is small in either direction.
WITHIN_SMALL = Criterion(
    "within 5 points of 0",
    "more than 5 points from 0",
    lambda low, high: low > -SMALL and high < SMALL,
    lambda low, high: low > SMALL or high < -SMALL,
)
#: An accuracy is near perfect.
ALMOST_ONE = Criterion(
    "above 95 %", "below 95 %", lambda low, high: low > NEAR_PERFECT, lambda low, high: high < NEAR_PERFECT
)
