"""Draw one figure from score files, as PNG and PDF."""

import argparse

import pandas as pd

from litm.accuracy import accuracy_table
from litm.cli import json_object, run
from litm.figures import position_curve, save_figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", required=True, type=json_object, help="JSON with the figure's settings")
    parser.add_argument("--scores", required=True, nargs="+", help="score files of sweeps")
    parser.add_argument("--png", required=True)
    parser.add_argument("--pdf", required=True)
    args = parser.parse_args()
    accuracy = pd.concat([accuracy_table(pd.read_parquet(path)) for path in args.scores])
    figure = position_curve(accuracy, args.figure)
    save_figure(figure, args.png)
    save_figure(figure, args.pdf)


if __name__ == "__main__":
    run(main)
