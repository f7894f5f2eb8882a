"""Table of the Position Bias Index across experiments: the main columns of position_bias.csv."""

from dataclasses import replace
from typing import TYPE_CHECKING

from litm.analysis.table import INDEX, PERCENT, Column, Table
from litm.analysis.tables import position_bias

if TYPE_CHECKING:
    import pandas as pd

    from litm.analysis.grid import Files


#: Columns of position_bias.csv in this table.
_NAMES = (
    "model", "experiment", "size", "items", "placement", "n", "pbi", "pbi_ci_low", "pbi_ci_high",
    "primacy", "primacy_ci_low", "primacy_ci_high", "recency", "recency_ci_low", "recency_ci_high",
    "accuracy_edge", "accuracy_middle", "pbi_class", "class_certain", "class_words",
    "reason",
)  # fmt: skip


def _column(name: str) -> Column:
    """The column of position_bias.csv; an index has three decimals, because the bounds of its classes have two."""
    headings = {"items": "Items", "accuracy_edge": "Edge accuracy", "accuracy_middle": "Middle accuracy"}
    column = position_bias.TABLE.columns[name]
    unit = INDEX if column.unit == PERCENT else column.unit
    return replace(column, heading=headings.get(name, column.heading), unit=unit)


TABLE = Table(
    name="pbi",
    title="Position Bias Index",
    doc=(
        "The Position Bias Index of each curve of three positions or more with primacy and recency, their "
        "paired 95 % intervals, and its accuracies: columns of position_bias.csv."
    ),
    order=21,
    inputs=("position_bias",),
    columns={name: _column(name) for name in _NAMES},
    has_markdown=True,
)


def rows(position_bias: "Files") -> "pd.DataFrame":
    """Rows of curves that have a PBI, or would have one with more questions."""
    table = position_bias.joined()
    return table.loc[table["n_positions"] > 2, list(TABLE.columns)].reset_index(drop=True)
