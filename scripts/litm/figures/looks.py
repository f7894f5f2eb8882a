"""Looks of models, equal in all figures and in the report: colour, mark, dash and hatching; offsets of curves.

A model's place in the study decides its look, whichever models a figure shows. Colour and mark together differ for 72
models, mark and dash (or hatching and fill), which a print in black and white keeps, for 18 and more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from litm.scoring.wrong_answers import CODE, CUT, EMPTY, INVENTED, LEFT_OUT, OTHER, OTHER_ITEM, REFUSAL

#: Colours, marks and dashes of models, by a model's place in the study. resources/report/report.css and charts.js have
#: the same, which a test compares. All colours have a contrast of at least 3 to 1 on white.
COLOURS = ("#0173b2", "#d55e00", "#018a63", "#b04fa0", "#8a6d00", "#d6336c", "#5f6b7a", "#6741d9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
#: The next dash is that of the models whose marks repeat.
DASHES: tuple = ("-", (0, (7, 1.5)), (0, (5, 1.2, 1.2, 1.2)), (0, (2, 1)))
#: Hatchings of bars, as many as marks. Where the marks repeat, bars are white with hatchings in colour.
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "|||", "+++", "ooo")
#: Colours of wrong answers by kind, from the bottom of a bar, of similar lightness; the least informative kinds are
#: grey, at the top. The page has its own, for light and dark. The hatching of a kind is that of its place.
KIND_COLOURS = {
    OTHER_ITEM: "#0173b2",
    INVENTED: "#56b4e9",
    LEFT_OUT: "#018a63",
    CODE: "#b04fa0",
    REFUSAL: "#d55e00",
    CUT: "#e0a100",
    EMPTY: "#3a3a3a",
    OTHER: "#b8bec6",
}
#: Points: offset between two curves, half the width of a cap, and the gap between intervals with the width of a line.
STEP_POINTS, CAP_POINTS, GAP_POINTS = 5.0, 2.0, 1.6
#: Points: offset below which the intervals of two curves cannot be told apart.
LEAST_STEP_POINTS = 3.0
#: Points: size of a mark.
MARK_POINTS = 5.0


@dataclass(frozen=True)
class Look:
    """How a model, a condition or a search is drawn."""

    colour: Any
    """The colour of lines, markers and bars."""
    marker: str
    """The marker of its points."""
    dash: Any = "-"
    """The dashes of a curve."""
    hatch: str = ""
    """The hatch of a bar."""
    is_hollow: bool = False
    """Whether a bar is white with a coloured edge."""

    @property
    def fill(self) -> dict[str, Any]:
        """The properties of a bar's patch."""
        face, lines = ("white", self.colour) if self.is_hollow else (self.colour, "white")
        return {"facecolor": face, "edgecolor": self.colour, "hatch": self.hatch, "hatchcolor": lines}


def look_at(place: int) -> Look:
    """The look of the model, or condition, at a place from 0."""
    round_, mark = divmod(place, len(MARKERS))
    return Look(
        COLOURS[place % len(COLOURS)], MARKERS[mark], DASHES[round_ % len(DASHES)], HATCHES[mark], bool(round_ % 2)
    )


def model_looks(models: Iterable[str], places: Mapping[str, int]) -> dict[str, Look]:
    """The look of each model, by its place in the study."""
    return {model: look_at(place) for model, place in places_of(models, places).items()}


def places_of(models: Iterable[str], places: Mapping[str, int]) -> dict[str, int]:
    """The place of each model in the study; models without one follow all others."""
    names = list(dict.fromkeys(models))
    free = count(max((places[model] for model in names if model in places), default=-1) + 1)
    return {model: places[model] if model in places else next(free) for model in names}


def ink_on(colour: Sequence[float]) -> str:
    """Black or white: the one with the higher contrast on a colour, red, green and blue (WCAG's relative luminance)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "white"


@dataclass(frozen=True)
class Dodge:
    """Places of curves side by side at a position, in points."""

    number: int
    step: float

    @classmethod
    def within(cls, number: int, room: float) -> "Dodge":
        """Of a number of curves in the room between two positions, which those of the next position begin at."""
        return cls(number, min(STEP_POINTS, room / max(1, number)))

    @property
    def is_clear(self) -> bool:
        """Whether intervals next to one another can be told apart."""
        return self.number < 2 or self.step >= LEAST_STEP_POINTS

    def shift(self, index: int) -> float:
        """The offset of a curve from the position."""
        return (index - (self.number - 1) / 2) * self.step

    @property
    def cap(self) -> float:
        """Half the width of an interval's caps, so that those of neighbours do not touch; 0 where there is no room."""
        return min(CAP_POINTS, max(0.0, (self.step - GAP_POINTS) / 2))

    @property
    def mark(self) -> float:
        """The size of a mark, so that it does not cover the neighbour's mark or interval."""
        return min(MARK_POINTS, max(2.0, self.step))
