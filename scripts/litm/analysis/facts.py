"""Rows of two_facts and of fact_chains: which of the gold items of one context an answer has, by their places."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from litm.analysis.grid import Files, interval_columns, sweep_of
from litm.analysis.significance import paired_p, with_holm
from litm.analysis.statistics import contrast_interval, proportion
from litm.base.table_files import by_cell
from litm.placements import gold_placement, gold_positions

if TYPE_CHECKING:
    from litm.tables.facts import FactChainsRow, TwoFactsRow

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
    asked = _asked(scores, parts, (FIRST, SECOND))
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


def chain_rows(scores: pd.DataFrame, parts: Sequence[pd.DataFrame] = ()) -> "list[FactChainsRow]":
    """One row per cell of a sweep of questions for the facts of a chain, asked together and, with `parts`, alone: the
    share of answers by the first fact that is missing.

    parts: score rows of the sweeps that ask for each fact alone, in the order of the chain.
    """
    links = [*dict.fromkeys(scores["target"])]
    names: dict = scores.iloc[0][["model", "experiment", "task", "metric"]].to_dict()
    asked = _asked(scores, parts, links)
    rows: list[FactChainsRow] = []
    for how, answers in asked.items():
        for (size, placement), facts in answers.items():
            if not len(facts):
                continue
            # The place of the first missing fact, the number of facts if there is none.
            missing = facts[links].eq(0).assign(none=True).to_numpy().argmax(axis=1)
            shares: dict = interval_columns("complete", proportion(missing == len(links)))
            for place, link in enumerate(links):
                shares |= interval_columns(f"fails_at_{link}", proportion(missing == place))
            alone = asked.get(ALONE, {}).get((size, placement)) if how == TOGETHER else None
            shares |= _difference("from_alone", facts.min(axis=1), None if alone is None else alone.min(axis=1))
            cell: dict = {"size": size, "placement": placement, "asked": how, "n": len(facts)}
            rows.append({**names, **cell, **shares})
    with_holm(rows, "from_alone_p", "from_alone_p_holm")
    return rows


def _asked(scores: pd.DataFrame, parts: Sequence[pd.DataFrame], links: Sequence[str]) -> dict[str, Answers]:
    """The answers to questions for all facts and, if each has a part, to those for each alone, joined by question."""
    asked: dict[str, Answers] = {TOGETHER: _answers(scores)}
    if len(parts) == len(links):
        alone = [_answers(part) for part in parts]
        shared = [cell for cell in alone[0] if all(cell in others for others in alone)]
        asked[ALONE] = {cell: pd.concat([part[cell] for part in alone], axis=1, join="inner") for cell in shared}
    return asked


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

    fact_parts: by experiment, those that ask for each fact alone, in their order, if there are such.
    """
    for scores, parts in _with_parts(fact_scores, fact_parts):
        yield from two_facts_rows(scores, parts)


def fact_chains_table(chain_scores: Files, fact_parts: Mapping[str, Sequence[str]]) -> "Iterator[FactChainsRow]":
    """The same of chains of more than two facts."""
    for scores, parts in _with_parts(chain_scores, fact_parts):
        yield from chain_rows(scores, parts)


def _with_parts(
    scores: Files, fact_parts: Mapping[str, Sequence[str]]
) -> Iterator[tuple[pd.DataFrame, list[pd.DataFrame]]]:
    """The scores of each sweep that asks for all facts, with those that ask for one."""
    sweeps = {sweep_of(sweep): sweep for sweep in scores.scores()}
    for (model, experiment), sweep in sweeps.items():
        if experiment in fact_parts:
            yield sweep, [sweeps[model, part] for part in fact_parts[experiment] if (model, part) in sweeps]
