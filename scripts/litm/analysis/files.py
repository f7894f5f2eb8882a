"""The files that a table is made of, read one at a time: score files of all sweeps may not fit the memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from litm.base.csv_files import read_csv
from litm.base.json_files import read_json
from litm.domain.example import Example, read_examples

#: Columns that a score file has only where its experiment asks for them; asking for one that is not there is no error.
OPTIONAL = ("cluster",)


@dataclass(frozen=True)
class Files:
    """Files of one kind, in the order of the rows that are made of them."""

    paths: Sequence[str]

    @property
    def path(self) -> str:
        """The only file; `ValueError` if there are several, or none."""
        (path,) = self.paths
        return path

    def scores(self, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """The score rows of one sweep after another, with these columns or all."""
        return (_scores(path, columns) for path in self.paths)

    def by_experiment(self, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """The score rows of one experiment after another, those of all its models together."""
        files: dict[tuple[str, ...], list[str]] = {}
        for path in self.paths:
            experiment = pd.read_parquet(path, columns=["experiment"])["experiment"].unique()
            files.setdefault(tuple(experiment), []).append(path)
        for same in files.values():
            yield pd.concat([_scores(path, columns) for path in same])

    def joined(self, dtypes: Mapping[str, str] | None = None) -> pd.DataFrame:
        """The rows of all CSV files, with columns of these types."""
        return pd.concat([read_csv(path, dtypes) for path in self.paths], ignore_index=True)

    def examples(self) -> Iterator[list[Example]]:
        """The examples of one file after another."""
        return (list(read_examples(path)) for path in self.paths)

    def objects(self) -> Iterator[dict]:
        """The object of one JSON file after another."""
        return (read_json(path) for path in self.paths)


def _scores(path: str, columns: Sequence[str] | None) -> pd.DataFrame:
    if columns is not None:
        from pyarrow import parquet

        there = parquet.read_schema(path).names if set(OPTIONAL) & set(columns) else columns
        columns = [name for name in columns if name in there or name not in OPTIONAL]
    return pd.read_parquet(path, columns=columns)
