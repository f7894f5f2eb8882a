"""Kinds of wrong answers in each cell: rows of wrong_answers.csv."""

from collections import Counter
from collections.abc import Iterator, Mapping

import pandas as pd

from litm.analysis.paired_scores import CELL
from litm.domain.wrong_kinds import KINDS

#: Columns of score rows that are read.
COLUMNS = ("model", *CELL, "items", "correct", "excluded", "wrong_kind", "taken_from")


def wrong_answer_rows(scores: pd.DataFrame) -> Iterator[dict]:
    """One row per cell of a sweep with a scored question, see the table `wrong_answers`."""
    names = ["model", *CELL, "items"]
    for cell, group in scores.groupby(names, sort=False, dropna=False):
        counted = group[~group["excluded"] & group["correct"].notna()]
        if len(counted):
            yield {**dict(zip(names, cell, strict=True)), **_shares(counted)}


def _shares(counted: pd.DataFrame) -> dict:
    kinds = counted["wrong_kind"].value_counts()
    n_wrong = int(kinds.sum())
    shares = {kind: int(kinds.get(kind, 0)) / n_wrong if n_wrong else None for kind in KINDS}
    positions = Counter(map(int, counted["taken_from"].dropna()))
    return {"n": len(counted), "n_wrong": n_wrong, **shares, "taken_from": taken_from(positions) or None}


def taken_from(positions: Mapping[int, int]) -> str:
    """Number of answers taken from each position, the most frequent first: `4:12 0:7`."""
    ordered = sorted(positions.items(), key=lambda item: (-item[1], item[0]))
    return " ".join(f"{position}:{count}" for position, count in ordered)


def read_taken_from(text: str) -> dict[int, int]:
    """The inverse of `taken_from`: numbers by position from a cell of the table."""
    return {int(position): int(count) for position, count in (part.split(":") for part in text.split())}
