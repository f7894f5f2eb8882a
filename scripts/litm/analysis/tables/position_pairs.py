"""Table of pairwise differences between the positions of a curve."""

from typing import TYPE_CHECKING

from litm.analysis.columns import CURVE, DIFFERENCE
from litm.analysis.table import FLOAT, INTEGER, P_VALUE, PERCENT, Column, Table

if TYPE_CHECKING:
    from litm.analysis.grid import Files

#: Columns that the report shows.
_REPORT = (
    "model", "experiment", "size", "placement", "position_a", "position_b", "n", "accuracy_a", "accuracy_b",
    "difference", "ci_low", "ci_high", "p_value", "p_holm", "p_holm_all",
)  # fmt: skip
TABLE = Table(
    name="position_pairs",
    title="Pairs of positions",
    doc="Pairs of positions: difference on the same questions, with exact McNemar tests corrected by Holm.",
    order=22,
    inputs=("curve_scores",),
    note=(
        "Accuracy at position a minus that at position b in points, with its own 95 % interval, paired by question; "
        "positions count from 0. A difference counts as shown if p (Holm), of exact McNemar tests corrected over the "
        "pairs of the curve, is below 0.05. Interval and p are not corrected, and may differ by themselves: the "
        "interval is an approximation, the test is exact."
    ),
    columns={
        **CURVE,
        "position_a": Column(INTEGER, "the first position", "Position a"),
        "position_b": Column(INTEGER, "the second position", "Position b"),
        "n": Column(INTEGER, "questions scored at every position", "n"),
        "accuracy_a": Column(FLOAT, "accuracy at the first position", "Accuracy a", PERCENT),
        "accuracy_b": Column(FLOAT, "accuracy at the second position", "Accuracy b", PERCENT),
        **DIFFERENCE,
        "p_holm": Column(FLOAT, "`p_value` corrected by Holm over the pairs of the curve", "Holm over pairs", P_VALUE),
        "p_holm_all": Column(
            FLOAT, "`p_value` corrected by Holm over all pairs of all curves of this table", "Holm over all", P_VALUE
        ),
    },
    report=_REPORT,
)


def rows(curve_scores: "Files") -> list[dict]:
    """One row per pair of positions, curve by curve in the order of the score files."""
    from litm.analysis.grid import curves
    from litm.analysis.positions import pairwise_rows
    from litm.analysis.statistics import with_holm

    found = (row for sweep in curve_scores.scores() for curve in curves(sweep) for row in pairwise_rows(curve))
    return with_holm(found, "p_value", "p_holm_all")
