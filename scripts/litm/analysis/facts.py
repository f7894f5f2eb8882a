"""Rows of two_facts: which of two gold items of one context an answer has, by their places."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from litm.analysis.grid import Files, interval_columns, sweep_of
from litm.analysis.significance import paired_p, with_holm
from litm.analysis.statistics import contrast_interval, proportion
from litm.base.table_files import by_cell
from litm.placements import gold_placement, gold_positions

if TYPE_CHECKING:
    from litm.tables.facts import TwoFactsRow

TOGETHER, ALONE = "together", "alone"
FIRST, SECOND = "first", "second"
#: The differences of a row.
DIFFERENCES = ("from_nearest", "from_swapped", "from_alone")
#: Of each cell (size, placement) the answers to its questions: by id, whether they have the first and the second fact.
Answers = Mapping[tuple[int, str], pd.DataFrame]


def two_facts_rows(scores: pd.DataFrame, parts: Sequence[pd.DataFrame] = ()) -> "list[TwoFactsRow]":
    """One row per cell of a sweep of questions for two facts, asked together and, with `parts`, alone.

    parts: score rows of the sweeps that ask for the first and for the second fact alone.
    """
    asked = {TOGETHER: _answers(scores)}
    if len(parts) == len((FIRST, SECOND)):
        alone = [_answers(part) for part in parts]
        shared = [cell for cell in alone[0] if cell in alone[1]]
        asked[ALONE] = {cell: alone[0][cell].join(alone[1][cell], how="inner") for cell in shared}
    names: dict = scores.iloc[0][["model", "experiment", "task", "metric"]].to_dict()
    rows: list[TwoFactsRow] = [
        {**names, **_row(cell, how, asked)}
        for how, answers in asked.items()
        for cell in answers
        if len(answers[cell]) and gold_positions(cell[1])
    ]
    for name in DIFFERENCES:
        with_holm(rows, f"{name}_p", f"{name}_p_holm")
    return rows


def _answers(scores: pd.DataFrame) -> dict[tuple[int, str], pd.DataFrame]:
    counted = scores[~scores["excluded"] & scores["correct"].notna()]
    return {
        (names["size"], names["placement"]): cell.pivot(index="id", columns="target", values="correct").astype(int)
        for names, cell in by_cell(counted, ["size", "placement"])
    }


def _row(cell: tuple[int, str], how: str, asked: Mapping[str, Answers]) -> "TwoFactsRow":
    (size, placement), answers = cell, asked[how]
    positions = gold_positions(placement)
    there = answers[cell]
    first, second = there[FIRST] == 1, there[SECOND] == 1
    kinds = {"both": first & second, "first_only": first & ~second, "second_only": second & ~first}
    kinds["neither"] = ~(first | second)
    row: TwoFactsRow = {
        "size": size,
        "placement": placement,
        "asked": how,
        "position_first": positions[0],
        "position_second": positions[1],
        "distance": _distance(placement),
        "n": len(there),
    }
    shares: dict = {}
    for name, is_so in kinds.items():
        shares |= interval_columns(name, proportion(is_so.to_numpy()))
    in_order = [(of_size, other) for of_size, other in answers if of_size == size and _is_like(other, placement)]
    nearest = min(in_order, key=lambda name: abs(_distance(name[1])))
    swapped = answers.get((size, gold_placement(positions[::-1])))
    alone = asked.get(ALONE, {}).get(cell)
    both = there.min(axis=1)
    pairs = {
        "from_nearest": (both, answers[nearest].min(axis=1) if nearest != cell else None),
        "from_swapped": (there[FIRST], swapped[FIRST] if swapped is not None and _distance(placement) > 0 else None),
        "from_alone": (both, alone.min(axis=1) if alone is not None and how == TOGETHER else None),
    }
    for name, (here, other) in pairs.items():
        shares |= _difference(name, here, other)
    return {**row, **shares}


def _distance(placement: str) -> int:
    first, second = gold_positions(placement)
    return second - first


def _is_like(placement: str, other: str) -> bool:
    """Whether the facts of two placements are in the same order."""
    return (_distance(placement) > 0) == (_distance(other) > 0)


def _difference(name: str, here: pd.Series, other: pd.Series | None) -> dict:
    """The columns of a difference, paired by question; none without the other side or common questions."""
    if other is None or (both := pd.concat([here, other], axis=1, join="inner")).empty:
        return {**interval_columns(name, None), f"{name}_p": None}
    matrix = both.to_numpy()
    return {**interval_columns(name, contrast_interval(matrix, [1, -1])), f"{name}_p": paired_p(matrix)}


def two_facts_table(fact_scores: Files, fact_parts: Mapping[str, Sequence[str]]) -> "Iterator[TwoFactsRow]":
    """The rows of each sweep, in the order of the score files.

    fact_parts: by experiment, those that ask for the first and for the second fact alone, if there are such.
    """
    sweeps = {sweep_of(scores): scores for scores in fact_scores.scores()}
    for (model, experiment), scores in sweeps.items():
        if experiment in fact_parts:
            parts = [sweeps[model, part] for part in fact_parts[experiment] if (model, part) in sweeps]
            yield from two_facts_rows(scores, parts)
