"""The page that a figure is for: how wide the figure is there, and how large its text."""

from collections.abc import Mapping
from dataclasses import dataclass

#: Points of the labels of axes in figures as they are drawn; `scale` makes them those of the page.
DRAWN_POINTS = 10.8


@dataclass(frozen=True)
class Page:
    """width: inches of a figure; font_size: points of the labels of its axes; titles: whether figures have titles."""

    width: float
    font_size: float
    titles: bool = True

    @property
    def scale(self) -> float:
        """How much larger a figure is on the page than it is drawn."""
        return self.font_size / DRAWN_POINTS

    @property
    def room(self) -> float:
        """Inches that a figure may be wide as it is drawn."""
        return self.width / self.scale


#: Columns of usual journals (ACL 3.03 and 6.3 inches, IEEE 3.5 and 7.16, PNAS 3.42 and 7), and a slide of 16 : 9.
PRESETS = {
    "single_column": Page(3.3, 8.0),
    "double_column": Page(6.9, 8.0),
    "slide": Page(12.0, 16.0),
}


def page_of(figure: Mapping) -> Page | None:
    """The page in the settings of a figure, None if figures are as wide as they need."""
    return Page(**figure["page"]) if figure.get("page") else None


def room_of(figure: Mapping) -> float | None:
    """Inches that a figure may be wide as it is drawn, None without a limit."""
    page = page_of(figure)
    return page.room if page else None
