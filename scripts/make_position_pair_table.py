"""Make the table of pairs of positions: paired differences with exact McNemar tests, corrected by Holm."""

import argparse

import pandas as pd

from litm.cli import run
from litm.csv_tables import write_csv
from litm.position_pairs import POSITION_PAIR_COLUMNS, pairwise_rows
from litm.score_groups import curves


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", required=True, nargs="+", help="score files of sweeps")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    rows = [row for path in args.scores for curve in curves(pd.read_parquet(path)) for row in pairwise_rows(curve)]
    write_csv(args.output, pd.DataFrame(rows, columns=POSITION_PAIR_COLUMNS))


if __name__ == "__main__":
    run(main)
