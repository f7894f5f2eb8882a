"""Draw one figure from score files, as PNG and PDF."""

import argparse

import pandas as pd

from litm.cli import json_object, run
from litm.csv_tables import read_csv
from litm.figures import draw_figure, rows_of_cells, rows_of_sweep, save_figure
from litm.published import published_table, read_published


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", required=True, type=json_object, help="JSON with the figure's settings")
    parser.add_argument("--scores", required=True, nargs="+", help="score files of sweeps")
    parser.add_argument("--recall", nargs="*", default=[], help="recall tables of the retrievers in the figure")
    parser.add_argument("--published", nargs="?", help="published accuracies, if they are drawn too")
    parser.add_argument("--png", required=True)
    parser.add_argument("--pdf", required=True)
    args = parser.parse_args()
    figure = draw_figure(
        args.figure,
        pd.concat([rows_of_sweep(pd.read_parquet(path), args.figure) for path in args.scores]),
        pd.concat([read_csv(path) for path in args.recall]) if args.recall else None,
        rows_of_cells(published_table(read_published(args.published)), args.figure) if args.published else None,
    )
    save_figure(figure, args.png)
    save_figure(figure, args.pdf)


if __name__ == "__main__":
    run(main)
