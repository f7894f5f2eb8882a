"""Intervals of reference lines, right of the positions, with the lines' names if they are of one model."""

from collections.abc import Iterable, Mapping

from matplotlib.axes import Axes

from litm.figures.drawing import style
from litm.figures.drawing.chart import REFERENCE, Chart, Series

#: Inches from the last position to the intervals of the first line, and between lines.
STEP_INCHES = 0.3
#: Fraction of the panel's width: the least that positions have.
LEAST_OF_POSITIONS = 0.6


def draw_reference_columns(
    ax: Axes, series: Iterable[Series], looks: Mapping[str, style.Look], panel_inches: float
) -> None:
    """Draw the values of the reference lines with their 95 % intervals, models next to one another. Called after the
    ticks and the limits of the horizontal axis are set.
    """
    lines: dict[str, list[Series]] = {}
    for one in series:
        if one.kind == REFERENCE and one.model is not None and one.points[0].low is not None:
            lines.setdefault(one.label, []).append(one)
    if not lines:
        return
    low, high = ax.get_xlim()
    share = min(1 - LEAST_OF_POSITIONS, STEP_INCHES * (len(lines) + 1) / panel_inches)
    step = (high - low) * share / (1 - share) / (len(lines) + 1)
    for number, (label, models) in enumerate(lines.items()):
        at = high + (number + 0.5) * step
        for one in models:
            _draw_interval(ax, one, looks[str(one.model)], at)
        if len(models) == 1:
            _name(ax, label, models[0], looks[str(models[0].model)])
    ax.set_xlim(low, high + step * (len(lines) + 0.5))


def _name(ax: Axes, label: str, one: Series, look: style.Look) -> None:
    """The line's name, above it or, near the top, below."""
    value = 100 * one.points[0].value
    is_low = value < 85
    ax.annotate(
        label, (0.5, value), xycoords=("axes fraction", "data"), xytext=(0, 3 if is_low else -3),
        textcoords="offset points", ha="center", va="bottom" if is_low else "top", color=look.colour, fontsize="small",
    )  # fmt: skip


def _draw_interval(ax: Axes, one: Series, look: style.Look, at: float) -> None:
    artists = ax.errorbar(
        [at], [100 * one.points[0].value], yerr=style.interval_lengths(one.points), color=look.colour,
        marker=look.marker, markersize=4, capsize=2.5, elinewidth=1,
    ).get_children()  # fmt: skip
    style.move_aside(ax, artists, look.shift)


def describe_reference_columns(chart: Chart) -> str:
    """A note on these intervals; '' without any."""
    has_any = any(one.points[0].low is not None for one in chart.series(REFERENCE))
    return "at the right: 95 % intervals of the horizontal lines" if has_any else ""
