"""Is one side worse than the other by more than a margin, looked at again and again while questions are asked?

For each cell, d is the accuracy of side a minus that of side b on the same questions, and N the margin, as in
`regression`. Whoever stops as soon as a verdict is certain looks several times, and a test of a fixed number of
questions is wrong more often with every look. These tests hold at all looks together, whatever decides when to stop.

A test is a bet at fair odds (Waudby-Smith & Ramdas 2024, "Estimating means of bounded random variables by betting"): a
gambler begins with 1, stakes the fraction f on each question in turn, and has

    M_n(f) = Π (1 - f + f·(1 + dᵢ)/(1 + m)),    M_n = Σ w(f)·M_n(f)

after n questions. If the mean of d is m or less, M is a supermartingale that is never below 0, so it ever reaches 1/p
in at most a share p of the studies (Ville 1939). That is exact for any number of questions and any distribution of
independent questions; p is 1 over the largest M so far.

- *worse*: d < -N is shown. p is corrected by Holm over all cells, which holds although the cells have their questions
  in common. If no cell is worse by more than N, the chance of any such verdict is at most 5 %.
- *not worse*: d > -N is shown. The outcome needs it of every cell, so its chance is at most 5 % if any cell is worse by
  N or more (an intersection-union test).
- *uninformative*: not worse, where the reference has less than the margin to lose or is at the ceiling.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from litm.analysis.grid import CELL, read_grid
from litm.analysis.pbi import CEILING
from litm.analysis.regression import NOT_COMPARED, NOT_WORSE, OPEN, WORSE, difference_of, verdict_of
from litm.analysis.significance import holm
from litm.analysis.statistics import BISECTIONS, SMALLEST_P, Estimate
from litm.base.groups import grouped
from litm.base.table_files import by_cell

if TYPE_CHECKING:
    from litm.tables.commands import RegressionRow

UNINFORMATIVE = "uninformative"
#: Fractions that are staked, and how much of the gambler's 1 is for each. All of it gains most where no answer differs,
#: as between two servers that do the same; the others survive questions that are lost.
FRACTIONS, SHARES = np.array([1.0, 0.75, 0.4]), np.array([0.5, 0.3, 0.2])
#: Numbers of questions at which verdicts are looked at. Without a difference, margins of 15, 10 and 5 points are shown
#: after 21, 33 and 67 questions.
LOOKS = (12, 24, 35, 50, 70, 100, 140, 200, 280, 400, 560, 800)


def gains(differences: np.ndarray, bound: float) -> np.ndarray:
    """log M after each question if the mean difference is `bound` or less; differences: from -1 to 1, bound > -1."""
    with np.errstate(divide="ignore"):
        logs = np.log(1 - FRACTIONS + np.outer((1 + differences) / (1 + bound), FRACTIONS)).cumsum(axis=0)
        return np.logaddexp.reduce(logs + np.log(SHARES), axis=1)


def p_of_at_most(differences: np.ndarray, bound: float) -> float:
    """p of a mean difference of `bound` or less, valid at all looks; 1 without questions."""
    most = gains(differences, bound).max(initial=0.0)
    return max(SMALLEST_P, float(np.exp(-most)))


def confidence_sequence(differences: np.ndarray, confidence: float = 0.95) -> Estimate:
    """The mean difference with limits that hold at all looks together: the bounds that neither test refutes."""
    wanted = log(2 / (1 - confidence))

    def lower(values: np.ndarray) -> float:
        low, high = -1.0, 1.0
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if gains(values, middle).max(initial=0.0) >= wanted else (low, middle)
        return low

    value = float(differences.mean())
    return Estimate(value, min(value, lower(differences)), max(value, -lower(-differences)))


def sequential_rows(scores: pd.DataFrame, margin: float) -> "list[RegressionRow]":
    """One row per cell; margin: a fraction. One without a question that both sides could answer is not compared.

    scores: rows of both sides, side a first, with questions in the order in which they are asked; their column `model`
    tells the sides apart. Limits are those of `confidence_sequence`. The number of questions may differ by cell.
    """
    rows: list[RegressionRow] = []
    says_nothing: list[bool] = []
    for names, group in by_cell(scores, CELL):
        both = (grid := read_grid(group, "model")).complete()
        n = len(both.ids) if len(grid.columns) == 2 else 0
        row: RegressionRow = {**names, "n": n, "n_left_out": int(grid.scored.any(axis=1).sum()) - n}
        rows.append(row)
        if not n:
            row["verdict"] = NOT_COMPARED
            continue
        differences = both.matrix[:, 0] - both.matrix[:, 1]
        row |= difference_of(both.matrix.mean(axis=0), confidence_sequence(differences))
        row |= {"p_worse": p_of_at_most(-differences, margin), "p_not_worse": p_of_at_most(differences, -margin)}
        reference = both.accuracies[1]
        says_nothing.append(reference.low < margin or reference.high >= CEILING)
    judged = [row for row in rows if row["n"]]
    corrected = holm([row["p_worse"] for row in judged])
    for row, p_holm, is_silent in zip(judged, corrected, says_nothing, strict=True):
        verdict = verdict_of(p_holm, row["p_not_worse"])
        row |= {"p_worse_holm": p_holm, "verdict": UNINFORMATIVE if is_silent and verdict == NOT_WORSE else verdict}
    return rows


def looks(most: int) -> Iterator[int]:
    """The numbers of questions to look at, up to `most`, which is the last."""
    yield from (look for look in LOOKS if look < most)
    yield most


def sequential_outcome(rows: Sequence[Mapping]) -> str:
    """The outcome of all cells: worse if any is, cannot tell if any is open or not compared; not worse if at every size
    more than half of the cells are, and else uninformative.
    """
    verdicts = {OPEN if row["verdict"] == NOT_COMPARED else row["verdict"] for row in rows}
    if first := next((verdict for verdict in (WORSE, OPEN) if verdict in verdicts), None):
        return first
    by_size = grouped(rows, lambda row: (row["experiment"], row["size"])).values()
    shown = [sum(row["verdict"] == NOT_WORSE for row in cells) > len(cells) / 2 for cells in by_size]
    return NOT_WORSE if shown and all(shown) else UNINFORMATIVE
