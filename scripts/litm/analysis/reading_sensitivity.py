"""Results by the answers' first lines and by the whole answers: rows of reading_sensitivity.csv.

A metric reads one of the two. A model that announces its answer ("The answer is:") may give it on the next line; a
model that continues with further questions writes other text after its answer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from litm.analysis.clusters import cluster_codes, contrast_interval
from litm.analysis.families import FIRST_LINE, FULL, changes_sign, conclusion
from litm.analysis.paired_scores import CELL, curves, interval_columns, names_of, verdict_grid
from litm.analysis.pbi import CONTRASTS
from litm.analysis.position_bias import position_bias_row
from litm.analysis.statistics import Estimate
from litm.analysis.utilisation import utilisation_rows
from litm.base.intervals import clustered_interval
from litm.base.messages import percent, points

ACCURACY, GAP, UTILISATION = "accuracy", "accuracy - closed book", "utilisation"
#: Fraction of first lines that end with a colon above which there is a warning.
MANY_PREAMBLES = 0.05
#: Columns of score rows that are read.
COLUMNS = (
    "model", *CELL, "items", "id", "correct", "correct_first_line", "correct_full", "excluded", "empty", "preamble",
    "more_lines", "cluster",
)  # fmt: skip


def sensitivity_rows(
    scores: pd.DataFrame, closed_book: pd.DataFrame | None, oracle: pd.DataFrame | None, seed: int = 0
) -> Iterator[dict]:
    """Rows of one sweep: accuracy of each cell; primacy, recency, tilt and PBI of each curve; gap to closed book and
    utilisation of each cell, if the model has answered the references.

    Each quantity is computed as in its own table, with `correct_first_line` and with `correct_full` instead of
    `correct`. `changes`: whether the two intervals lead to different conclusions; missing for accuracies.
    """
    for cell, group in scores.groupby(["model", *CELL], sort=False, dropna=False):
        yield _accuracy_row(names_of(["model", *CELL], cell), group)
    for curve in curves(scores):
        yield from _curve_rows(curve, seed)
    if closed_book is not None:
        for cell, group in scores.groupby(["model", *CELL], sort=False, dropna=False):
            yield from _gap_row(names_of(["model", *CELL], cell), group, closed_book)
    if closed_book is not None and oracle is not None:
        yield from _utilisation_rows(scores, closed_book, oracle, seed)


def _read_as(scores: pd.DataFrame, reading: str) -> pd.DataFrame:
    return scores.assign(correct=scores[f"correct_{reading}"])


def _accuracy_row(names: Mapping, group: pd.DataFrame) -> dict:
    counted = group[~group["excluded"] & group["correct"].notna()]
    n, announced = len(counted), counted["preamble"].astype(bool)
    clusters = cluster_codes(counted, pd.Index(counted["id"]))
    estimates = {}
    for reading in (FIRST_LINE, FULL):
        right = counted[f"correct_{reading}"].to_numpy(dtype=bool)
        value = int(right.sum()) / n if n else 0.0
        estimates[reading] = Estimate(value, *clustered_interval(right, clusters), 0.0) if n else None
    return {
        **names,
        "quantity": ACCURACY,
        "n": n,
        "n_more_lines": int(counted["more_lines"].sum()),
        "n_preamble": int(announced.sum()),
        "n_preamble_right": int(counted.loc[announced, "correct_first_line"].sum()),
        **_columns(estimates),
        # An accuracy is never below 0, so it has no conclusion.
        **dict.fromkeys(("conclusion_first_line", "conclusion_full", "changes_with_reading")),
    }


def _curve_rows(curve: pd.DataFrame, seed: int) -> Iterator[dict]:
    rows = {
        reading: position_bias_row(_read_as(curve, reading), seed, permutations=1) for reading in (FIRST_LINE, FULL)
    }
    one = rows[FULL]
    names = {name: one[name] for name in ("model", "experiment", "task", "metric", "size", "placement", "target")}
    for quantity in CONTRASTS:
        estimates = {reading: _estimate(row, quantity) for reading, row in rows.items()}
        if all(estimates.values()):
            yield {**names, "quantity": quantity, "n": one["n"], **_columns(estimates)}


def _gap_row(names: Mapping, group: pd.DataFrame, closed_book: pd.DataFrame) -> Iterator[dict]:
    """The gap of one cell to the closed-book answers on the common questions, if there are any."""
    told_apart = pd.concat([group.assign(source="a"), closed_book.assign(source="b")])
    where = f"{names['model']}, {names['experiment']}, {names['placement']}"
    grids = {reading: verdict_grid(_read_as(told_apart, reading), "source", where)[1] for reading in (FIRST_LINE, FULL)}
    shared = ~np.isnan(grids[FULL]).any(axis=1)
    if shared.any():
        ids = pd.Index(pd.factorize(told_apart["id"])[1])[shared]
        codes = cluster_codes(group, ids)
        estimates = {
            reading: contrast_interval(grid[shared].astype(np.int64), [1, -1], codes) for reading, grid in grids.items()
        }
        yield {**names, "quantity": GAP, "n": int(shared.sum()), **_columns(estimates)}


def _utilisation_rows(scores: pd.DataFrame, closed_book: pd.DataFrame, oracle: pd.DataFrame, seed: int) -> Iterator:
    rows = [
        utilisation_rows(_read_as(scores, reading), _read_as(closed_book, reading), _read_as(oracle, reading), seed)
        for reading in (FIRST_LINE, FULL)
    ]
    for first, full in zip(*rows, strict=True):
        names = {name: first[name] for name in ("model", *CELL)}
        estimates = {FIRST_LINE: _estimate(first, UTILISATION), FULL: _estimate(full, UTILISATION)}
        yield {**names, "quantity": UTILISATION, "n": first["n"], **_columns(estimates)}


def _estimate(row: Mapping, name: str) -> Estimate | None:
    """The estimate in a row of another table; None without one."""
    if row.get(name) is None:
        return None
    return Estimate(row[name], row[f"{name}_ci_low"], row[f"{name}_ci_high"], 0.0)


def _columns(estimates: Mapping[str, Estimate | None]) -> dict:
    """Both readings, their conclusions, and whether these differ."""
    first, full = estimates[FIRST_LINE], estimates[FULL]
    return {
        **interval_columns("value_first_line", first),
        **interval_columns("value_full", full),
        "conclusion_first_line": conclusion(first) if first else None,
        "conclusion_full": conclusion(full) if full else None,
        "changes_with_reading": changes_sign(first, full) if first and full else None,
    }


# --- Warnings --------------------------------------------------------------------------------------------------


def reading_warnings(table: pd.DataFrame | None, stops: Mapping[tuple[str, str], str] | None = None) -> list[str]:
    """One line per sweep with a conclusion that depends on the reading, and per sweep with many announced answers; []
    without a table. stops: where the answers of a (model, experiment) end, as far as known.
    """
    lines: list[str] = []
    if table is None:
        return lines
    for (model, experiment), rows in table.groupby(["model", "experiment"], sort=False):
        changed = rows[rows["changes_with_reading"].fillna(False).astype(bool)].to_dict("records")
        lines += _changed_line(f"{model} on {experiment}", changed)
        ends_early = (stops or {}).get((str(model), str(experiment))) == FIRST_LINE
        lines += _preamble_line(f"{model} on {experiment}", rows[rows["quantity"] == ACCURACY], ends_early)
    return lines


def _changed_line(what: str, changed: Sequence[Mapping]) -> Iterable[str]:
    if not changed:
        return []
    row = changed[0]
    place = f", {row['placement']}" if not pd.isna(row["placement"]) else ""
    first, full = (
        f"{points(row[name])} [{percent(row[f'{name}_ci_low'])}, {percent(row[f'{name}_ci_high'])}]"
        for name in ("value_first_line", "value_full")
    )
    more = f"; so do {len(changed) - 1} more, see reading_sensitivity.csv" if len(changed) > 1 else ""
    return [
        f"{what}: a conclusion changes with how much of the answers is read: {row['quantity']} (size {row['size']}"
        f"{place}) is {first} by the first line and {full} by the whole answer{more}"
    ]


def _preamble_line(what: str, cells: pd.DataFrame, ends_early: bool) -> Iterable[str]:
    n, announced = int(cells["n"].sum()), int(cells["n_preamble"].sum())
    if not n or announced <= MANY_PREAMBLES * n:
        return []
    right = int(cells["n_preamble_right"].sum())
    rest = "; nothing after it was recorded, `stop: end_token` records all of it" if ends_early else ""
    return [
        f"{what}: {percent(announced / n)} % of the answers have a first line that ends with a colon; "
        f"{percent(right / announced)} % of these are right{rest}"
    ]
