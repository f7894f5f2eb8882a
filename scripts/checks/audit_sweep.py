"""Compare the recorded answers of a sweep with the audit's answers to the same prompts, one row per cell.

responses: what generate.py wrote
again: what ask_again.py wrote
output: a CSV table, one row a cell
"""

from litm.base.cli import program
from litm.base.table_files import write_csv
from litm.records.examples import read_examples
from litm.records.responses import read_responses


@program
def main(
    model: str,
    experiment: str,
    metric: str,
    seed: int,
    examples: tuple[str, ...],
    responses: str,
    again: str,
    output: str,
) -> None:
    from litm.checks.audit import audit_rows
    from litm.tables.table import tables

    recorded, asked_again = read_responses(responses), read_responses(again)
    rows = audit_rows(model, experiment, metric, read_examples(*examples), recorded, asked_again, seed)
    write_csv(output, tables()["audit"].frame(rows, is_whole=True))
