"""Evidence from scores: every comparison is paired by question."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pandas as pd

from litm.analysis.claims.evidence import Cell
from litm.analysis.claims.measures import Measure, minus
from litm.analysis.statistics import contrast_interval, mean_interval
from litm.base.errors import UserError
from litm.base.intervals import binomial_interval
from litm.domain.placement import gold_places

#: What names a cell among score rows, and the columns of these that are needed in all.
CELL = ["model", "experiment", "size", "position", "placement", "depth"]
COLUMNS = [*CELL, "id", "correct", "prompt_tokens", "excluded"]


@dataclass(eq=False)
class ScoredEvidence:
    """verdicts: by cell, 1 or 0 by the id of each question that was scored; lengths: mean tokens of its prompts;
    recalls: by experiment and number of passages, recall and n.
    """

    verdicts: Mapping[Cell, pd.Series]
    lengths: Mapping[Cell, float | None]
    recalls: Mapping[str, Mapping[int, tuple[float, int]]] = field(default_factory=dict)
    #: What `_matrix` has joined, because several claims ask about the same cells.
    _joined: dict[tuple[Cell, ...], np.ndarray] = field(default_factory=dict, init=False, repr=False)

    @property
    def is_published(self) -> bool:
        return False

    @property
    def cells(self) -> Sequence[Cell]:
        return list(self.verdicts)

    def contrast(self, weights: Mapping[Cell, float]) -> Measure | None:
        """As `Evidence.contrast`, on the complete cases, with the interval of `statistics.contrast_interval`."""
        matrix, values = self._matrix(list(weights)), np.array(list(weights.values()))
        if not len(matrix):
            return None
        used = values != 0
        matrix, values = matrix[:, used], values[used].tolist()

        @cache
        def interval(confidence: float) -> tuple[float, float]:
            estimate = contrast_interval(matrix, values, confidence)
            return estimate.low, estimate.high

        return Measure(contrast_interval(matrix, values).value, len(matrix), interval)

    def difference_of_means(self, first: Sequence[Cell], other: Sequence[Cell]) -> Measure | None:
        """As `Evidence.difference_of_means`: by `contrast` if at least half of the questions are those of both.

        Else (data of another size may have questions of their own) the two means are independent, each with the
        interval of `statistics.mean_interval`.
        """
        fewest = min(len(self._matrix(list(first))), len(self._matrix(list(other))))
        if not fewest:
            return None
        if len(self._matrix([*first, *other])) >= fewest / 2:
            return self.contrast(dict.fromkeys(first, 1 / len(first)) | dict.fromkeys(other, -1 / len(other)))
        return replace(minus(self._mean(first), self._mean(other)), is_paired=False)

    def _mean(self, cells: Sequence[Cell]) -> Measure:
        matrix = self._matrix(list(cells))

        def interval(confidence: float) -> tuple[float, float]:
            estimate = mean_interval(matrix, confidence)
            return estimate.low, estimate.high

        return Measure(float(matrix.mean()), len(matrix), interval)

    def accuracy(self, cell: Cell) -> Measure | None:
        """As `Evidence.accuracy`, with the interval of `statistics.binomial_interval`."""
        (correct,), n = self.correct([cell])
        return Measure(correct / n, n, lambda confidence: binomial_interval(correct, n, confidence)) if n else None

    def correct(self, cells: Sequence[Cell]) -> tuple[list[int], int]:
        matrix = self._matrix(cells)
        return matrix.sum(axis=0).tolist(), len(matrix)

    def prompt_tokens(self, cells: Sequence[Cell]) -> float | None:
        known = [length for cell in cells if (length := self.lengths[cell]) is not None]
        return float(np.mean(known)) if known else None

    def recall(self, experiment: str) -> Mapping[int, tuple[float, int]]:
        return self.recalls.get(experiment, {})

    def _matrix(self, cells: Sequence[Cell]) -> np.ndarray:
        """(questions, cells), of the questions that were scored in all of them."""
        key = tuple(cells)
        if key not in self._joined:
            columns = [self.verdicts[cell] for cell in cells]
            table = pd.concat(columns, axis=1, join="inner", ignore_index=True)
            self._joined[key] = table.to_numpy(dtype=np.int64)
        return self._joined[key]


def scored_evidence(
    scores: Iterable[pd.DataFrame], recalls: Mapping[str, Mapping[int, tuple[float, int]]] | None = None
) -> ScoredEvidence:
    """Evidence from score rows of any sweeps, one sweep at a time: all rows together may be too many for the memory.

    Cells with several gold items in a prompt are left out: the paper moves one. Raises `UserError` for a question that
    is there twice in a cell.
    """
    verdicts, lengths = {}, {}
    groups = (group for sweep in scores for group in sweep.groupby(CELL, sort=False, dropna=False))
    for names, group in groups:
        cell = _cell(names)
        if len(gold_places(cell.placement)) > 1:
            continue
        twice = group["id"].duplicated()
        if twice.any():
            raise UserError(
                f"{cell.model}, {cell.experiment}, size {cell.size}, {cell.placement}: question "
                f"{group['id'][twice].iloc[0]} is there twice: give every question an id of its own"
            )
        scored = group[~group["excluded"] & group["correct"].notna()]
        verdicts[cell] = scored.set_index("id")["correct"].astype("int8")
        tokens = group["prompt_tokens"].dropna()
        lengths[cell] = float(tokens.mean()) if len(tokens) else None
    return ScoredEvidence(verdicts, lengths, recalls or {})


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
