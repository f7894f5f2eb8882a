"""Utilisation of the context: rows of utilisation.csv."""

import numpy as np
import pandas as pd

from litm.analysis.clusters import cluster_codes, utilisation
from litm.analysis.paired_scores import CELL, generator_for, interval_columns, names_of, verdict_grid
from litm.base.intervals import binomial_interval

BOOTSTRAP_REPLICATES = 2_000

#: Accuracies that utilisation is computed from, in alphabetical order.
_SOURCES = ("accuracy", "closed_book", "oracle")


def utilisation_rows(
    scores: pd.DataFrame, closed_book: pd.DataFrame, oracle: pd.DataFrame, seed: int = 0
) -> list[dict]:
    """One row per model and cell of `scores`: (accuracy - closed book)/(oracle - closed book) on the common questions.

    closed_book, oracle: score rows with each question of a model once. Accuracies are over the n common questions;
    `utilisation` and its limits are None unless oracle - closed book is clearly above 0; all are None without common
    questions. Raises `UserError` for a question that occurs twice.
    """
    rows = []
    for cell, group in scores.groupby(["model", *CELL], sort=False, dropna=False):
        names = names_of(["model", *CELL], cell)
        model = names["model"]
        parts = (group, closed_book[closed_book["model"] == model], oracle[oracle["model"] == model])
        told_apart = pd.concat(part.assign(source=name) for name, part in zip(_SOURCES, parts, strict=True))
        sources, grid = verdict_grid(told_apart, "source", f"{model}, {names['experiment']}, {names['placement']}")
        shared = grid[~np.isnan(grid).any(axis=1)].astype(np.int64) if len(sources) == 3 else np.zeros((0, 3), np.int64)
        n = len(shared)
        rng = generator_for(seed, "utilisation", *names.values())
        estimate = utilisation(shared, _clusters(group, told_apart, grid), BOOTSTRAP_REPLICATES, rng)
        rows.append(
            {
                **names,
                "n": n,
                **_accuracies(shared),
                **interval_columns("utilisation", estimate),
            }
        )
    return rows


def _accuracies(shared: np.ndarray) -> dict:
    """The three accuracies on the common questions, each with its interval; all None without questions."""
    columns: dict = {}
    for name, correct in zip(_SOURCES, shared.sum(axis=0).tolist(), strict=True):
        n = len(shared)
        column = name if name == "accuracy" else f"accuracy_{name}"
        values = (correct / n, *binomial_interval(correct, n)) if n else (None,) * 3
        columns |= dict(zip((column, f"{column}_ci_low", f"{column}_ci_high"), values, strict=True))
    return columns


def _clusters(group: pd.DataFrame, told_apart: pd.DataFrame, grid: np.ndarray) -> np.ndarray | None:
    """Clusters, from `group`, of the questions without a missing value in the grid."""
    return cluster_codes(group, pd.Index(pd.factorize(told_apart["id"])[1])[~np.isnan(grid).any(axis=1)])
