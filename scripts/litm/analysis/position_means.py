"""Accuracy averaged over the positions of the gold item, by model, experiment and size."""

import pandas as pd

from litm.analysis.clusters import mean_interval
from litm.analysis.paired_scores import complete_cases, curves

#: Columns that figures by size read.
COLUMNS = ["model", "experiment", "size", "n", "accuracy", "ci_low", "ci_high"]
FLOATS = dict.fromkeys(["accuracy", "ci_low", "ci_high"], "Float64")


def position_means(scores: pd.DataFrame) -> pd.DataFrame:
    """One row with `COLUMNS` per (model, experiment, size) of a sweep's scores, over the questions scored at every
    position.

    n: number of these questions, without which the accuracy is missing; ci_low, ci_high: 95 % limits over the
    questions, see `statistics.mean_interval`.
    """
    rows = []
    for group in curves(scores):
        cases = complete_cases(group)
        names = [cases.names[name] for name in ("model", "experiment", "size")]
        n = len(cases.matrix)
        estimate = mean_interval(cases.matrix, cases.clusters) if n else None
        rows.append([*names, n, *((estimate.value, estimate.low, estimate.high) if estimate else (None,) * 3)])
    return pd.DataFrame(rows, columns=COLUMNS).astype(FLOATS)


def means_of_cells(accuracy: pd.DataFrame) -> pd.DataFrame:
    """The same from rows of the accuracy table, without single answers.

    The interval is the widest that the cells' intervals allow: the means of their limits, as if each question were
    right everywhere or nowhere. n: the smallest of a cell.
    """
    cells = accuracy[accuracy["position"].notna() & (accuracy["size"] > 1) & (accuracy["n"] > 0)]
    means = cells.groupby(["model", "experiment", "size"], sort=False, as_index=False).agg(
        {"n": "min", "accuracy": "mean", "ci_low": "mean", "ci_high": "mean"}
    )
    return means[COLUMNS].astype(FLOATS)
