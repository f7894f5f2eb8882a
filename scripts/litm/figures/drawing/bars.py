"""Picture of a chart of marks: groups of bars, in one or more rows of panels."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from litm.figures.drawing import style
from litm.figures.drawing.chart import MARKS, REFERENCE, Chart, Panel, Point
from litm.figures.drawing.colours import COLOURS
from litm.figures.drawing.reference_column import describe_reference_columns, draw_reference_columns

#: Inches: panel margins; one bar or gap between groups; narrowest panel; widest figure.
PANEL_EDGE_INCHES, BAR_INCHES, PANEL_MINIMUM_INCHES, MAXIMUM_INCHES = 0.6, 0.11, 2.7, 11.0
PANEL_HEIGHT_INCHES = 2.9
NOTE_CHARACTERS_AN_INCH = 12
#: Hatchings of bars, for more models than colours.
HATCHES = ("", "////", "....")


@dataclass(frozen=True)
class _Sizes:
    """Numbers of rows and columns of panels, characters per line of a note; all other sizes in inches."""

    rows: int
    columns: int
    note_characters: int
    width: float
    height: float


def draw_bars(chart: Chart) -> Figure:
    """The panels of a chart, each with one group of bars per tick and one bar per model."""
    fills = _fills(chart)
    size = _sizes(chart)
    canvas = style.new_canvas(size.width, size.height)
    axes = canvas.subplots(size.rows, size.columns, sharey=True, squeeze=False)
    for first, row in zip(range(0, len(chart.panels), size.columns), axes, strict=True):
        _draw_row(row, chart.panels[first : first + size.columns], size.note_characters, fills)
        row[0].set_ylabel(chart.y_label)
    looks = style.model_looks(chart.models, chart.places)
    for index, ax in enumerate(axes.flatten()):
        if index >= len(chart.panels):
            ax.remove()
            continue
        _draw_references(ax, chart.panels[index], looks)
        draw_reference_columns(ax, chart.panels[index].series, looks, size.width / size.columns)
        if index + size.columns >= len(chart.panels):
            ax.set_xlabel(chart.x_label)
    _fit_y_axis(axes[0, 0], chart)
    style.set_title(canvas, chart.title)
    handles = [Patch(label=model, linewidth=1, **fill) for model, fill in fills.items()]
    notes = [style.describe_n(chart.series(MARKS), "bar", "whiskers"), describe_reference_columns(chart)]
    style.add_legend(canvas, [*handles, *style.reference_handles(chart)], "\n".join(filter(None, notes)))
    return canvas


def _sizes(chart: Chart) -> _Sizes:
    """Sizes with room for every bar and title, and the most panels per row that the width allows."""
    targets = max(len(panel.ticks) for panel in chart.panels)
    title = style.CHARACTER_INCHES * max(len(line) for panel in chart.panels for line in panel.title.splitlines())
    panel = max(PANEL_MINIMUM_INCHES, title, PANEL_EDGE_INCHES + BAR_INCHES * targets * (len(chart.models) + 1))
    rows = ceil(len(chart.panels) / max(1, int((chart.room or MAXIMUM_INCHES) / panel)))
    columns = ceil(len(chart.panels) / rows)
    width = max(chart.room or style.MINIMUM_INCHES, columns * panel + 0.4)
    note_characters = int(width / columns * NOTE_CHARACTERS_AN_INCH)
    return _Sizes(rows, columns, note_characters, width, rows * PANEL_HEIGHT_INCHES + 1.2)


def _fills(chart: Chart) -> dict[str, dict]:
    """Colour and hatching of each model's bars."""
    fills = {}
    for model, place in style.places_of(chart.models, chart.places).items():
        colour = COLOURS[place % len(COLOURS)]
        hatch = HATCHES[place // len(COLOURS) % len(HATCHES)]
        fills[model] = {"facecolor": colour, "edgecolor": colour, "hatch": hatch, "hatchcolor": "white"}
    return fills


def _draw_row(
    axes: Sequence[Axes], panels: Sequence[Panel], note_characters: int, fills: Mapping[str, Mapping]
) -> None:
    """Draw a row of panels, with room for its longest note between panels and titles."""
    notes = [_note(panel, note_characters) for panel in panels]
    has_bars = [any(one.kind == MARKS for one in panel.series) for panel in panels]
    lines = max(len(note.splitlines()) if above else 0 for note, above in zip(notes, has_bars, strict=True))
    for ax, panel, note, above in zip(axes, panels, notes, has_bars, strict=False):
        _draw_bars(ax, panel, fills)
        _add_note(ax, note, above)
        ax.set_title(panel.title, pad=6 + style.NOTE_LINE_POINTS * lines)


def _draw_references(ax: Axes, panel: Panel, looks: Mapping[str, style.Look]) -> None:
    """Draw reference lines with white edges, because a line has the same colour as the bars that it crosses."""
    others = set(ax.get_lines())
    style.draw_series(ax, [one for one in panel.series if one.kind == REFERENCE], looks)
    for line in ax.get_lines():
        if line not in others:
            line.set_path_effects([withStroke(linewidth=3, foreground="white")])


def _draw_bars(ax: Axes, panel: Panel, fills: Mapping[str, Mapping]) -> None:
    width = 0.84 / max(len(fills), 2)
    points: dict[str | None, Sequence[Point]] = {one.model: one.points for one in panel.series if one.kind == MARKS}
    for index, (model, fill) in enumerate(fills.items()):
        bars = points.get(model, ())
        ax.bar(
            [(point.x or 0) + (index - (len(fills) - 1) / 2) * width for point in bars],
            [100 * point.value for point in bars],
            0.9 * width,
            yerr=style.interval_lengths(bars),
            error_kw={"elinewidth": 1, "capsize": 3 if len(fills) < 5 else 1.5, "ecolor": "0.15"},
            linewidth=1,
            **fill,
        )
    ax.set_xticks([x for x, _ in panel.ticks], [label for _, label in panel.ticks])
    ax.set_xlim(-0.6, len(panel.ticks) - 0.4)
    ax.grid(False, axis="x")


def _note(panel: Panel, characters: int) -> str:
    """A sentence on the models without bars in a panel, '' if all have bars."""
    return textwrap.fill(f"no question scored: {', '.join(panel.absent)}", characters) if panel.absent else ""


def _add_note(ax: Axes, note: str, above: bool) -> None:
    """Write a note where no bar can be: between panel and title, or in the middle of an empty panel."""
    at, offset, vertical = ((0.5, 1), (0, 3), "bottom") if above else ((0.5, 0.5), (0, 0), "center")
    if note:
        ax.annotate(
            note, at, offset, xycoords="axes fraction", textcoords="offset points",
            ha="center", va=vertical, color="0.35", fontsize="small",
        )  # fmt: skip
    if note and not above:
        ax.grid(False)


def _fit_y_axis(ax: Axes, chart: Chart) -> None:
    """Limits from 0, because a bar's length is its value, to above the highest interval, at least 20 points apart.

    The axis begins slightly below 0, so that the coloured edge of a bar without height is visible.
    """
    ends = style.ends_of(chart)
    top = min(102.0, max(20.0, max(ends) + 3)) if ends else 102.0
    ax.set_ylim(-0.01 * top, top)
    ax.set_yticks(range(0, int(top) + 1, 20 if top > 50 else 5))
