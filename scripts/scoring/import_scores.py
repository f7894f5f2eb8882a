"""Import the verdicts of a table as the scores of a sweep: one row a verdict, as Parquet, and one row a cell, as CSV.

model: the model's name
experiment: the experiment's name
table: the file of verdicts
cells: JSON: in a list, the [size, placement] of all cells of the experiment
columns: JSON: the table's names of columns by ours
position_scale: the scale of the positions; if omitted, their values tell
full_score: the score of a right answer
rows: JSON: the values of the rows to read, by the table's names; if omitted, those of the model and the experiment
scores: output: a Parquet file
accuracy: output: a CSV file, with all decimals
manifest: output: identity and counts
"""

import json
from typing import Annotated

from litm.base.cli import program
from litm.base.json_files import write_json
from litm.base.messages import UserError, note
from litm.base.store import file_sha256
from litm.base.table_files import write_csv, write_parquet
from litm.inference.asked_sweep import sweep_fields
from litm.recorded.score_tables import read_verdict_table, verdict_counts
from litm.records.cells import Cell


@program
def main(
    model: str,
    experiment: str,
    table: str,
    cells: Annotated[list, json.loads],
    scores: str,
    accuracy: str,
    manifest: str,
    columns: dict | None = None,
    position_scale: str | None = None,
    full_score: float = 1,
    rows: dict | None = None,
) -> None:
    from litm.scoring.scores import Sweep, accuracies, verdict_scores

    of_experiment = [Cell(*cell) for cell in cells[0]]
    try:
        read = read_verdict_table(table, columns, position_scale, full_score, rows, of_experiment)
        verdicts = [*read.of_sweep(model, experiment, table).rows]
    except UserError as error:
        raise UserError(f"{model}/{experiment}: {error}") from error
    scored = verdict_scores(verdicts, Sweep(model, experiment, ""))
    write_parquet(scores, scored)
    write_csv(accuracy, accuracies(scored), decimals=None)
    missing = int(scored["correct"].isna().sum())
    source = {"recorded": [{"sha256": file_sha256(table), "cells": cells[0]}]}
    sweep_of = sweep_fields(model, experiment, {"source": source, "columns": columns or {}, "rows": rows or {}})
    write_json(manifest, sweep_of | verdict_counts(len(scored), missing))
    note(f"{model}/{experiment}: {len(scored) - missing} verdicts, {missing} rows without one")
