"""Correction of p values over all rows of a table as one family."""

from collections.abc import Iterable, Mapping

import pandas as pd

from litm.analysis.statistics import holm


def with_holm(rows: Iterable[Mapping], p_value: str, corrected: str) -> list[dict]:
    """The rows with a further value `corrected`: `p_value` corrected by Holm (1979) over all rows that have one."""
    made = [{**row, corrected: None} for row in rows]
    tested = [row for row in made if not pd.isna(row.get(p_value))]
    for row, value in zip(tested, holm([row[p_value] for row in tested]), strict=True):
        row[corrected] = value
    return made
