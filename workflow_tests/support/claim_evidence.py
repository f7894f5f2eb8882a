"""Evidence for claims from made-up verdicts."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from score_frames import first_right, of_shares, random_matrix

from litm.analysis.grid import CORRECT, Grid
from litm.claims.evidence import Cell, Relations, ScoredEvidence
from litm.claims.tables import claims_table
from litm.placements import NO_GOLD, depth_of

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


def exactly(accuracies: Sequence[float], n: int = 1000, **names) -> Verdicts:
    """A curve with exactly these accuracies; answers correlate as much as possible between positions."""
    return curve(of_shares(accuracies, n), **names)


def without_position(
    accuracy: float, n: int, experiment: str = "closed", size: int = 0, placement: str = NO_GOLD, model: str = "m"
) -> Verdicts:
    """A cell without a gold item; by default the closed book of `BOOK`."""
    return {Cell(model, experiment, size, None, placement, None): pd.Series(first_right(accuracy, n))}


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
