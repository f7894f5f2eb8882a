"""Answers for comparisons of conditions: one grid of questions and positions per sweep and size."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from litm.analysis.clusters import cluster_codes
from litm.analysis.paired_scores import verdict_grid
from litm.analysis.pbi import middle_index

#: Columns of score rows that are read.
COLUMNS = (
    "model", "experiment", "metric", "size", "position", "depth", "id", "correct_first_line", "correct_full", "correct",
    "excluded", "cluster",
)  # fmt: skip
#: Position of a cell without a gold item.
NOWHERE = -1


@dataclass(frozen=True)
class Grid:
    """The verdicts of one model, experiment and size.

    ids: of the questions. positions: ascending, `NOWHERE` without a gold item. depths: of the positions, 0 to 1.
    correct, first_line, full: (questions, positions), 1 right, 0 wrong, NaN if not scored, by the part that the metric
    reads, by the first line and by the whole answer. clusters: one number per question, None without.
    """

    metric: str
    ids: pd.Index
    positions: list[int]
    depths: list[float]
    correct: np.ndarray
    first_line: np.ndarray
    full: np.ndarray
    clusters: np.ndarray | None

    @property
    def places(self) -> dict[str, int]:
        """Columns of start, middle and end, as far as the positions allow; {} for a single position."""
        if len(self.positions) < 2:
            return {}
        middle = middle_index(self.depths)
        return {"start": 0, **({} if middle is None else {"middle": middle}), "end": len(self.positions) - 1}


#: Grids by model, experiment and size.
Grids = dict[tuple[str, str, int], Grid]


def read_grids(scores: Iterable[pd.DataFrame]) -> Grids:
    """The grids of sweeps, one sweep at a time; `UserError` for a question that occurs twice at a position."""
    return {
        (str(sweep["model"].iloc[0]), str(sweep["experiment"].iloc[0]), int(size)): _grid(sweep[sweep["size"] == size])
        for sweep in scores
        for size in sweep["size"].unique()
    }


def _grid(group: pd.DataFrame) -> Grid:
    where = f"{group['model'].iloc[0]}, {group['experiment'].iloc[0]}, size {group['size'].iloc[0]}"
    placed = group.assign(position=group["position"].fillna(NOWHERE).astype("int64"))
    grids = {}
    for name in ("correct", "correct_first_line", "correct_full"):
        positions, grids[name] = verdict_grid(placed.assign(correct=placed[name]), "position", where)
    depths = dict(zip(placed["position"], placed["depth"], strict=True))
    ids = pd.Index(pd.factorize(placed["id"])[1])
    return Grid(
        metric=str(group["metric"].iloc[0]),
        ids=ids,
        positions=positions,
        depths=[0.0 if pd.isna(depths[position]) else float(depths[position]) for position in positions],
        correct=grids["correct"],
        first_line=grids["correct_first_line"],
        full=grids["correct_full"],
        clusters=cluster_codes(placed, ids),
    )
