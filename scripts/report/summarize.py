"""Make the suite's summaries of one model: one a curve, and the master summary of all its curves."""

import argparse

from litm.base.cli import run
from litm.base.files import folder_writer
from litm.base.records import read_csv
from litm.domain.curve import Curve
from litm.report.suite.summaries import curve_summary, master_summary, parse_curves, write_summary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument(
        "--curves",
        required=True,
        type=lambda text: parse_curves(text, Curve),
        metavar="JSON",
        help="list of {name, experiment, size, placement}; placement is null unless prompts have several gold items",
    )
    parser.add_argument("--accuracy", required=True, help="the accuracy table")
    parser.add_argument("--position-bias", nargs="?", help="the table of position bias, where there is one")
    parser.add_argument("--output", required=True, help="output: a folder, replaced as a whole")
    args = parser.parse_args()
    accuracy = read_csv(args.accuracy)
    position_bias = read_csv(args.position_bias) if args.position_bias else None
    summaries = [curve_summary(args.model, curve, accuracy, position_bias) for curve in args.curves]
    with folder_writer(args.output) as folder:
        for curve, summary in zip(args.curves, summaries, strict=True):
            write_summary(folder / curve.name / "summary.json", summary)
        write_summary(folder / "master_summary.json", master_summary(args.model, summaries))


if __name__ == "__main__":
    run(main)
