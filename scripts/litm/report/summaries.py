"""Summaries of curves in the suite's format: accuracy by position and the Position Bias Index, from rows of the tables.

A value that does not exist is None, never NaN.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from litm.analysis.pbi import CLASSES, INVERTED
from litm.analysis.shapes import MEASURED, NO_INFORMATION
from litm.base.files import atomic_writer
from litm.base.messages import UserError
from litm.base.table_files import plain_rows
from litm.records.cells import Curve

PBI_CLASSES = (*(name for _, name in CLASSES), "flat", INVERTED)

#: Values of a summary from a row of position_bias.csv: the suite's keys, and the columns.
_BIAS = {
    "edge_accuracy": "accuracy_edge",
    "middle_accuracy": "accuracy_middle",
    **{name: name for name in ("pbi", "pbi_ci_low", "pbi_ci_high", "pbi_class", "class_certain")},
}

#: Columns of the accuracy table that count questions outside n.
_NOT_COUNTED = ["n_left_out", "n_failed", "n_not_recorded"]


def rows_of_curve(table: pd.DataFrame, model: str, curve: Curve) -> pd.DataFrame:
    """Rows of one model and curve, from a table or from score rows."""
    chosen = (table["model"] == model) & (table["experiment"] == curve.experiment) & (table["size"] == curve.size)
    if curve.placement is not None:
        chosen &= table["placement"] == curve.placement
    return table[chosen]


def curve_summary(model: str, curve: Curve, accuracy: pd.DataFrame, position_bias: pd.DataFrame | None) -> dict:
    """The suite's summary of one curve.

    accuracy, position_bias: tables with the rows of all models; position_bias is None if there is no such table.
    `positions` are fractions of the questions counted at each position; all other numbers are of the `n` questions
    scored at all positions. Raises `UserError` if the accuracy table has no position of the curve.
    """
    table = rows_of_curve(accuracy, model, curve)
    cells = plain_rows(table[table["position"].notna()].sort_values("position", kind="stable"))
    if not cells:
        raise UserError(f"{curve.name}: the accuracy table has no position of {model} at size {curve.size}")
    summary = {
        "experiment": curve.name,
        "model": model,
        **{key: cells[0][key] for key in ("task", "metric")},
        "size": curve.size,
        "items": int(cells[0]["items"]),
        "positions": {str(int(cell["position"])): cell["accuracy"] for cell in cells},
    }
    if curve.placement is not None:
        summary["targets"] = {cell["target"]: int(cell["position"]) for cell in cells}
    rows = [] if position_bias is None else plain_rows(rows_of_curve(position_bias, model, curve))
    return summary | (_of_bias(rows[0]) if rows else _without_bias(cells))


def master_summary(model: str, summaries: Iterable[dict]) -> dict:
    """All summaries of a model by curve name, and the names of the curves in each class of PBI."""
    experiments = {summary["experiment"]: summary for summary in summaries}
    verdicts = [summary["verdict"] for summary in experiments.values()]
    return {
        "model": model,
        "measured": verdicts.count(MEASURED),
        "no_information": verdicts.count(NO_INFORMATION),
        "pbi_classes": {
            name: [curve for curve, summary in experiments.items() if summary["pbi_class"] == name]
            for name in PBI_CLASSES
        },
        "experiments": experiments,
    }


def write_summary(path: Path, summary: Mapping) -> None:
    """Write JSON with the keys in their given order: positions ascend, curves are in the order of the config."""
    with atomic_writer(path) as raw:
        raw.write(json.dumps(summary, indent=2, allow_nan=False).encode() + b"\n")


def _of_bias(row: Mapping) -> dict:
    values = {key: row[column] for key, column in _BIAS.items()}
    values |= {name: row[name] for name in ("verdict", "reason")}
    if row["verdict"] == MEASURED and row["pbi"] is None and not row["reason"]:
        values["reason"] = "no position between the first and the last"
    return {"n": int(row["n"]), "n_incomplete": int(row["n_left_out"]), **values}


def _without_bias(cells: Sequence[Mapping]) -> dict:
    """Summary fields of a curve without a row of position_bias.csv: counts of its one position, or None."""
    alone = len(cells) == 1
    return {
        "n": int(cells[0]["n"]) if alone else None,
        "n_incomplete": sum(int(cells[0][name]) for name in _NOT_COUNTED) if alone else None,
        **dict.fromkeys(_BIAS),
        "verdict": NO_INFORMATION,
        "reason": "only one position" if alone else "not in the table of position bias",
    }
