"""The Position Bias Index: contrasts of positions, classes of their size, and accuracies without information.

Classes and contrasts are those of the benchmark suite; the edges of the area version are thirds of the context.
"""

from collections.abc import Sequence

from litm.base.intervals import binomial_interval
from litm.base.messages import ordinal

#: Lower bounds (exclusive) of the classes, from the strongest.
CLASSES = ((0.30, "strong"), (0.15, "moderate"), (0.05, "weak"))
#: Fraction: a PBI within this distance of 0 is flat. The suite calls "≈ 0" flat and a PBI below 0 inverted, without a
#: bound: above 0 the bound follows from the class weak, below 0 the same distance is this workflow's choice
#: (`class_words` mentions it where it matters).
FLAT_WITHIN = 0.05
INVERTED = "inverted"

#: Fractions: an accuracy may be at the floor or the ceiling if its interval reaches this bound.
FLOOR, CEILING = 0.02, 0.98
#: Fraction: an accuracy may be at the floor or the ceiling if its interval is within this distance of 0 or 1. It is the
#: bound of the class moderate. Few questions show no floor: the interval of 0 of 5 reaches 52 %.
NEAR = 0.15

#: Fraction of the context: two positions count as equally near to its middle if their distances from it differ by less
#: than this. Positions are whole numbers, so those meant to be symmetrical, such as the paper's 0, 24, 49 and 74 of 75,
#: seldom are exactly.
EQUALLY_NEAR = 0.02
#: Fraction of the context: positions of two sizes are comparable if their depths differ by no more than this.
LIKE_DEPTHS = 0.1

#: Depth: the last that is near the start. Depths of a quarter are rounded to positions, which are apart by less.
QUARTER = 0.25 + EQUALLY_NEAR
#: Places of a curve with a middle, at depths 0, 0.5 and 1, in the order of the weights of a contrast.
PLACES = ("start", "middle", "end")
#: Weights of start, middle and end in each contrast.
CONTRASTS = {"primacy": (1, -1, 0), "recency": (0, -1, 1), "tilt": (-1, 0, 1), "pbi": (0.5, -1, 0.5)}


def limit_of(correct: Sequence[float], n: int, intervals: Sequence[tuple[float, float]] | None = None) -> str | None:
    """Why accuracies cannot show a difference: the floor, the ceiling, or too few questions.

    correct: right answers of n at each position. Questions are too few if all intervals reach a bound, and one is wider
    than `NEAR`. intervals: of the accuracies; by default those of `binomial_interval`.
    """
    lows, highs = zip(*(intervals or [binomial_interval(count, n) for count in correct]), strict=True)
    if max(lows) > FLOOR and min(highs) < CEILING:
        return None
    return "floor" if max(highs) <= NEAR else "ceiling" if min(lows) >= 1 - NEAR else "too few questions"


def pbi_class(pbi: float) -> str:
    """The suite's class: above 0.30 strong, 0.15 moderate, 0.05 weak; from -0.05 to 0.05 flat; below inverted.

    The suite calls a PBI strong *above* 0.30, so every bound belongs to the class nearer to 0, also for flat.
    """
    pbi = round(pbi, 12)  # (0.8 + 1.0)/2 - 0.6 is a little more than 0.3
    for bound, name in CLASSES:
        if pbi > bound:
            return name
    return "flat" if pbi >= -FLAT_WITHIN else INVERTED


def class_words(pbi: float, low: float, high: float) -> str:
    """The class in words, with the other classes that its interval reaches, and whether it contains 0."""
    name, least, most = pbi_class(pbi), pbi_class(low), pbi_class(high)
    words = [name]
    if least != most:
        words.append(f"by its interval anything from {least} to {most}")
    if low <= 0 <= high and name != "flat":
        words.append("which contains 0" if least != most else "by an interval that contains 0")
    if name == "flat" and (low > 0 or high < 0):
        words.append("but above 0" if low > 0 else "but below 0, which the suite calls inverted")
    return ", ".join(words)


