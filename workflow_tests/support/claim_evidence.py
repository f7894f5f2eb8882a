"""Evidence for claims from made-up verdicts."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from score_frames import random_matrix

from litm.analysis.grid import CORRECT, Grid
from litm.claims.evidence import Cell, Relations, ScoredEvidence
from litm.claims.tables import claims_table
from litm.placements import depth_of

POSITIONS = (0, 4, 8)
NOTHING = Relations({}, {})

Verdicts = dict[Cell, pd.Series]


def curve(
    matrix: np.ndarray, model: str = "m", experiment: str = "e", size: int = 9, positions: Sequence[int] = ()
) -> Verdicts:
    """Verdicts on a curve, of three positions by default; the matrix has one row per question."""
    return {
        Cell(model, experiment, size, position, f"gold_at_{position}", depth_of(position, size)): pd.Series(column)
        for position, column in zip(positions or (0, size // 2, size - 1), matrix.T, strict=True)
    }


def about(accuracies: Sequence[float], n: int = 1000, seed: int = 0, **names) -> Verdicts:
    """A curve drawn with these accuracies."""
    return curve(random_matrix(accuracies, n, seed), **names)


def right(accuracy: float, n: int) -> np.ndarray:
    """Answers with this accuracy; the first questions are right."""
    return (np.arange(n) < round(accuracy * n)).astype(int)


def exactly(accuracies: Sequence[float], n: int = 1000, **names) -> Verdicts:
    """A curve with exactly these accuracies; answers correlate as much as possible between positions."""
    return curve(np.column_stack([right(accuracy, n) for accuracy in accuracies]), **names)


def without_position(accuracy: float, n: int, experiment: str, size: int, placement: str) -> Verdicts:
    return {Cell("m", experiment, size, None, placement, None): pd.Series(right(accuracy, n))}


def evidence_of(*verdicts: Verdicts, lengths: Mapping[int, float] | None = None, recalls=None) -> ScoredEvidence:
    """Evidence; lengths: tokens of the prompts by size."""
    every = {
        cell: Grid([cell.position], column.index, {CORRECT: column.to_numpy(dtype=float)[:, None]}, None)
        for some in verdicts
        for cell, column in some.items()
    }
    return ScoredEvidence(every, {cell: (lengths or {}).get(cell.size) for cell in every}, recalls or {})


def rows_of(claim: str, evidence: ScoredEvidence, relations: Relations = NOTHING) -> list[dict]:
    table = claims_table(evidence, relations)
    return table[table["claim"] == claim].to_dict("records")


BOOK = Relations({}, {"e": {"task": "multi_document_qa", "closed_book": "closed"}})
LENGTHS = {9: 400.0, 20: 900.0}
