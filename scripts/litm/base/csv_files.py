"""Tables as CSV."""

from collections.abc import Collection, Mapping
from pathlib import Path

import pandas as pd

from litm.base.text_files import check_whole, write_text


def write_csv(path: str | Path, table: pd.DataFrame, decimals: int | None = 6, p_values: Collection[str] = ()) -> None:
    """Write a table as CSV, see `csv_text`."""
    write_text(path, csv_text(table, decimals, p_values))


def csv_text(table: pd.DataFrame, decimals: int | None = 6, p_values: Collection[str] = ()) -> str:
    """A table as CSV: fractions with `decimals` decimals (None: all of them), missing values empty.

    p_values: columns with six significant digits instead (1.30421e-174), so that readers can correct them.
    """
    texts = {
        name: table[name].map(lambda p: "" if pd.isna(p) else f"{p:.6g}").astype("string")
        for name in p_values
        if name in table
    }
    float_format = None if decimals is None else f"%.{decimals}f"
    return table.assign(**texts).to_csv(index=False, float_format=float_format, lineterminator="\n")


def read_csv(path: str | Path, dtypes: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Read a table that `write_csv` wrote: only empty cells are missing values, not a model of the name NA.

    dtypes: pandas types by column; a column that is not named gets that of its values. Raises `UserError` as
    `check_whole` does.
    """
    check_whole(path)
    known = {"model": str, "experiment": str} if dtypes is None else dtypes
    return pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=known)
