"""Compare the recorded answers of a sweep with the audit's answers to the same prompts, one row per cell."""

import argparse

from litm.base.cli import run
from litm.base.records import write_csv
from litm.checks.audit import audit_table
from litm.domain.example import read_examples
from litm.domain.response import read_responses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--metric", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--examples", required=True, nargs="+")
    parser.add_argument("--responses", required=True, help="what generate.py wrote")
    parser.add_argument("--again", required=True, help="what ask_again.py wrote")
    parser.add_argument("--output", required=True, help="output: a CSV table, one row a cell")
    args = parser.parse_args()
    table = audit_table(
        args.model,
        args.experiment,
        args.metric,
        examples=read_examples(*args.examples),
        recorded=read_responses(args.responses),
        again=read_responses(args.again),
        seed=args.seed,
    )
    write_csv(args.output, table)


if __name__ == "__main__":
    run(main)
