"""Make the table of gold answers that need care: symbols only, very short, in the question or a distractor."""

import argparse

import pandas as pd

from litm.cli import run
from litm.csv_tables import write_csv
from litm.domain.example import read_examples
from litm.examples.answer_check import answer_check_row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiments", required=True, nargs="+", help="names, in the order of the example files")
    parser.add_argument("--examples", required=True, nargs="+", help="one example file of each size")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    rows = []
    for experiment, path in zip(args.experiments, args.examples, strict=True):
        examples = list(read_examples(path))
        rows.append(answer_check_row(experiment, examples[0].size, examples))
    write_csv(args.output, pd.DataFrame(rows))


if __name__ == "__main__":
    run(main)
