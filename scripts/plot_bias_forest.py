"""Draw the Position Bias Index of every curve from its table, as PNG and PDF."""

import argparse

from litm.cli import run
from litm.csv_tables import read_csv
from litm.figures import bias_forest, save_figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--position-bias", required=True, help="the table of position bias")
    parser.add_argument("--png", required=True)
    parser.add_argument("--pdf", required=True)
    args = parser.parse_args()
    figure = bias_forest(read_csv(args.position_bias))
    save_figure(figure, args.png)
    save_figure(figure, args.pdf)


if __name__ == "__main__":
    run(main)
