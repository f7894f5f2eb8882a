"""Wording of sizes with their unit, positions from 1, and lengths in tokens."""

from collections.abc import Mapping, Sequence

import pandas as pd

from litm.base.messages import ordinal
from litm.placements import gold_depths, gold_positions

#: Tokens: smallest and largest mean prompt length over models, by (experiment, size).
Lengths = Mapping[tuple[str, int], tuple[float, float]]
#: Names in a list on the first screen, at most.
NAMED = 8


class SizeNames:
    """Sizes in words: `10 documents` if a figure of the experiment names its items, else `size 10`."""

    def __init__(self, figures: Sequence[Mapping]) -> None:
        self._titles: dict[str, str] = {}
        for figure in figures:
            for experiment in figure["experiments"]:
                self._titles.setdefault(experiment, figure.get("panel_title") or "")

    def __call__(self, experiment: str, size: int) -> str:
        if not size:
            return "no context"
        title = self._titles.get(experiment, "")
        return title.replace("{size}", f"{size:,}") if "{size}" in title else f"size {size:,}"

    def with_length(self, experiment: str, size: int, lengths: Lengths) -> str:
        """`10 documents, about 400 tokens`."""
        return ", ".join(filter(None, [self(experiment, size), tokens(lengths, experiment, size)]))


def lengths_of(token_counts: pd.DataFrame | None) -> Lengths:
    """Lengths from the table of token counts; {} where no tokens were counted."""
    if token_counts is None or token_counts.empty:
        return {}
    means = token_counts.groupby(["experiment", "size", "model"])["tokens_mean"].mean()
    by_size = means.groupby(level=["experiment", "size"]).agg(["min", "max"])
    return {(str(name), int(size)): (float(low), float(high)) for (name, size), (low, high) in _pairs(by_size)}


def _pairs(table: pd.DataFrame) -> list:
    return list(zip(table.index, table.itertuples(index=False, name=None), strict=True))


def tokens(lengths: Lengths, experiment: str, size: int) -> str:
    """`about 400 tokens`, with two significant digits, or a range if models differ; '' if unknown."""
    if (experiment, size) not in lengths:
        return ""
    low, high = (f"{two_digits(length):,}" for length in lengths[experiment, size])
    return f"about {low} tokens" if low == high else f"about {low} to {high} tokens"


def two_digits(number: float) -> int:
    """A length rounded to two significant digits: 397.5 becomes 400."""
    return int(float(f"{number:.1e}"))


def place(placement: str) -> str:
    """Positions of a prompt's gold items: `5th`, `1st, 150th, 300th`, `depth 0.5`, or the placement in words."""
    if positions := gold_positions(placement):
        return ", ".join(ordinal(position + 1) for position in positions)
    if depths := gold_depths(placement):
        return "depth " + ", ".join(f"{depth:g}" for depth in depths)
    return placement.replace("_", " ")


def named_briefly(names: Sequence[str]) -> str:
    """Names with semicolons; of more than `NAMED` the first ones, and how many more there are."""
    more = f"; and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return "; ".join(names[:NAMED]) + more
