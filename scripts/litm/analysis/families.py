"""Conclusions: the rule for what counts as shown, for families of tests, and whether two readings of answers agree.

A difference is *shown* if its p value, corrected for the number of tests in its family (`p_holm`), is below 0.05. The
same rule decides words, stars and verdicts. An interval of 95 % without a correction tells how large a difference may
be, and decides nothing: of twenty intervals of no difference one excludes 0. Intervals of claims and sizes have the
corrected confidence, so that they and p agree.
"""

from collections.abc import Iterable, Mapping

import pandas as pd

from litm.analysis.statistics import SIGNIFICANT, Estimate, holm
from litm.base.messages import points

#: Names of the readings.
FIRST_LINE, FULL = "first_line", "full"
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
