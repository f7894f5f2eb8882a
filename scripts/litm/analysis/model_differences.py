"""Paired differences between models: rows of model_differences.csv."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from litm.analysis.clusters import cluster_codes
from litm.analysis.paired_scores import (
    CELL,
    DIFFERENCE,
    clustered_difference_columns,
    difference_columns,
    names_of,
    verdict_grid,
)
from litm.analysis.statistics import holm

#: Columns of score rows that are read.
COLUMNS = ["model", *CELL, "id", "correct", "excluded", "cluster"]


def model_difference_rows(scores: pd.DataFrame) -> list[dict]:
    """One row per pair of models and cell, on the questions scored for both; scores: rows of any sweeps.

    `difference` is accuracy_a - accuracy_b;
    `p_holm` is corrected over the pairs of models of the cell. Without a common question all values except counts are
    None. Raises `UserError` for a question that occurs twice in a cell.
    """
    return [row for cell, group in scores.groupby(CELL, sort=False, dropna=False) for row in _model_pairs(cell, group)]


def _model_pairs(cell: tuple, group: pd.DataFrame) -> Iterator[dict]:
    names = names_of(CELL, cell)
    models, grid = verdict_grid(group, "model", f"{names['experiment']}, size {names['size']}, {names['placement']}")
    scored = ~np.isnan(grid)
    right, wrong = (grid == 1).astype(np.int64), (grid == 0).astype(np.int64)
    both, only = scored.T.astype(np.int64) @ scored, right.T @ wrong
    right_where_both = right.T @ scored
    pairs = list(combinations(range(len(models)), 2))
    compared = {
        (a, b): difference_columns(int(only[a, b]), int(only[b, a]), int(both[a, b])) for a, b in pairs if both[a, b]
    }
    if "cluster" in group:
        clusters = cluster_codes(group, pd.Index(pd.factorize(group["id"])[1]))
        compared = {pair: _clustered(grid[:, pair], clusters) for pair in compared}
    corrected = dict(zip(compared, holm([row["p_value"] for row in compared.values()]), strict=True))
    for a, b in pairs:
        n = int(both[a, b])
        yield {
            **names,
            "model_a": models[a],
            "model_b": models[b],
            "n": n,
            "n_scored_only_a": int(scored[:, a].sum()) - n,
            "n_scored_only_b": int(scored[:, b].sum()) - n,
            "accuracy_a": int(right_where_both[a, b]) / n if n else None,
            "accuracy_b": int(right_where_both[b, a]) / n if n else None,
            **compared.get((a, b), _NO_DIFFERENCE),
            "p_holm": corrected.get((a, b)),
        }


def _clustered(pair: np.ndarray, clusters: np.ndarray | None) -> dict:
    """The difference of two columns of verdicts on their common questions."""
    both = ~np.isnan(pair).any(axis=1)
    return clustered_difference_columns(pair[both].astype(np.int64), np.asarray(clusters)[both])


_NO_DIFFERENCE = dict.fromkeys(DIFFERENCE)
