"""The Position Bias Index: contrasts of positions, classes of their size, and accuracies that cannot show any.

Classes and contrasts are those of the benchmark suite; the edges of an area are thirds of the context.
"""

from collections.abc import Sequence

from litm.base.intervals import binomial_interval

#: A PBI above the bound has the name, else the next; what is below all is inverted.
CLASSES = ((0.30, "strong"), (0.15, "moderate"), (0.05, "weak"))
#: A PBI this close to 0 is flat. The suite calls flat what is "≈ 0", and inverted what is below 0, without a bound:
#: above 0 it follows from where weak begins, and below 0 the same distance is our choice (`class_words` says where it
#: counts).
FLAT = 0.05
INVERTED = "inverted"

#: An accuracy whose interval reaches as low, or as high, as this may be at the floor, or at the ceiling.
FLOOR, CEILING = 0.02, 0.98
#: An accuracy as near to 0 or 1 as this is at the floor or the ceiling, if its interval says so too.
NEAR = 0.05

MEASURED, NO_INFORMATION = "measured", "no_information"

#: The contrasts of start, middle and end, in this order.
CONTRASTS = {"primacy": (1, -1, 0), "recency": (0, -1, 1), "tilt": (-1, 0, 1), "pbi": (0.5, -1, 0.5)}


def limit_of(correct: Sequence[int], n: int, intervals: Sequence[tuple[float, float]] | None = None) -> str | None:
    """What keeps accuracies from showing a difference: the floor, the ceiling, or too few questions to tell.

    correct: right answers of n at each position. It is the lack of questions where the intervals reach a limit that the
    accuracies themselves are not `NEAR` to. intervals: of the accuracies; those of `binomial_interval` if left out.
    """
    intervals = intervals or [binomial_interval(count, n) for count in correct]
    floor, ceiling = all(low <= FLOOR for low, _ in intervals), all(high >= CEILING for _, high in intervals)
    if not (floor or ceiling):
        return None
    near_floor, near_ceiling = max(correct) <= NEAR * n, min(correct) >= (1 - NEAR) * n
    if floor != ceiling and (near_floor if floor else near_ceiling):
        return "floor" if floor else "ceiling"
    return "too few questions"


def pbi_class(pbi: float) -> str:
    """The suite's name: above 0.30 strong, 0.15 moderate, 0.05 weak; from -0.05 to 0.05 flat; below inverted.

    The suite calls a PBI strong *above* 0.30, so every bound belongs to the class nearer to 0, those of flat as well.
    """
    pbi = round(pbi, 12)  # (0.8 + 1.0)/2 - 0.6 is a little more than 0.3
    for bound, name in CLASSES:
        if pbi > bound:
            return name
    return "flat" if pbi >= -FLAT else INVERTED


def class_words(pbi: float, low: float, high: float) -> str:
    """The class with what its interval leaves open: other classes that it reaches, and whether 0 is in it."""
    name, least, most = pbi_class(pbi), pbi_class(low), pbi_class(high)
    words = [name]
    if least != most:
        words.append(f"by its interval anything from {least} to {most}")
    if low <= 0 <= high and name != "flat":
        words.append("not shown to differ from 0")
    if name == "flat" and (low > 0 or high < 0):
        words.append("but above 0" if low > 0 else "but below 0, which the suite calls inverted")
    return ", ".join(words)


def middle_index(depths: Sequence[float]) -> int | None:
    """Index of the depth nearest to 0.5 between the first and the last (the earlier of equals); None without one."""
    inner = range(1, len(depths) - 1)
    return min(inner, key=lambda index: round(abs(depths[index] - 0.5), 12)) if inner else None


def area_weights(depths: Sequence[float]) -> list[float] | None:
    """Weights of the area version of PBI: half the mean of each outer third by depth, minus the mean of the inner one.

    A depth of exactly 1/3 or 2/3 is outer. Each outer third counts the same, however many positions it has, so that a
    straight slope is no bias. None if a third has no position.
    """
    thirds = [0 if depth <= 1 / 3 + 1e-9 else 2 if depth >= 2 / 3 - 1e-9 else 1 for depth in depths]
    if set(thirds) != {0, 1, 2}:
        return None
    return [(-1 if third == 1 else 0.5) / thirds.count(third) for third in thirds]
