"""Make the suite's summaries of one model: one a curve, and the master summary of all its curves."""

import argparse
import json

from litm.cli import run
from litm.csv_tables import read_csv
from litm.curves import Curve
from litm.errors import UserError
from litm.records import atomic_writer
from litm.summaries import curve_summary, master_summary, parse_curves


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
    parser.add_argument("--summaries", required=True, nargs="+", help="output: one a curve, in their order")
    parser.add_argument("--master", required=True, help="output: all of them")
    args = parser.parse_args()
    if len(args.summaries) != len(args.curves):
        raise UserError(f"{len(args.summaries)} files in --summaries for {len(args.curves)} curves: give one each")
    accuracy = read_csv(args.accuracy)
    position_bias = read_csv(args.position_bias) if args.position_bias else None
    summaries = [curve_summary(args.model, curve, accuracy, position_bias) for curve in args.curves]
    for path, summary in zip(args.summaries, summaries, strict=True):
        write_summary(path, summary)
    write_summary(args.master, master_summary(args.model, summaries))


def write_summary(path: str, summary: dict) -> None:
    """Write JSON whose keys keep their order, so that positions ascend and curves are in the order of the config."""
    with atomic_writer(path) as raw:
        raw.write(json.dumps(summary, indent=2, allow_nan=False).encode() + b"\n")


if __name__ == "__main__":
    run(main)
