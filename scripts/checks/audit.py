"""Print the findings of the audit: answers that change when prompts are asked one at a time, by position."""

import argparse

from litm.base.cli import run
from litm.base.records import read_csv
from litm.checks.audit import audit_findings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", required=True, help="results/tables/audit.csv")
    args = parser.parse_args()
    for finding in audit_findings(read_csv(args.table)):
        print(finding)
    print(f"{args.table} has the flips of each cell with their intervals")


if __name__ == "__main__":
    run(main)
