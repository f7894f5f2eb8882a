"""Evidence from scores: comparisons are paired by question, and count clusters if questions have them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pandas as pd

from litm.analysis.claims.evidence import Cell
from litm.analysis.claims.measures import Measure, minus
from litm.analysis.clusters import contrast_interval, limit_of, mean_interval
from litm.base.intervals import clustered_interval
from litm.base.messages import UserError
from litm.placements import gold_places

#: Columns that identify a cell among score rows, and all columns that are read.
CELL = ["model", "experiment", "size", "position", "placement", "depth"]
COLUMNS = [*CELL, "id", "correct", "prompt_tokens", "excluded", "cluster"]


@dataclass(eq=False)
class ScoredEvidence:
    """verdicts: by cell, 1 or 0 by the id of each scored question. lengths: mean prompt tokens by cell. recalls: recall
    and n, by experiment and number of passages. clusters: by cell, the cluster by question id; only for experiments
    with `cluster`.
    """

    verdicts: Mapping[Cell, pd.Series]
    lengths: Mapping[Cell, float | None]
    recalls: Mapping[str, Mapping[int, tuple[float, int]]] = field(default_factory=dict)
    clusters: Mapping[Cell, pd.Series] = field(default_factory=dict)
    #: Results of `_answers`, because several claims use the same cells.
    _joined: dict[tuple[Cell, ...], tuple[np.ndarray, np.ndarray | None]] = field(
        default_factory=dict, init=False, repr=False
    )

    @property
    def is_published(self) -> bool:
        return False

    @property
    def cells(self) -> Sequence[Cell]:
        return list(self.verdicts)

    def contrast(self, weights: Mapping[Cell, float]) -> Measure | None:
        """As `Evidence.contrast`, on the complete cases, with the interval of `clusters.contrast_interval`."""
        (matrix, clusters), values = self._answers(list(weights)), np.array(list(weights.values()))
        if not len(matrix):
            return None
        used = values != 0
        matrix, values = matrix[:, used], values[used].tolist()

        @cache
        def interval(confidence: float) -> tuple[float, float]:
            estimate = contrast_interval(matrix, values, clusters, confidence)
            return estimate.low, estimate.high

        return Measure(contrast_interval(matrix, values, clusters).value, len(matrix), interval)

    def difference_of_means(self, first: Sequence[Cell], other: Sequence[Cell]) -> Measure | None:
        """As `Evidence.difference_of_means`: by `contrast` if both sides share at least half of the questions.

        Otherwise (sizes may have different questions) the two means are independent, each with the interval of
        `clusters.mean_interval`.
        """
        fewest = min(len(self._answers(list(cells))[0]) for cells in (first, other))
        if not fewest:
            return None
        if len(self._answers([*first, *other])[0]) >= fewest / 2:
            return self.contrast(dict.fromkeys(first, 1 / len(first)) | dict.fromkeys(other, -1 / len(other)))
        return replace(minus(self._mean(first), self._mean(other)), is_paired=False)

    def _mean(self, cells: Sequence[Cell]) -> Measure:
        matrix, clusters = self._answers(list(cells))

        def interval(confidence: float) -> tuple[float, float]:
            estimate = mean_interval(matrix, clusters, confidence)
            return estimate.low, estimate.high

        return Measure(float(matrix.mean()), len(matrix), interval)

    def accuracy(self, cell: Cell) -> Measure | None:
        """As `Evidence.accuracy`, with the interval of `intervals.clustered_interval`."""
        matrix, clusters = self._answers([cell])
        if not len(matrix):
            return None
        right = matrix[:, 0]
        return Measure(
            float(right.mean()), len(right), lambda confidence: clustered_interval(right, clusters, confidence)
        )

    def correct(self, cells: Sequence[Cell]) -> tuple[list[int], int]:
        matrix, _ = self._answers(cells)
        return matrix.sum(axis=0).tolist(), len(matrix)

    def limit(self, cells: Sequence[Cell], of: Sequence[Cell]) -> str | None:
        """As `Evidence.limit`, with the intervals of clusters."""
        matrix, clusters = self._answers(cells)
        return limit_of(matrix[:, [cells.index(cell) for cell in of]], clusters)

    def prompt_tokens(self, cells: Sequence[Cell]) -> float | None:
        known = [length for cell in cells if (length := self.lengths[cell]) is not None]
        return float(np.mean(known)) if known else None

    def recall(self, experiment: str) -> Mapping[int, tuple[float, int]]:
        return self.recalls.get(experiment, {})

    def _answers(self, cells: Sequence[Cell]) -> tuple[np.ndarray, np.ndarray | None]:
        """(questions, cells) of the questions scored in all cells, and the cluster of each question.

        Clusters come from the first cell that has them: of two experiments with the same questions, only one may have
        `cluster`.
        """
        key = tuple(cells)
        if key not in self._joined:
            columns = [self.verdicts[cell] for cell in cells]
            table = pd.concat(columns, axis=1, join="inner", ignore_index=True)
            clustered = next((self.clusters[cell] for cell in cells if cell in self.clusters), None)
            codes = None if clustered is None else pd.factorize(clustered.reindex(table.index))[0]
            self._joined[key] = table.to_numpy(dtype=np.int64), codes
        return self._joined[key]


def scored_evidence(
    scores: Iterable[pd.DataFrame], recalls: Mapping[str, Mapping[int, tuple[float, int]]] | None = None
) -> ScoredEvidence:
    """Evidence from score rows of any sweeps, one sweep at a time: all rows together may be too many for the memory.

    Cells with several gold items per prompt are left out, because the paper moves one. Raises `UserError` for a
    question that occurs twice in a cell.
    """
    verdicts, lengths, clusters = {}, {}, {}
    groups = (group for sweep in scores for group in sweep.groupby(CELL, sort=False, dropna=False))
    for names, group in groups:
        cell = _cell(names)
        if len(gold_places(cell.placement)) > 1:
            continue
        twice = group["id"].duplicated()
        if twice.any():
            raise UserError(
                f"{cell.model}, {cell.experiment}, size {cell.size}, {cell.placement}: question "
                f"{group['id'][twice].iloc[0]} occurs twice: give every question an id of its own"
            )
        scored = group[~group["excluded"] & group["correct"].notna()]
        verdicts[cell] = scored.set_index("id")["correct"].astype("int8")
        if "cluster" in group:
            clusters[cell] = group.set_index("id")["cluster"]
        tokens = group["prompt_tokens"].dropna()
        lengths[cell] = float(tokens.mean()) if len(tokens) else None
    return ScoredEvidence(verdicts, lengths, recalls or {}, clusters)


def _cell(names: tuple) -> Cell:
    model, experiment, size, position, placement, depth = names
    return Cell(
        model=str(model),
        experiment=str(experiment),
        size=int(size),
        position=None if pd.isna(position) else int(position),
        placement=str(placement),
        depth=None if pd.isna(depth) else float(depth),
    )
