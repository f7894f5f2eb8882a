"""How the positions of a curve differ, two by two."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from litm.analysis.columns import CURVE, DIFFERENCE
from litm.analysis.table import FLOAT, INTEGER, P_VALUE, PERCENT, Column, Table

if TYPE_CHECKING:
    from litm.analysis.files import Files

TABLE = Table(
    name="position_pairs",
    title="Pairs of positions",
    doc="Pairs of positions: difference on the same questions, with exact McNemar tests corrected by Holm.",
    order=22,
    inputs=("curve_scores",),
    columns={
        **CURVE,
        "position_a": Column(INTEGER, "the first position"),
        "position_b": Column(INTEGER, "the second position"),
        "n": Column(INTEGER, "questions scored at every position"),
        "accuracy_a": Column(FLOAT, "accuracy at the first position", unit=PERCENT),
        "accuracy_b": Column(FLOAT, "accuracy at the second position", unit=PERCENT),
        **DIFFERENCE,
        "p_holm": Column(FLOAT, "`p_value` corrected over the pairs of the curve", unit=P_VALUE),
    },
)


def rows(curve_scores: "Files") -> Iterator[dict]:
    """A row a pair of positions, curve by curve in the order of the score files."""
    from litm.analysis.paired_scores import curves
    from litm.analysis.position_pairs import pairwise_rows

    return (row for sweep in curve_scores.scores() for curve in curves(sweep) for row in pairwise_rows(curve))
