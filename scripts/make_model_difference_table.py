"""Make the table of differences between models, on the questions that both were asked."""

import argparse

import pandas as pd

from litm.cli import run
from litm.csv_tables import write_csv
from litm.model_differences import MODEL_DIFFERENCE_COLUMNS, model_difference_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", required=True, nargs="+", help="score files of sweeps")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    rows = model_difference_rows(pd.concat([pd.read_parquet(path) for path in args.scores]))
    table = pd.DataFrame(rows, columns=MODEL_DIFFERENCE_COLUMNS).astype({"position": "Int64"})
    write_csv(args.output, table)


if __name__ == "__main__":
    run(main)
