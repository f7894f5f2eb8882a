"""Print what the audit found: answers that differ when they are asked for one at a time, and at which positions."""

import argparse

from litm.audit import audit_findings
from litm.cli import run
from litm.csv_tables import read_csv


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", required=True, help="results/tables/audit.csv")
    args = parser.parse_args()
    for finding in audit_findings(read_csv(args.table)):
        print(finding)
    print(f"{args.table} has the flips of each cell with their intervals")


if __name__ == "__main__":
    run(main)
