"""Parquet files."""

from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd

from litm.base.errors import UserError
from litm.base.text_files import remedy


def read_parquet(
    path: str | Path, columns: Sequence[str] | None = None, optional: Collection[str] = ()
) -> pd.DataFrame:
    """The rows of a Parquet file, with these columns or all; `UserError` for a damaged file.

    optional: columns that the file may lack.
    """
    from pyarrow import ArrowInvalid, parquet

    try:
        if columns is not None and set(optional) & set(columns):
            there = parquet.read_schema(path).names
            columns = [name for name in columns if name in there or name not in optional]
        return pd.read_parquet(path, columns=None if columns is None else list(columns))
    except ArrowInvalid as error:
        raise UserError(f"{path}: not a whole Parquet file: {remedy(path)}") from error
