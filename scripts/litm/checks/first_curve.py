"""Curves for a terminal: accuracy by position, as bars that fit its width."""

from collections.abc import Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

from litm.base.groups import grouped
from litm.base.messages import ordinal
from litm.base.table_files import plain_rows
from litm.scoring.doubts import doubt_in_words
from litm.tables.table import tables

#: Characters of the widest and of the narrowest bar, and of what stands beside one.
WIDEST, NARROWEST, BESIDE = 50, 10, 26


def curves(
    experiments: Mapping[str, Any], lengths: Mapping[tuple[str, int], str], folder: Path = Path("results")
) -> Iterator[str]:
    """The lines of all curves of a finished study with one model; of one in doubt the reason, and no accuracy.

    lengths: of the prompts of experiments and sizes, in words.
    """
    rows = plain_rows(tables()["accuracy"].read(folder / "tables" / "accuracy.csv"))
    placed = (row for row in rows if row["position"] is not None)
    room = max(NARROWEST, min(WIDEST, get_terminal_size().columns - BESIDE))
    for (name, size), cells in grouped(placed, itemgetter("experiment", "size")).items():
        if len(cells) > 1:
            length = f" ({lengths[name, size]})" if (name, size) in lengths else ""
            yield f"{experiments[name].title}, {size} {experiments[name].unit}{length}, {cells[0]['model']}"
            doubts = dict.fromkeys(filter(None, (row["doubt"] for row in cells)))
            yield from (f"   no curve: {doubt_in_words(doubt)}" for doubt in doubts)
            if not doubts:
                yield from (bar(row["position"], row["accuracy"], row["ci_low"], row["ci_high"], room) for row in cells)
            yield ""


def bar(position: float, accuracy: float, low: float, high: float, room: int) -> str:
    """A line for one position: a bar as long as its accuracy, with its 95 % limits as a line over the rest."""
    ends = [round(value * room) for value in (low, accuracy, high)]
    drawn = "".join("█" if place < ends[1] else "─" if place < ends[2] else " " for place in range(room))
    return f"{ordinal(int(position) + 1):>6} {drawn} {accuracy:4.0%} [{low:.0%}, {high:.0%}]".rstrip()
