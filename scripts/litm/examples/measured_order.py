"""The measured order of documents: the best ones where a model's curve over the positions is highest.

A seeded digest splits the questions into two parts: the curve is over the first, and the order is judged by the second.
Orders for each part by the other would keep all questions, but their gains would correlate (by .2 for five places), and
paired tests would reject too often. Source of the idea: AttnRank's second stage, which takes a model's attention by
position instead of its accuracy.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litm.base.messages import UserError
from litm.base.store import text_sha256
from litm.base.table_files import read_parquet
from litm.placements import depth_of

if TYPE_CHECKING:
    import pandas as pd

#: Points of a curve: depths (0 first, 1 last; ascending) and accuracies.
Curve = Sequence[tuple[float, float]]
#: Decimals of an interpolated accuracy: points of equal accuracy stay equal.
DECIMALS = 9


def is_held_out(name: str, seed: int) -> bool:
    """Whether a question, or a cluster of questions, judges measured orders and is in no curve that gives one."""
    return int(text_sha256(f"{seed}/measured_order/{name}"), 16) % 2 == 1


def read_curve(path: str | Path, documents: int, seed: int) -> Curve:
    """The curve of `curve_over` from a score file; `UserError` if it has no scored answer."""
    curve = curve_over(read_parquet(path), documents, seed)
    if not curve:
        raise UserError(
            f"{path}: no scored answer to the questions that the curve of 'order: measured' is estimated on: raise "
            "'examples' of its experiment"
        )
    return curve


def curve_over(scores: "pd.DataFrame", documents: int, seed: int) -> Curve:
    """The curve over the questions that are not held out, at the size nearest to `documents`.

    scores: score rows of one sweep. The ratio of two sizes is their distance; of two equally near the larger counts.
    """
    scored = scores[~scores["excluded"] & scores["correct"].notna() & scores["depth"].notna()]
    sizes = sorted(scored["size"].unique(), key=lambda size: (abs(math.log(size / documents)), -size))
    near = scored[scored["size"] == sizes[0]] if sizes else scored
    names = near["id"] if "cluster" not in near else near["cluster"].fillna(near["id"])
    estimated_on = near[[not is_held_out(name, seed) for name in names]]
    means = estimated_on["correct"].astype(float).groupby(estimated_on["depth"].astype(float)).mean()
    return [*means.items()]


def best_where_highest(best_first: Sequence[Any], curve: Curve) -> list[Any]:
    """The documents, given best first, with the best at the place where the curve is highest, and so on.

    Between its points the curve is a straight line. Of equally high places the earlier one has the better document, so
    that a flat curve leaves the documents best first.
    """
    number = len(best_first)
    places = sorted(range(number), key=lambda place: (-_height(curve, depth_of(place, number)), place))
    return [document for _, document in sorted(zip(places, best_first, strict=True), key=lambda pair: pair[0])]


def _height(curve: Curve, depth: float) -> float:
    before = max((point for point in curve if point[0] <= depth), default=curve[0])
    after = min((point for point in curve if point[0] >= depth), default=curve[-1])
    share = (depth - before[0]) / (after[0] - before[0]) if after[0] > before[0] else 0.0
    return round(before[1] + share * (after[1] - before[1]), DECIMALS)
