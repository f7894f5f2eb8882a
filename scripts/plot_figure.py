"""Draw one figure from score files, as PNG and PDF."""

import argparse

import pandas as pd

from litm.accuracy import accuracy_table
from litm.cli import json_object, run
from litm.csv_tables import read_csv
from litm.figures import position_curve, save_figure, size_curve, target_bars

RECALL_COLUMNS = ["questions", "corpus", "retriever", "k", "n", "recall", "ci_low", "ci_high"]

#: From the rows of accuracy, those of recall, and the figure's settings.
DRAW = {
    "accuracy_by_position": lambda accuracy, recall, figure: position_curve(accuracy, figure),
    "accuracy_by_size": size_curve,
    "accuracy_by_target": lambda accuracy, recall, figure: target_bars(accuracy, figure),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", required=True, type=json_object, help="JSON with the figure's settings")
    parser.add_argument("--scores", required=True, nargs="+", help="score files of sweeps")
    parser.add_argument("--recall", nargs="*", default=[], help="recall tables of the retrievers in the figure")
    parser.add_argument("--png", required=True)
    parser.add_argument("--pdf", required=True)
    args = parser.parse_args()
    accuracy = pd.concat([accuracy_table(pd.read_parquet(path)) for path in args.scores])
    recall = [read_csv(path) for path in args.recall] or [pd.DataFrame(columns=RECALL_COLUMNS)]
    figure = DRAW[args.figure["kind"]](accuracy, pd.concat(recall), args.figure)
    save_figure(figure, args.png)
    save_figure(figure, args.pdf)


if __name__ == "__main__":
    run(main)
