"""Tables of results (CSV, Parquet): equal tables give equal bytes."""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from errno import EINVAL
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litm.base.files import atomic_writer, is_result, remedy, write_text
from litm.base.messages import UserError, single_spaced

# Imported where it is used, because the rules read JSON too.
if TYPE_CHECKING:
    import pandas as pd

#: Packages that read Parquet files, the first where it is installed, and what unpacks them for the second.
READERS = ("pyarrow", "fastparquet", "cramjam")


def check_whole(path: str | Path) -> None:
    """Raise `UserError` for a CSV file of the results that does not end with a line end: a part of it is missing."""
    with Path(path).open("rb") as raw:
        raw.seek(max(0, raw.seek(0, os.SEEK_END) - 1))
        if is_result(path) and raw.read() != b"\n":
            raise UserError(f"{path}: its last line is incomplete: {remedy(path)}")


def write_csv(
    path: str | Path,
    table: "pd.DataFrame | Sequence[Mapping]",
    decimals: int | None = 6,
    p_values: Collection[str] = (),
) -> None:
    """Write a table, or rows with the same keys, as CSV, see `csv_text`."""
    import pandas as pd

    write_text(path, csv_text(pd.DataFrame(table), decimals, p_values))


def csv_text(table: "pd.DataFrame", decimals: int | None = 6, p_values: Collection[str] = ()) -> str:
    """A table as CSV: fractions with `decimals` decimals (None: all of them), missing values empty.

    p_values: columns with six significant digits instead (1.30421e-174), so that readers can correct them.
    """
    texts = {name: table[name].map("{:.6g}".format, na_action="ignore") for name in p_values if name in table}
    float_format = None if decimals is None else f"%.{decimals}f"
    return table.assign(**texts).to_csv(index=False, float_format=float_format, lineterminator="\n")


def read_csv(path: str | Path, dtypes: Mapping[str, str] | None = None) -> "pd.DataFrame":
    """Read a table that `write_csv` wrote: only empty cells are missing values, not a model of the name NA.

    dtypes: pandas types by column; a column that is not named gets that of its values. Raises `UserError` for a damaged
    file.
    """
    import pandas as pd

    check_whole(path)
    types = {"model": str, "experiment": str} if dtypes is None else dtypes
    try:
        return pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=types)
    except ValueError as error:
        raise UserError(f"{path}: {single_spaced(str(error))}: {remedy(path)}") from error


def write_parquet(path: str | Path, table: "pd.DataFrame") -> None:
    """Write a table as Parquet, without its index, by pyarrow, or by fastparquet where that is not installed."""
    with atomic_writer(path) as raw:
        # As bytes: fastparquet closes a file.
        raw.write(table.to_parquet(None, index=False))


def read_parquet(path: str | Path, columns: Sequence[str] | None = None) -> "pd.DataFrame":
    """The rows of a Parquet file, with these columns or all; `UserError` for a damaged file."""
    import pandas as pd

    with _whole_parquet(path):
        table = pd.read_parquet(path, columns=None if columns is None else list(columns))
    if find_spec("pyarrow"):
        return table
    # fastparquet gives texts as objects.
    return table.astype(dict.fromkeys(table.select_dtypes(object).columns, "str"))


@contextmanager
def _whole_parquet(path: str | Path) -> Iterator[None]:
    """`UserError` for what pyarrow, or fastparquet, says of a damaged file."""
    try:
        yield
    except Exception as error:
        # Of a part of a file they say that an argument is invalid; other errors of the system are no damage.
        is_damage = error.errno in (None, EINVAL) if isinstance(error, OSError) else _is_of_reader(error)
        if not is_damage:
            raise
        raise UserError(f"{path}: not a whole Parquet file: {remedy(path)}") from error


def _is_of_reader(error: Exception) -> bool:
    """Whether a package that reads Parquet files, or unpacks them, says this of a file."""
    return isinstance(error, ValueError) or type(error).__module__.partition(".")[0] in READERS


def parquet_records(path: str | Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file of another program, as JSON has them; `UserError` for a damaged file."""
    with _whole_parquet(path):
        if find_spec("pyarrow"):
            from pyarrow.parquet import read_table

            return json.loads(json.dumps(read_table(path).to_pylist(), default=str))
        import pandas as pd

        return json.loads(json.dumps(plain_rows(pd.read_parquet(path)), default=str))


def plain_rows(table: "pd.DataFrame") -> list[dict[Any, Any]]:
    """The rows as dictionaries of plain Python values, which JSON can write; None for a missing value."""
    import numpy as np

    # The values of all columns at once: pandas' own records take ten times as long, most of a small table's time.
    values = table.to_numpy(dtype=object, copy=True)
    values[table.isna().to_numpy(dtype=bool)] = None
    names = [*table.columns]
    rows = ([value.item() if isinstance(value, (np.number, np.bool_)) else value for value in row] for row in values)
    return [dict(zip(names, row, strict=True)) for row in rows]


def by_cell(table: "pd.DataFrame", columns: Sequence[str]) -> Iterator[tuple[dict[Any, Any], "pd.DataFrame"]]:
    """Yield the rows of each cell, which agree in these columns, with their values as in `plain_rows`.

    `items` may differ within a cell, where a cut leaves different numbers of documents; its value is then None.
    """
    cells = table.groupby([name for name in columns if name != "items"], sort=False, dropna=False)
    # All names at once: a small table for each cell takes most of the time.
    for names, (_, rows) in zip(plain_rows(cells.head(1)[[*columns]]), cells, strict=True):
        differ = "items" in columns and rows["items"].nunique() > 1
        yield names | ({"items": None} if differ else {}), rows
