"""Intervals of reference lines, in a shaded column for each line right of the positions."""

from collections.abc import Iterable, Mapping

from matplotlib.axes import Axes

from litm.figures.drawing import style
from litm.figures.drawing.chart import REFERENCE, Chart, Series

#: Fractions of the panel's width: the least of a column, and the least of the positions.
LEAST, LEAST_OF_POSITIONS = 0.1, 0.4
#: Inches: a character of a label, and the room around a column's label.
CHARACTER_INCHES, EDGE_INCHES = 0.075, 0.1
SHADE = "0.95"


def draw_reference_columns(
    ax: Axes, series: Iterable[Series], looks: Mapping[str, style.Look], panel_inches: float
) -> None:
    """Draw the values of the reference lines with their 95 % intervals, models next to one another, above the names of
    the lines. Called after the ticks and the limits of the horizontal axis are set.
    """
    lines: dict[str, list[Series]] = {}
    for one in series:
        if one.kind == REFERENCE and one.model is not None and one.points[0].low is not None:
            lines.setdefault(one.label, []).append(one)
    if not lines:
        return
    low, high = ax.get_xlim()
    ticks = [*ax.get_xticks()]
    labels = [label.get_text() for label in ax.get_xticklabels()]
    longest = max(len(word) for label in lines for word in label.split())
    column = max(LEAST * panel_inches, CHARACTER_INCHES * longest + EDGE_INCHES)
    # The columns begin right of the last position's label.
    gap = CHARACTER_INCHES * (len(labels[-1]) / 2 + 1)
    inch = (high - low) / max(LEAST_OF_POSITIONS * panel_inches, panel_inches - len(lines) * column - gap)
    start, width = max(high, ticks[-1] + gap * inch), column * inch
    for number, (label, models) in enumerate(lines.items()):
        at = start + (number + 0.5) * width
        for one in models:
            _draw_interval(ax, one, looks[str(one.model)], at)
        ticks.append(at)
        labels.append("\n".join(label.split()))
    ax.set_xticks(ticks, labels)
    for text in ax.get_xticklabels()[-len(lines) :]:
        text.set_fontsize("small")
    ax.axvspan(start, start + width * len(lines), color=SHADE, linewidth=0, zorder=0)
    ax.set_xlim(low, start + width * len(lines))


def _draw_interval(ax: Axes, one: Series, look: style.Look, at: float) -> None:
    artists = ax.errorbar(
        [at], [100 * one.points[0].value], yerr=style.interval_lengths(one.points), color=look.colour,
        marker=look.marker, markersize=4, capsize=2.5, elinewidth=1,
    ).get_children()  # fmt: skip
    style.move_aside(ax, artists, look.shift)


def describe_reference_columns(chart: Chart) -> str:
    """A note on the columns; '' without any."""
    has_any = any(one.points[0].low is not None for one in chart.series(REFERENCE))
    return "shaded: 95 % intervals of the horizontal lines" if has_any else ""
