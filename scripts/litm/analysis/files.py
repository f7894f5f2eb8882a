"""Input files of a table, read one at a time, because the score files of all sweeps may exceed the memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from litm.base.records import read_csv, read_json, read_parquet
from litm.records import Example, read_examples

#: Columns that only some score files have; reading one that is missing is no error.
OPTIONAL = ("cluster",)


@dataclass(frozen=True)
class Files:
    """Files of one kind, in the order of the table's rows."""

    paths: Sequence[str]

    @property
    def path(self) -> str:
        """The single file; `ValueError` if there are several or none."""
        (path,) = self.paths
        return path

    def scores(self, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """Yield the score rows of each sweep, with these columns or all."""
        return (read_parquet(path, columns, OPTIONAL) for path in self.paths)

    def by_experiment(self, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """Yield the score rows of each experiment, with all its models."""
        files: dict[tuple[str, ...], list[str]] = {}
        for path in self.paths:
            experiment = read_parquet(path, ["experiment"])["experiment"].unique()
            files.setdefault(tuple(experiment), []).append(path)
        for same in files.values():
            yield pd.concat([read_parquet(path, columns, OPTIONAL) for path in same])

    def joined(self, dtypes: Mapping[str, str] | None = None) -> pd.DataFrame:
        """The rows of all CSV files, with columns of these types."""
        return pd.concat([read_csv(path, dtypes) for path in self.paths], ignore_index=True)

    def examples(self) -> Iterator[list[Example]]:
        """Yield the examples of each file."""
        return (list(read_examples(path)) for path in self.paths)

    def objects(self) -> Iterator[dict]:
        """Yield the object of each JSON file."""
        return (read_json(path) for path in self.paths)