def middle_indices(depths: Sequence[float]) -> tuple[int, ...]:
    """Indices of the depths between first and last that are nearest to 0.5: one; two, one on either side, if they are
    `EQUALLY_NEAR`; or none.

    The accuracy in the middle is the mean of both, so that mirrored curves have the same index.
    """
    inner = range(1, len(depths) - 1)
    below, above = ([i for i in inner if depths[i] <= 0.5][-1:], [i for i in inner if depths[i] >= 0.5][:1])
    away = {index: abs(depths[index] - 0.5) for index in (*below, *above)}
    return tuple(index for index, distance in away.items() if round(distance - min(away.values()), 12) < EQUALLY_NEAR)


def place_indices(depths: Sequence[float]) -> dict[str, tuple[int, ...]]:
    """Indices of start, middle and end, as far as the depths allow; {} for a single depth.

    First, middle and last depths that are not near their place are left out, see `is_near`.
    """
    last = len(depths) - 1
    places = {"start": (0,), "middle": middle_indices(depths), "end": (last,)} if last > 0 else {}
    near = {name: tuple(index for index in at if is_near(name, depths[index])) for name, at in places.items()}
    return {name: at for name, at in near.items() if at}


def is_near(place: str, depth: float) -> bool:
    """Whether a depth is nearer to this place than to the others: start up to `QUARTER`, end as far from the end,
    middle between.
    """
    return place == ("start" if depth <= QUARTER else "end" if depth >= 1 - QUARTER else "middle")


def misplaced(depths: Sequence[float], positions: Sequence[int]) -> str | None:
    """The reason why a curve has no PBI and no word: its first, middle or last position is not near that place."""
    middle, places = middle_indices(depths), place_indices(depths)
    if missing := [name for name in PLACES if name not in places and (middle or name != "middle")]:
        used = ", ".join(ordinal(positions[index] + 1) for index in (0, *middle, -1))
        return f"no position is near the {' or the '.join(missing)} ({used})"
    return None


def unlike_places(depths: Sequence[float], others: Sequence[float]) -> str:
    """Where start, middle and end of two sizes are, in words, if they are not at `LIKE_DEPTHS`; "" if they are.

    Middles are compared by their distance from 0.5, so that mirrored curves are alike.
    """
    places = [(each[0], [each[index] for index in middle_indices(each)], each[-1]) for each in (depths, others)]
    compared = [(start, max(abs(depth - 0.5) for depth in middle), end) for start, middle, end in places]
    if all(round(abs(first - second), 12) <= LIKE_DEPTHS for first, second in zip(*compared, strict=True)):
        return ""
    first, second = (
        f"{start:.2f}, {' and '.join(f'{depth:.2f}' for depth in middle)}, {end:.2f}" for start, middle, end in places
    )
    return f"start, middle and end are at depths {first} of the context at one size, and {second} at the other"


def like_positions(depths: Sequence[float], others: Sequence[float]) -> list[tuple[int, int]]:
    """Indices of the positions of two sizes that are at `LIKE_DEPTHS`, and are each other's nearest.

    Their means are comparable. Those of all positions are not: more positions between the ends give these less weight,
    and a U looks like a loss of accuracy.
    """
    nearest = [min(range(len(others)), key=lambda other: abs(others[other] - depth)) for depth in depths]
    back = [min(range(len(depths)), key=lambda index: abs(depths[index] - depth)) for depth in others]
    pairs = ((index, other) for index, other in enumerate(nearest) if back[other] == index)
    return [(index, other) for index, other in pairs if round(abs(depths[index] - others[other]), 12) <= LIKE_DEPTHS]


def area_weights(depths: Sequence[float]) -> list[float] | None:
    """Weights of the area version of PBI: half the mean of each outer third by depth, minus the mean of the inner one.

    Depths of exactly 1/3 and 2/3 are outer. Both outer thirds have equal weight for any number of positions, so that a
    straight slope has index 0. None if a third has no position.
    """
    thirds = [0 if depth <= 1 / 3 + 1e-9 else 2 if depth >= 2 / 3 - 1e-9 else 1 for depth in depths]
    if set(thirds) != {0, 1, 2}:
        return None
    return [(-1 if third == 1 else 0.5) / thirds.count(third) for third in thirds]
