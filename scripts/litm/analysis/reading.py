"""How much of an answer is read: whether the first line and the whole answer lead to the same conclusion."""

from litm.analysis.statistics import Estimate

#: The readings by name.
FIRST_LINE, FULL = "first_line", "full"
#: What an estimate says: its whole interval is above 0, below 0, or neither.
ABOVE, BELOW, OPEN = "above 0", "below 0", "not shown to differ from 0"


def conclusion(estimate: Estimate) -> str:
    """`ABOVE`, `BELOW` or `OPEN`, by the interval."""
    return ABOVE if estimate.low > 0 else BELOW if estimate.high < 0 else OPEN


def changes_sign(one: Estimate, other: Estimate) -> bool:
    """Whether two readings of the same answers lead to different conclusions."""
    return conclusion(one) != conclusion(other)
