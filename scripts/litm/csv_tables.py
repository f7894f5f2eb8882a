"""Tables as CSV."""

from pathlib import Path

import pandas as pd

from litm.records import atomic_writer


def write_csv(path: str | Path, table: pd.DataFrame) -> None:
    """Write a table as CSV: fractions with six decimals, missing values empty."""
    with atomic_writer(path) as raw:
        raw.write(table.to_csv(index=False, float_format="%.6f", lineterminator="\n").encode())


def read_csv(path: str | Path) -> pd.DataFrame:
    """Read a table that `write_csv` wrote: only empty cells are missing values, not a model of the name NA."""
    return pd.read_csv(path, keep_default_na=False, na_values=[""], dtype={"model": str, "experiment": str})
