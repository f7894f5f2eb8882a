"""Table of paired differences between models."""

from typing import TYPE_CHECKING

from litm.analysis.columns import CELL, DIFFERENCE
from litm.analysis.table import FLOAT, INTEGER, P_VALUE, PERCENT, TEXT, Column, Table

if TYPE_CHECKING:
    from litm.analysis.grid import Files

#: Columns that the report shows.
_REPORT = (
    "experiment", "size", "placement", "model_a", "model_b", "n", "accuracy_a", "accuracy_b", "difference", "ci_low",
    "ci_high", "p_holm",
)  # fmt: skip
TABLE = Table(
    name="model_differences",
    title="Differences of models",
    doc="Pairs of models in each cell: difference on the questions that both were asked.",
    order=23,
    inputs=("compared_scores",),
    note=(
        "Accuracy of model a minus that of model b in points, cell by cell, on the questions that both scored. A "
        "difference counts as shown if p (Holm), corrected over the pairs of models of the cell, is below 0.05; the "
        "95 % intervals are not corrected."
    ),
    columns={
        **CELL,
        "model_a": Column(TEXT, "the first model", "Model a"),
        "model_b": Column(TEXT, "the second model", "Model b"),
        "n": Column(INTEGER, "questions scored for both", "n"),
        "n_scored_only_a": Column(INTEGER, "questions scored for the first alone"),
        "n_scored_only_b": Column(INTEGER, "questions scored for the second alone"),
        "accuracy_a": Column(FLOAT, "accuracy of the first on the n questions", "a", PERCENT),
        "accuracy_b": Column(FLOAT, "accuracy of the second on them", "b", PERCENT),
        **DIFFERENCE,
        "p_holm": Column(
            FLOAT, "`p_value` corrected by Holm over the pairs of models of the cell", "p (Holm)", P_VALUE
        ),
        "p_holm_all": Column(FLOAT, "`p_value` corrected by Holm over all rows of this table", unit=P_VALUE),
    },
    report=_REPORT,
)


def rows(compared_scores: "Files") -> list[dict]:
    """One row per pair of models and cell, experiment by experiment in the order of the score files."""
    from litm.analysis.model_differences import COLUMNS, model_difference_rows
    from litm.analysis.statistics import with_holm

    found = (row for scores in compared_scores.by_experiment(COLUMNS) for row in model_difference_rows(scores))
    return with_holm(found, "p_value", "p_holm_all")
