"""Paired differences between models: rows of model_differences.csv, by cell, and of model_pairs.csv, over all sizes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from litm.analysis.grid import (
    CELL,
    PLACES,
    CurveGrid,
    Files,
    Grid,
    Grids,
    by_cell,
    difference_columns,
    interval_columns,
    joined,
    read_grid,
    read_grids,
)
from litm.analysis.statistics import difference_in_words, moments, pooled_contrast, with_holm

ACCURACY, BIAS = "accuracy", ("primacy", "recency", "pbi")
#: Place of an accuracy that is the mean of all positions of a size.
ALL = "all"
#: Grids of one model and experiment by size.
Sizes = Mapping[int, CurveGrid]


def model_difference_rows(scores: pd.DataFrame) -> list[dict]:
    """One row per pair of models and cell, on the questions scored for both; scores: rows of any sweeps.

    `difference` is accuracy_a - accuracy_b;
    `p_holm` is corrected over the pairs of models of the cell. Without a common question all values except counts are
    None. Raises `UserError` for a question that occurs twice in a cell.
    """
    return [row for names, group in by_cell(scores, CELL) for row in with_holm(_model_pairs(names, group))]


def _model_pairs(names: Mapping, group: pd.DataFrame) -> Iterator[dict]:
    grid = read_grid(group, "model")
    n_scored = grid.scored.sum(axis=0).tolist()
    for a, b in combinations(range(len(grid.columns)), 2):
        both = grid.complete([a, b])
        n = len(both.ids)
        yield {
            **names,
            "model_a": grid.columns[a],
            "model_b": grid.columns[b],
            "n": n,
            "n_scored_only_a": n_scored[a] - n,
            "n_scored_only_b": n_scored[b] - n,
            **(difference_columns(both) if n else {}),
        }


# --- Over all sizes of an experiment ----------------------------------------------------------------------


def model_pair_rows(grids: Grids) -> Iterator[dict]:
    """Rows of each pair of models and experiment, experiments in the order of the grids.

    A row is a difference a - b of one quantity on the questions that both models scored at all positions, as the mean
    over the sizes. Sizes with the same questions are compared question by question; others are independent. `p_holm` is
    corrected over all accuracies, and over all of primacy, recency and PBI, of the experiment.
    """
    by_experiment: dict[str, dict[str, dict[int, CurveGrid]]] = {}
    for (model, experiment, size), grid in grids.items():
        by_experiment.setdefault(experiment, {}).setdefault(model, {})[size] = grid
    for experiment, models in by_experiment.items():
        rows = [
            {"experiment": experiment, "model_a": a, "model_b": b, **row}
            for a, b in combinations(models, 2)
            for row in _rows(models[a], models[b])
        ]
        for is_bias in (False, True):
            for row in with_holm(row for row in rows if (row["quantity"] in BIAS) == is_bias):
                row["in_words"] = difference_in_words(row["difference"], row["p_holm"])
        yield from rows


def _rows(a: Sizes, b: Sizes) -> Iterator[dict]:
    sizes = [size for size in sorted(a) if size in b and a[size].positions == b[size].positions]
    by_size = {size: both for size in sizes if len((both := joined(a[size].cases, b[size].cases)).ids)}
    if not by_size:
        return
    sizes = list(by_size)
    shared = joined(*(of[size].cases for of in (a, b) for size in sizes))
    is_paired = not shared.ids.empty
    groups = [sizes] if is_paired else [[size] for size in sizes]
    parts = [shared] if is_paired else list(by_size.values())
    asked = [a[size].ids.union(b[size].ids) for size in sizes]
    n = sum(len(part.ids) for part in parts)
    left_out = (len(asked[0].append(asked[1:]).unique()) if is_paired else sum(map(len, asked))) - n
    about = {
        "size": sizes[0] if len(sizes) == 1 else None,
        "n_sizes": len(sizes),
        "is_paired": is_paired,
        "n": n,
        "n_left_out": left_out,
    }
    for (quantity, place), of_size in _contrasts(a, sizes).items():
        weights = [np.concatenate([of_size[size] for size in own]) / len(own) for own in groups]
        yield {**about, "quantity": quantity, "place": place, **_difference(parts, weights)}


def _contrasts(of: Sizes, sizes: Iterable[int]) -> dict[tuple[str, str], dict[int, np.ndarray]]:
    """Weights of the positions of each size, by quantity and place."""
    grids = {size: of[size] for size in sizes}
    columns = {size: len(grid.positions) for size, grid in grids.items()}
    found: dict[tuple[str, str], dict] = {
        (ACCURACY, ALL): {size: np.full(count, 1 / count) for size, count in columns.items()}
    }
    if all("middle" in grid.places for grid in grids.values()):
        for place in PLACES:
            found[ACCURACY, place] = {size: np.eye(columns[size])[grid.places[place]] for size, grid in grids.items()}
        for name in BIAS:
            found[name, ""] = {size: grid.weights(name) for size, grid in grids.items()}
    return found


def _difference(parts: Sequence[Grid], weights: Sequence[np.ndarray]) -> dict:
    both = [np.concatenate([weight, -weight]) for weight in weights]
    pooled = pooled_contrast(
        [moments(part.matrix, weight, part.clusters) for part, weight in zip(parts, both, strict=True)]
    )
    values = np.mean(
        [part.matrix.mean(axis=0).reshape(2, -1) @ weight for part, weight in zip(parts, weights, strict=True)],
        axis=0,
    )
    return {
        "value_a": float(values[0]),
        "value_b": float(values[1]),
        **interval_columns("difference", pooled.estimate(), is_only=True),
        "p_value": pooled.p_value,
    }


# --- Tables ----------------------------------------------------------------------------------------------------


def model_differences_table(compared_scores: Files) -> list[dict]:
    """One row per pair of models and cell, experiment by experiment in the order of the score files."""
    found = (row for scores in compared_scores.by_experiment() for row in model_difference_rows(scores))
    return with_holm(found, "p_value", "p_holm_all")


def model_pairs_table(model_scores: Files) -> Iterator[dict]:
    """Rows of each experiment, pair of models, quantity and place, in the order of the score files."""
    return model_pair_rows(read_grids(model_scores.scores()))
