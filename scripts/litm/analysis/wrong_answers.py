"""Kinds of wrong answers in each cell: rows of wrong_answers.csv."""

from collections import Counter
from collections.abc import Iterator, Mapping

import pandas as pd

from litm.analysis.clusters import cluster_codes
from litm.analysis.paired_scores import CELL
from litm.base.intervals import clustered_interval
from litm.scoring.wrong_answers import KINDS

#: Columns of score rows that are read.
COLUMNS = ("model", *CELL, "items", "id", "correct", "excluded", "wrong_kind", "taken_from", "cluster")


def wrong_answer_rows(scores: pd.DataFrame) -> Iterator[dict]:
    """One row per cell of a sweep with a scored question, see the table `wrong_answers`."""
    names = ["model", *CELL, "items"]
    for cell, group in scores.groupby(names, sort=False, dropna=False):
        counted = group[~group["excluded"] & group["correct"].notna()]
        if len(counted):
            yield {**dict(zip(names, cell, strict=True)), **_shares(counted)}


def _shares(counted: pd.DataFrame) -> dict:
    wrong = counted[counted["wrong_kind"].notna()]
    positions = Counter(map(int, counted["taken_from"].dropna()))
    row = {"n": len(counted), "n_wrong": len(wrong), **_share("wrong", counted["wrong_kind"].notna(), counted)}
    for kind in KINDS:
        row |= _share(kind, wrong["wrong_kind"] == kind, wrong)
    return {**row, "taken_from": taken_from(positions) or None}


def _share(name: str, is_so: pd.Series, answers: pd.DataFrame) -> dict:
    """The share of these answers for which it is so, with its 95 % limits; None without answers."""
    names = (f"share_{name}", f"share_{name}_ci_low", f"share_{name}_ci_high")
    if answers.empty:
        return dict.fromkeys(names)
    right = is_so.to_numpy(dtype=bool)
    low, high = clustered_interval(right, cluster_codes(answers, pd.Index(answers["id"])))
    return dict(zip(names, (int(right.sum()) / len(right), low, high), strict=True))


def taken_from(positions: Mapping[int, int]) -> str:
    """Number of answers taken from each position, the most frequent first: `4:12 0:7`."""
    ordered = sorted(positions.items(), key=lambda item: (-item[1], item[0]))
    return " ".join(f"{position}:{count}" for position, count in ordered)


def read_taken_from(text: str) -> dict[int, int]:
    """The inverse of `taken_from`: numbers by position from a cell of the table."""
    return {int(position): int(count) for position, count in (part.split(":") for part in text.split())}
