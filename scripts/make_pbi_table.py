"""Make the table of the Position Bias Index across experiments, as CSV and as Markdown."""

import argparse

from litm.cli import run
from litm.csv_tables import read_csv, write_csv
from litm.pbi_table import as_markdown, pbi_table
from litm.records import atomic_writer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--position-bias", required=True, help="the table of position bias")
    parser.add_argument("--csv", required=True)
    parser.add_argument("--markdown", required=True)
    args = parser.parse_args()
    table = pbi_table(read_csv(args.position_bias))
    write_csv(args.csv, table)
    with atomic_writer(args.markdown) as target:
        target.write(as_markdown(table).encode())


if __name__ == "__main__":
    run(main)
