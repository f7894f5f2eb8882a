"""Picture of a chart of differences: panels side by side, with a line at 0."""

import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from litm.figures.drawing import style
from litm.figures.drawing.chart import CURVE, Chart, Panel
from litm.figures.drawing.curves import draw_ticks

#: Points on either side of 0 that the axis always shows.
ALWAYS = 10.0
NOTHING = "No model answered the same questions under both conditions."


def draw_differences(chart: Chart, compared: Sequence[str]) -> Figure:
    """The panels of a chart of differences; compared: lines that name both sides of each difference."""
    if not chart.panels:
        return style.empty_canvas(chart.title, NOTHING)
    grid = style.panel_grid(len(chart.panels), chart.room)
    canvas = style.new_canvas(grid.width, style.PANEL_INCHES[1] * grid.rows + 1.4)
    axes = grid.axes(canvas)
    looks = style.model_looks(chart.models, chart.places)
    for ax, panel in zip(axes, chart.panels, strict=True):
        _draw_panel(ax, panel, looks)
    style.set_panel_titles(axes, chart.panels, grid.panel_width)
    style.label_axes(axes, grid, chart)
    ends = style.ends_of(chart)
    axes[0].set_ylim(min(-ALWAYS, min(ends) - 3), max(ALWAYS, max(ends) + 3))
    style.set_title(canvas, chart.title)
    counts = style.describe_n(chart.series(CURVE), "point", "bars")
    lines = [*compared, f"{counts}, each by itself"]
    characters = int(grid.width * style.TITLE_CHARACTERS_AN_INCH)
    note = "\n".join(textwrap.fill(line, characters, break_on_hyphens=False) for line in lines)
    style.add_legend(canvas, style.legend_handles(chart, looks), note)
    return canvas


def _draw_panel(ax: Axes, panel: Panel, looks: dict[str, style.Look]) -> None:
    ax.axhline(0, color="0.25", linewidth=1, zorder=1.5)
    style.draw_series(ax, panel.series, looks)
    draw_ticks(ax, panel)
