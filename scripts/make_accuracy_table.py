"""Make the accuracy table: one row a cell, with n and interval."""

import argparse

import pandas as pd

from litm.accuracy import accuracy_table
from litm.cli import run
from litm.csv_tables import write_csv


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", required=True, nargs="+", help="score files of sweeps")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    write_csv(args.output, pd.concat([accuracy_table(pd.read_parquet(path)) for path in args.scores]))


if __name__ == "__main__":
    run(main)
