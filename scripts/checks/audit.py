"""Print the findings of the audit: answers that change when prompts are asked one at a time, by position.

table: results/tables/audit.csv
"""

from litm.base.cli import program
from litm.tables.table import tables


@program
def main(table: str) -> None:
    from litm.checks.audit import audit_findings

    for finding in audit_findings(tables()["audit"].read(table)):
        print(finding)
    print(f"{table} has the flips of each cell with their intervals")
