"""Write a table of results/tables as Markdown."""

import argparse

from litm.analysis.tables import load_table, table_names
from litm.base.cli import run
from litm.base.files import write_text
from litm.base.records import read_csv


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", required=True, choices=table_names())
    parser.add_argument("--csv", required=True, help="the table, as make_table.py wrote it")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    table = load_table(args.table).TABLE
    write_text(args.output, table.markdown(read_csv(args.csv, table.dtypes)))


if __name__ == "__main__":
    run(main)
