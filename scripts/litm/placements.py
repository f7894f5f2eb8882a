"""Placements: positions of the gold items in a context, as a word in paths and tables.

`gold_at_4` is one position, `gold_at_0_149_299` three; `gold_at_depth_0.5` is a fraction of a context whose number of
items is determined later; `no_gold`, `gold_absent` and `as_retrieved` have no gold item.
"""

import re
from collections.abc import Sequence

from litm.base.messages import UserError

NO_GOLD = "no_gold"


#: The gold items are taken out of the context, and nothing is put in their place.
ABSENT = "gold_absent"


AS_RETRIEVED = "as_retrieved"


_DEPTH = r"(?:0(?:\.\d+)?|1)"


GOLD_AT = re.compile(r"gold_at_(\d+(?:_\d+)*)")


GOLD_AT_DEPTH = re.compile(rf"gold_at_depth_({_DEPTH}(?:_{_DEPTH})*)")


def gold_placement(positions: Sequence[int]) -> str:
    """The placement with the gold items at these 0-based positions: `gold_at_4`, or `gold_at_0_149_299` of three."""
    return "gold_at_" + "_".join(map(str, positions))


def depth_placement(depths: Sequence[float]) -> str:
    """The placement with the gold items at these depths, 0 to 1: `gold_at_depth_0.25`, or `gold_at_depth_0_0.5_1`.

    Depths have at most six decimals.
    """
    return "gold_at_depth_" + "_".join(f"{depth:.6f}".rstrip("0").rstrip(".") for depth in depths)


def gold_positions(placement: str) -> tuple[int, ...]:
    """The 0-based position of each gold item in `gold_at_...`, none for any other placement."""
    match = GOLD_AT.fullmatch(placement)
    return tuple(map(int, match.group(1).split("_"))) if match else ()


def gold_depths(placement: str) -> tuple[float, ...]:
    """The depth of each gold item in `gold_at_depth_...`, none for any other placement."""
    match = GOLD_AT_DEPTH.fullmatch(placement)
    return tuple(map(float, match.group(1).split("_"))) if match else ()


def gold_places(placement: str) -> tuple[float, ...]:
    """The position or depth of each gold item, whichever the placement has; none without gold items."""
    return gold_positions(placement) or gold_depths(placement)


def positions_for(placement: str, size: int) -> str:
    """The same placement with positions in a context of `size` items; a depth becomes the nearest position.

    Raises `UserError` if two gold items get the same position.
    """
    depths = gold_depths(placement)
    if not depths:
        return placement
    positions = [round(depth * (size - 1)) for depth in depths]
    if len(set(positions)) < len(positions):
        raise UserError(f"{placement}: in a context of {size} items two gold items would be at the same position")
    return gold_placement(positions)


def depth_of(position: int, size: int) -> float:
    """A position as a fraction of the context: 0 is the first item, 1 the last (0 if it is the only one)."""
    return position / (size - 1) if size > 1 else 0.0
