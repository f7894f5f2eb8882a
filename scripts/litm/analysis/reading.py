"""Readings of an answer: whether the first line and the whole answer lead to the same conclusion."""

from litm.analysis.statistics import Estimate

#: Names of the readings.
FIRST_LINE, FULL = "first_line", "full"
#: Conclusions from an interval: all of it is above 0, below 0, or neither.
ABOVE, BELOW, OPEN = "above 0", "below 0", "not shown to differ from 0"


def conclusion(estimate: Estimate) -> str:
    """The conclusion from an interval: `ABOVE`, `BELOW` or `OPEN`."""
    return ABOVE if estimate.low > 0 else BELOW if estimate.high < 0 else OPEN


def changes_sign(one: Estimate, other: Estimate) -> bool:
    """Whether two readings of the same answers lead to different conclusions."""
    return conclusion(one) != conclusion(other)
