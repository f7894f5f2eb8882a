"""How the position bias of a model changes with the size of the context: rows of bias_by_size.csv."""

from collections.abc import Iterator, Sequence
from math import hypot

import numpy as np
import pandas as pd

from litm.analysis.clusters import contrast_interval
from litm.analysis.condition_grids import Grid, Grids
from litm.analysis.paired_scores import interval_columns
from litm.analysis.pbi import CONTRASTS
from litm.analysis.statistics import Estimate
from litm.base.messages import points

#: The contrasts of start, middle and end that are compared.
QUANTITIES = ("pbi", "primacy", "recency")
#: The chance that `in_words` reports a difference of any size of a curve where none differs.
ALPHA = 0.05


def bias_by_size_rows(grids: Grids) -> Iterator[dict]:
    """A row for each size of a model and experiment except the smallest, which it is compared with.

    Sizes of one experiment with the same questions are compared question by question, with `contrast_interval`. Others
    have questions of their own: their difference a - b has the limits of Zou & Donner (2008, Statist. Med. 27,
    1693-1702), d - √((a - aₗ)² + (bᵤ - b)²) to d + √((aᵤ - a)² + (b - bₗ)²), from the interval of each side.
    """
    groups: dict[tuple[str, str], dict[int, Grid]] = {}
    for (model, experiment, size), grid in grids.items():
        if "middle" in grid.places:
            groups.setdefault((model, experiment), {})[size] = grid
    for (model, experiment), sizes in groups.items():
        smallest, *larger = sorted(sizes)
        for size in larger:
            names = {"model": model, "experiment": experiment, "size": size, "size_smallest": smallest}
            yield names | _row(sizes[size], sizes[smallest], 1 - ALPHA / len(larger))


def _row(grid: Grid, smallest: Grid, confidence: float) -> dict:
    """The comparison of a size with the smallest; without numbers where a side has no complete question."""
    (own, ids), (other, other_ids) = _complete(grid), _complete(smallest)
    shared = ids.intersection(other_ids, sort=False)
    is_paired = not shared.empty
    if is_paired:
        own, other = own[ids.get_indexer(shared)], other[other_ids.get_indexer(shared)]
    row: dict = {"is_paired": is_paired, "n": len(own), "n_smallest": len(other)}
    if not len(own) or not len(other):
        return row | {"in_words": "no question scored at start, middle and end, not compared"}
    clusters = (_clusters(grid, shared if is_paired else ids), _clusters(smallest, other_ids))
    for name in QUANTITIES:
        weights = [float(weight) for weight in CONTRASTS[name]]
        row |= {name: float(own.mean(axis=0) @ weights), f"{name}_smallest": float(other.mean(axis=0) @ weights)}
        found = _difference(own, other, weights, clusters, is_paired, 0.95)
        row |= interval_columns(f"difference_{name}", found)
    corrected = _difference(own, other, [float(one) for one in CONTRASTS["pbi"]], clusters, is_paired, confidence)
    return row | {"in_words": _in_words(corrected)}


def _complete(grid: Grid) -> tuple[np.ndarray, pd.Index]:
    """(questions, 3) verdicts at start, middle and end of the questions that were scored there, and their ids."""
    three = grid.correct[:, list(grid.places.values())]
    complete = ~np.isnan(three).any(axis=1)
    return three[complete].astype(np.int64), grid.ids[complete]


def _clusters(grid: Grid, ids: pd.Index) -> np.ndarray | None:
    return (
        None if grid.clusters is None else np.unique(grid.clusters[grid.ids.get_indexer(ids)], return_inverse=True)[1]
    )


def _difference(
    own: np.ndarray,
    other: np.ndarray,
    weights: Sequence[float],
    clusters: tuple[np.ndarray | None, np.ndarray | None],
    is_paired: bool,
    confidence: float,
) -> Estimate:
    """The contrast of `own` minus that of `other`."""
    if is_paired:
        both = [*weights, *(-weight for weight in weights)]
        return contrast_interval(np.hstack([own, other]), both, clusters[0], confidence)
    a = contrast_interval(own, weights, clusters[0], confidence)
    b = contrast_interval(other, weights, clusters[1], confidence)
    below, above = hypot(a.value - a.low, b.high - b.value), hypot(a.high - a.value, b.value - b.low)
    value = a.value - b.value
    return Estimate(value, value - below, value + above, hypot(a.standard_error, b.standard_error))


def _in_words(difference: Estimate) -> str:
    size = points(abs(difference.value)).removeprefix("+")
    if difference.low > 0:
        return f"more bias than at the smallest size: {size}"
    return f"less bias than at the smallest size: {size}" if difference.high < 0 else "not shown to differ"
