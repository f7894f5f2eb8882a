"""Make the table of differences between models, on the questions that both were asked."""

import argparse
from collections.abc import Iterable, Iterator

import pandas as pd

from litm.cli import run
from litm.csv_tables import write_csv
from litm.model_differences import COLUMNS, MODEL_DIFFERENCE_COLUMNS, model_difference_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", required=True, nargs="+", help="score files of sweeps")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    rows = [row for scores in scores_by_experiment(args.scores) for row in model_difference_rows(scores)]
    table = pd.DataFrame(rows, columns=MODEL_DIFFERENCE_COLUMNS).astype({"position": "Int64"})
    write_csv(args.output, table)


def scores_by_experiment(paths: Iterable[str]) -> Iterator[pd.DataFrame]:
    """The score rows of one experiment after another, of all its models: of all at once they may not fit the memory."""
    files: dict[tuple[str, ...], list[str]] = {}
    for path in paths:
        experiment = pd.read_parquet(path, columns=["experiment"])["experiment"].unique()
        files.setdefault(tuple(experiment), []).append(path)
    for same in files.values():
        yield pd.concat([pd.read_parquet(path, columns=COLUMNS) for path in same])


if __name__ == "__main__":
    run(main)
