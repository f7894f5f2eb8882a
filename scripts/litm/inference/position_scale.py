"""The scale of the positions in a file from elsewhere, told by all its values together."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from litm.base.messages import UserError, first_of
from litm.placements import depth_of, gold_positions

FROM_0, FROM_1, DEPTH, PERCENT = "from_0", "from_1", "depth", "percent"
#: The scales with their names in messages.
SCALES = {
    FROM_0: "counted from 0",
    FROM_1: "counted from 1",
    DEPTH: "depths, 0 (first) to 1 (last)",
    PERCENT: "depths in per cent",
}
#: What the last item has on a scale of depths.
LAST = {DEPTH: 1, PERCENT: 100}
#: Largest difference of a depth from that of its item: depths are often rounded to two decimals.
ROUNDED = 0.005 + 1e-9
#: A position as a text: `2`, `2.0`, `doc_3`, `3/5`, `3 of 5`, `25 %`.
_NUMBER = re.compile(r"[A-Za-z_ #]*?(\d+(?:\.\d+)?) *(?:%|(?:/|out of|of) *\d+)?")


@dataclass(frozen=True)
class Positions:
    """The positions among `items` items: the numbers in the records, and the 0-based positions that were asked."""

    items: int
    recorded: frozenset[float]
    asked: frozenset[int]


def position_numbers(value: Any) -> tuple[float, ...]:
    """The numbers in a position, two for two gold items: of 2, "2.0", "gold_at_2", "2/5", "25 %", [0, 4], "0_4"; none
    of anything else.
    """
    if isinstance(value, list):
        parts: Sequence[Any] = value
    else:
        text = str(value).strip("[]() ")
        parts = gold_positions(text) or gold_positions(f"gold_at_{text}") or text.split(",")
    matches = [_NUMBER.fullmatch(str(part).strip()) for part in parts if not isinstance(part, bool)]
    return tuple(float(match[1]) for match in matches if match) if all(matches) else ()


def place_of(number: float, scale: str, items: int) -> int | None:
    """The 0-based position of a number on a scale; None if no item is there."""
    if scale in LAST:
        depth = number / LAST[scale]
        place = round(depth * (items - 1))
        return place if 0 <= depth <= 1 and abs(depth - depth_of(place, items)) <= ROUNDED else None
    shifted = float(number) - (scale == FROM_1)
    return int(shifted) if shifted.is_integer() and 0 <= shifted < items else None


def told_scale(sizes: Sequence[Positions], where: str) -> str:
    """The only scale on which the numbers are positions that were asked, or include them.

    Depths count only if the last item is among them. Raises `UserError`, naming the file, if no scale has all numbers,
    and if several have: matches would be accidents. Of those that have all numbers, scales with other positions than
    those that were asked do not count, unless they count from 0.
    """
    numbers = frozenset[float]().union(*(one.recorded for one in sizes))
    places = {
        scale: [frozenset(place_of(number, scale, one.items) for number in one.recorded) for one in sizes]
        for scale in SCALES
        if LAST.get(scale) in (None, max(numbers, default=0))
    }
    possible = {scale: some for scale, some in places.items() if not any(None in one for one in some)}
    fitting = {
        scale: some
        for scale, some in possible.items()
        if all(one <= size.asked or one >= size.asked for one, size in zip(some, sizes, strict=True))
    }
    chosen = fitting or possible
    if len({tuple(some) for some in chosen.values()}) == 1 and (FROM_0 in chosen or FROM_0 not in possible):
        return next(iter(chosen))
    shown = first_of([f"{number:g}" for number in sorted(numbers)], 6)
    items = first_of([str(count) for count in sorted({one.items for one in sizes})], 3)
    if possible:
        what = " or ".join(SCALES[scale] for scale in possible)
        remedy = f"set the model's 'position_scale' to {' or '.join(possible)}"
    else:
        what = f"on no scale ({'; '.join(SCALES.values())})"
        remedy = (
            "correct them; depths must be those of items, and records of other sizes need 'size' among the 'fields'"
        )
    raise UserError(f"{where}: the positions {shown} in contexts of {items} items are {what}: {remedy}")
