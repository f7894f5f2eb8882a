"""Table of detectable effects: the effect that each curve's n can show, and the n that shows 5 points."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from litm.analysis.columns import CURVE
from litm.analysis.table import FLOAT, INDEX, INTEGER, PERCENT, TEXT, Column, Table, with_interval

if TYPE_CHECKING:
    from litm.analysis.grid import Files

#: Columns that the report shows.
_REPORT = (
    "model", "experiment", "size", "placement", "n", "quantity", "value", "ci_low", "ci_high", "accuracy_mean",
    "correlation", "design_effect", "mde", "n_for_5_points",
)  # fmt: skip
TABLE = Table(
    name="detectable_effects",
    title="Detectable effects",
    doc=(
        "Primacy, recency, tilt and Position Bias Index of each curve of three positions or more, with the smallest "
        "effect that its n shows with a chance of 80 % and the number of questions that shows 5 points. Both are "
        "computed for a curve with its mean accuracy and correlation, see docs/evidence.md."
    ),
    order=25,
    inputs=("curve_scores",),
    note=(
        "For a single comparison, whose 95 % interval then excludes 0. Detectable: the smallest true effect, in "
        "points, that n questions show with a chance of 80 %; an interval around 0 tells nothing about smaller ones. "
        "The last column: the number of questions that show an effect of 5 points. Correlation: of right and wrong "
        "between two positions of the same question."
    ),
    columns={
        **CURVE,
        "n": Column(INTEGER, "questions scored at every position", "n"),
        "quantity": Column(TEXT, "`primacy`, `recency`, `tilt` or `pbi`", "Effect"),
        **with_interval("value", Column(FLOAT, "the measured value", "Found", PERCENT), is_only=True),
        "accuracy_mean": Column(FLOAT, "mean of start, middle and end", "Mean accuracy", PERCENT),
        "correlation": Column(
            FLOAT,
            "mean correlation of right and wrong between start, middle and end of a question, at least 0; 0.5 if a "
            "position has no variance",
            "Correlation",
            INDEX,
        ),
        "design_effect": Column(
            FLOAT,
            "factor (at least 1) on the number of questions because questions of a cluster correlate; 1 without "
            "`cluster`",
            "Design effect",
        ),
        "mde": Column(FLOAT, "smallest effect that n shows with 80 % power", "Detectable", PERCENT),
        "n_for_5_points": Column(
            INTEGER, "questions that show an effect of 5 points with 80 % power", "n for 5 points"
        ),
    },
    report=_REPORT,
)


def rows(curve_scores: "Files") -> Iterator[dict]:
    """One row per curve and effect, in the order of the score files."""
    from litm.analysis.grid import curves
    from litm.analysis.positions import detectable_effect_rows

    return (row for sweep in curve_scores.scores() for curve in curves(sweep) for row in detectable_effect_rows(curve))
