"""Intervals of reference lines, in a shaded column for each line right of the positions."""

from collections.abc import Iterable, Mapping

from matplotlib.axes import Axes

from litm.figures.drawing import style
from litm.figures.drawing.chart import REFERENCE, Chart, Series

#: Fraction of the panel's width: the least width of a column. Inches: a character of its label, and the room around it.
LEAST, CHARACTER_INCHES, EDGE_INCHES = 0.13, 0.075, 0.1
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
    longest = max(len(word) for label in lines for word in label.split())
    width = (high - low) * max(LEAST, (CHARACTER_INCHES * longest + EDGE_INCHES) / panel_inches)
    ticks = [*ax.get_xticks()]
    labels = [label.get_text() for label in ax.get_xticklabels()]
    for number, (label, models) in enumerate(lines.items()):
        at = high + (number + 0.5) * width
        for one in models:
            _draw_interval(ax, one, looks[str(one.model)], at)
        ticks.append(at)
        labels.append("\n".join(label.split()))
    ax.set_xticks(ticks, labels)
    for text in ax.get_xticklabels()[-len(lines) :]:
        text.set_fontsize("small")
    ax.axvspan(high, high + width * len(lines), color=SHADE, linewidth=0, zorder=0)
    ax.set_xlim(low, high + width * len(lines))


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
