"""Draw the training curves of the reference model, as PNG and PDF."""

import argparse

from litm.base.cli import run
from litm.base.records import read_csv
from litm.figures.drawing.saving import save_figure
from litm.reference_model.export import training_curve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--curve", required=True, help="the table that train_reference_model.py wrote")
    parser.add_argument("--png", required=True)
    parser.add_argument("--pdf", required=True)
    args = parser.parse_args()
    figure = training_curve(read_csv(args.curve))
    save_figure(figure, args.png)
    save_figure(figure, args.pdf)


if __name__ == "__main__":
    run(main)
