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
#: Largest difference of a depth from that of its item: depths are often rounded to two decimals. In contexts with more
#: items than this, every depth is as near to one.
ROUNDED, MOST_ITEMS = 0.005 + 1e-9, 100
#: A position as a text: `2`, `2.0`, `doc_3`, `3/5`, `3 of 5`, `25 %`.
_NUMBER = re.compile(r"[A-Za-z_ #]*?(\d+(?:\.\d+)?) *(?:%|(?:/|out of|of) *\d+)?")


@dataclass(frozen=True)
class Positions:
    """The positions in contexts of one size."""

    items: int
    """The number of items in a context."""
    recorded: frozenset[float]
    """The numbers in the records."""
    asked: frozenset[int]
    """The 0-based positions that were asked."""


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


def place_of(number: float, scale: str, context: Positions) -> int | None:
    """The 0-based position of a number on a scale; None if no item is there.

    A depth is at the nearest position that was asked, if it is less than an item from it, else at the nearest of all.
    """
    if scale in LAST:
        place = number / LAST[scale] * (context.items - 1)
        near = min(context.asked, key=lambda position: (abs(position - place), position != round(place)), default=0)
        nearest = near if abs(near - place) < 1 else round(place)
        return nearest if 0 <= number <= LAST[scale] else None
    shifted = float(number) - (scale == FROM_1)
    return int(shifted) if shifted.is_integer() and 0 <= shifted < context.items else None


def _places(scale: str, context: Positions, is_given: bool = False) -> frozenset[int] | None:
    """The positions of the numbers of a context; None if one has none.

    Depths need the first and the last item (if their scale is given, all positions that were asked) and distinct
    positions, or to be those of items to two decimals.
    """
    places = {number: place_of(number, scale, context) for number in context.recorded}
    positions = frozenset(place for place in places.values() if place is not None)
    if None in places.values():
        return None
    if scale not in LAST:
        return positions
    is_whole = {0, LAST[scale]} <= context.recorded or (is_given and positions == context.asked)
    if not (is_whole and len(positions) == len(places)):
        depths = {number / LAST[scale]: place for number, place in places.items() if place is not None}
        is_near = all(abs(depth - depth_of(place, context.items)) <= ROUNDED for depth, place in depths.items())
        return positions if is_near and context.items <= MOST_ITEMS else None
    return positions


def inferred_scale(sizes: Sequence[Positions], where: str, stated: str | None = None) -> str:
    """The only scale on which the numbers are positions that were asked, or include them. stated: the one to check.

    Depths count only if the last item is among them. Raises `UserError`, naming the file, if no scale has all numbers,
    or the given depths have not, and if several scales have: matches would be accidents. Of those that have all
    numbers, scales with other positions than those that were asked do not count, unless they count from 0.
    """
    numbers = frozenset[float]().union(*(size.recorded for size in sizes))
    possible: dict[str, list[frozenset[int]]] = {}
    for scale in SCALES:
        by_size = [places for size in sizes if (places := _places(scale, size, scale == stated)) is not None]
        if len(by_size) == len(sizes) and (scale == stated or LAST.get(scale, 0) in {*numbers, 0}):
            possible[scale] = by_size
    if stated and (stated in possible or stated not in LAST):
        return stated
    fitting = {
        scale: by_size
        for scale, by_size in possible.items()
        if all(places <= size.asked or places >= size.asked for places, size in zip(by_size, sizes, strict=True))
    }
    chosen = fitting or possible
    if not stated and len({tuple(places) for places in chosen.values()}) == 1 and {FROM_0} & {*possible} <= {*chosen}:
        return next(iter(chosen))
    shown = first_of([f"{number:g}" for number in sorted(numbers)], 6)
    items = first_of([str(count) for count in sorted({size.items for size in sizes})], 3)
    if possible and stated:
        what = f"no {SCALES[stated]}, as the model's 'position_scale' has it"
        remedy = f"correct it: without it they are {' or '.join(SCALES[scale] for scale in possible)}"
    elif possible:
        what = " or ".join(SCALES[scale] for scale in possible)
        remedy = f"set the model's 'position_scale' to {' or '.join(possible)}"
    else:
        what = f"on no scale ({'; '.join(SCALES.values())})"
        remedy = (
            "correct them; depths must be those of items, and records of other sizes need 'size' among the 'fields'"
        )
    raise UserError(f"{where}: the positions {shown} in contexts of {items} items are {what}: {remedy}")
