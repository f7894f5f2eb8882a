"""Is one side worse than the other by more than a margin? Rows of regression.csv, and the outcome of all of them.

For each cell, d is the accuracy of side a minus that of side b on the same questions, and N the margin. Both tests are
Student's, one-sided, at a level of 5 % (`_chances`):

- *worse*: d < -N is shown. p is corrected by Holm over all judged cells, so if no cell is worse by more than N, the
  chance of any such verdict is at most 5 %.
- *not worse*: d > -N is shown. The outcome needs it of every judged cell, so its chance is at most 5 % if any cell is
  worse by N or more (an intersection-union test; Berger 1982), and no cell needs a correction.

Between the two the questions are too few to tell, which is an outcome of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import special

from litm.analysis.grid import CELL, Grid, joined, read_grid
from litm.analysis.power import POWER, observed, questions_needed
from litm.analysis.significance import SIGNIFICANT, holm
from litm.analysis.statistics import Estimate, Moments, design_effect, further_lost
from litm.base.table_files import by_cell

if TYPE_CHECKING:
    from litm.tables.commands import RegressionRow

WORSE, NOT_WORSE, OPEN = "worse", "not worse", "cannot tell"
#: Of cells without a common question: both sides were asked, or only one.
NOT_COMPARED, ONE_SIDED = "not compared", "asked on one side"
#: Placement of the mean of several cells.
MEAN = "mean"
#: Further questions that count as lost in the test of *not worse*.
LOST = float(further_lost(float(special.ndtri(1 - SIGNIFICANT))))


def regression_rows(scores: pd.DataFrame, margin: float, means_only: bool = False) -> "list[RegressionRow]":
    """One row per cell, and one for the mean of the cells of a size that both sides answered; margin: a fraction.

    scores: rows of both sides, side a first; their column `model` tells the sides apart. means_only: whether only means
    are judged, and single cells of experiments without one. A cell without a common question is not compared, and its
    row has only counts; one that neither side answered has no row.
    """
    cells = [row for _, curve in scores.groupby(["experiment", "size"], sort=False) for row in _cells(curve, margin)]
    has_mean = {(row["experiment"], row["size"]) for row, *_ in cells if row["placement"] == MEAN}
    judged = [
        cell
        for cell in cells
        if cell[0]["n"]
        and (not means_only or cell[0]["placement"] == MEAN or (cell[0]["experiment"], cell[0]["size"]) not in has_mean)
    ]
    corrected = holm([row["p_worse"] for row, *_ in judged])
    for (row, matrix, effect), p_holm in zip(judged, corrected, strict=True):
        row |= {"p_worse_holm": p_holm, "verdict": verdict_of(p_holm, row["p_not_worse"])}
        if row["verdict"] == OPEN:
            # All cells are to be shown, so that each may fail in its share of the cases only.
            chance = 1 - (1 - POWER) / len(judged)
            needed = questions_needed("primacy", margin, observed(matrix), chance, 1 - 2 * SIGNIFICANT)
            # The power is that of the interval, without the questions that count as lost.
            row["n_needed"] = needed and ceil((needed + 1.5 * LOST / margin) * effect)
    return [row for row, *_ in cells]


def _cells(curve: pd.DataFrame, margin: float) -> "Iterable[tuple[RegressionRow, np.ndarray, float]]":
    """The rows of one experiment and size, each with the (questions, 2) accuracies that it compares, and the design
    effect of clusters.
    """
    grids: list[Grid] = []
    scored: set[str] = set()
    of_mean: dict = {}
    for names, group in by_cell(curve, CELL):
        grid = read_grid(group, "model")
        of_any = grid.ids[np.flatnonzero(grid.scored.any(axis=1))]
        if len(grid.columns) == 2 and len((both := grid.complete()).ids):
            grids.append(both)
            scored |= {*of_any}
            of_mean = names | dict.fromkeys(CELL[-3:]) | {"placement": MEAN}
            yield regression_row(names, both, len(of_any), margin)
        elif len(of_any):
            verdict = NOT_COMPARED if len(grid.columns) == 2 else ONE_SIDED
            yield {**names, "n": 0, "n_left_out": len(of_any), "verdict": verdict}, np.empty((0, 2)), 1.0
    whole = joined(*grids) if len(grids) > 1 else None
    if whole is not None and len(whole.ids):
        yield regression_row(of_mean, whole, len(scored), margin)


def regression_row(names: dict, grid: Grid, scored: int, margin: float) -> "tuple[RegressionRow, np.ndarray, float]":
    """A row, its accuracies and the design effect.

    grid: columns of side a and b in turn, whose means are compared; scored: questions that any side scored.
    """
    cells = len(grid.columns) // 2
    matrix = grid.matrix.reshape(-1, cells, 2).mean(axis=1)
    weights = np.tile([1 / cells, -1 / cells], cells)
    differences = matrix[:, 0] - matrix[:, 1]
    loss = _loss(differences, grid.clusters) if grid.labelled is None else grid.contrast(-weights)
    below, above = _chances(loss, margin)
    estimate = grid.contrast(weights).estimate()
    right = grid.right.mean(axis=0).reshape(-1, 2).mean(axis=0)
    row: RegressionRow = {
        **names,
        "n": len(grid.ids),
        "n_left_out": scored - len(grid.ids),
        **difference_of(right, estimate),
        "p_worse": below,
        "p_not_worse": above,
    }
    effect = design_effect(grid.measured, weights, grid.clusters)
    if grid.clusters is not None and not differences.any():
        effect = max(effect, len(matrix) / len(np.unique(grid.clusters)))
    return row, matrix, effect


def difference_of(right: np.ndarray, estimate: Estimate) -> "RegressionRow":
    """The accuracies of side a and b, and their difference; that of equal accuracies is exactly 0."""
    difference, low, high = (round(value, 12) + 0 for value in (estimate.value, *estimate.limits))
    return {
        "accuracy_a": float(right[0]),
        "accuracy_b": float(right[1]),
        "difference": difference,
        "ci_low": low,
        "ci_high": high,
    }


def _loss(differences: np.ndarray, clusters: np.ndarray | None) -> Moments:
    """The loss of side a, -d, as in `contrast_interval`; differences: one per question, from -1 to 1.

    With clusters the further questions are clusters of mean size, because clusters without a difference do not show how
    much their questions correlate: answers that are equal within clusters give the p of one question each.
    """
    sums, sizes = differences, np.ones(len(differences))
    if clusters is not None:
        sums, sizes = np.bincount(clusters, differences), np.bincount(clusters).astype(float)
    size = sizes.mean()
    n = sizes.sum() + 2 * size
    # The loss of side a: its centre, and the squares around it.
    loss = -sums.sum() / n
    squares = ((sums + sizes * loss) ** 2).sum() + size**2 * ((1 + loss) ** 2 + (1 - loss) ** 2)
    return Moments(loss, loss, np.sqrt(squares) / n, len(sums) + 1 if len(sums) > 1 else 0, most=1.0)


def _chances(loss: Moments, margin: float) -> tuple[float, float]:
    """One-sided p of d ≥ -margin, and of d ≤ -margin; 1 for a single question or cluster.

    Student's t, with one further question won and one lost; for d ≤ -margin more count as lost
    (`statistics.further_lost`).
    """
    if not loss.df:
        return 1.0, 1.0
    below = special.stdtr(loss.df, (margin - loss.centre) / loss.standard_error)
    return float(below), float(loss.p_of_more(margin))


def verdict_of(p_worse: float, p_not_worse: float) -> str:
    return WORSE if p_worse < SIGNIFICANT else NOT_WORSE if p_not_worse < SIGNIFICANT else OPEN


def outcome(rows: Sequence[Mapping]) -> str:
    """The outcome of all judged rows: worse if any is, not worse if all that both sides were asked are."""
    verdicts = {OPEN if row["verdict"] == NOT_COMPARED else row["verdict"] for row in rows if "verdict" in row}
    return next((verdict for verdict in (WORSE, OPEN, NOT_WORSE) if verdict in verdicts), OPEN)
