"""Make the table of utilisation: what share of what the documents could give a model takes from them."""

import argparse

import pandas as pd

from litm.cli import run
from litm.csv_tables import write_csv
from litm.utilisation import UTILISATION_COLUMNS, utilisation_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", required=True, nargs="+", help="score files of sweeps")
    parser.add_argument("--closed-book", required=True, nargs="+", help="for each the scores without documents")
    parser.add_argument("--oracle", required=True, nargs="+", help="for each the scores with the gold document alone")
    parser.add_argument("--seed", required=True, type=int, help="of the bootstrap")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    rows = []
    for paths in zip(args.scores, args.closed_book, args.oracle, strict=True):
        scores, closed_book, oracle = map(pd.read_parquet, paths)
        rows += utilisation_rows(scores, closed_book, oracle, args.seed)
    write_csv(args.output, pd.DataFrame(rows, columns=UTILISATION_COLUMNS).astype({"position": "Int64"}))


if __name__ == "__main__":
    run(main)
