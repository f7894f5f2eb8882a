"""Rows of a table as plain data."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def plain_rows(table: "pd.DataFrame") -> list[dict[Any, Any]]:
    """The rows as dictionaries of plain Python values, which JSON can write; None for a missing value."""
    return table.astype(object).where(table.notna(), None).to_dict("records")
