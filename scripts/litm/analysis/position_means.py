"""Accuracy averaged over the positions of the gold item, for each model, experiment and size."""

import pandas as pd

from litm.analysis.clusters import mean_interval
from litm.analysis.paired_scores import complete_cases, curves

#: The columns that figures by size read.
COLUMNS = ["model", "experiment", "size", "n", "accuracy", "ci_low", "ci_high"]
FLOATS = dict.fromkeys(["accuracy", "ci_low", "ci_high"], "Float64")


def position_means(scores: pd.DataFrame) -> pd.DataFrame:
    """The columns `COLUMNS`, one row a (model, experiment, size) of a sweep's scores, over the questions scored at
    every position.

    n: those questions, accuracy missing where there are none; ci_low, ci_high: 95 % limits over the questions, see
    `statistics.mean_interval`.
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
    """The same of rows of the accuracy table alone, without the single answers.

    The interval is then the widest that the intervals of the cells allow: the means of their limits, as if a question
    were right everywhere or nowhere. n: the fewest of a cell.
    """
    cells = accuracy[accuracy["position"].notna() & (accuracy["size"] > 1) & (accuracy["n"] > 0)]
    means = cells.groupby(["model", "experiment", "size"], sort=False, as_index=False).agg(
        {"n": "min", "accuracy": "mean", "ci_low": "mean", "ci_high": "mean"}
    )
    return means[COLUMNS].astype(FLOATS)
