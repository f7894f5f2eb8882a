"""Tables as CSV."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from litm.base.atomic_write import atomic_writer


def write_csv(path: str | Path, table: pd.DataFrame, decimals: int | None = 6) -> None:
    """Write a table as CSV: fractions with `decimals` decimals (None: all of them), missing values empty."""
    float_format = None if decimals is None else f"%.{decimals}f"
    with atomic_writer(path) as raw:
        raw.write(table.to_csv(index=False, float_format=float_format, lineterminator="\n").encode())


def read_csv(path: str | Path, dtypes: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Read a table that `write_csv` wrote: only empty cells are missing values, not a model of the name NA.

    dtypes: pandas types by column; a column that is not named gets that of its values.
    """
    known = {"model": str, "experiment": str} if dtypes is None else dtypes
    return pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=known)
