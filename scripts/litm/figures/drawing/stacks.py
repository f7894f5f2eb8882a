"""Picture of a chart of stacked bars, each with the interval of the whole bar."""

import textwrap
from math import ceil

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from litm.figures.drawing import style
from litm.figures.drawing.chart import PART, WHOLE, Chart, Panel
from litm.figures.drawing.colours import KIND_COLOURS

PANEL_INCHES, WIDEST = (3.1, 2.6), 11.0
#: Characters of a line above or below a panel.
LABEL_WIDTH = 34
#: Number of bars of a panel from which on their labels are small and slanted.
MANY_BARS = 8


def draw_stacks(chart: Chart) -> Figure:
    """The panels of a chart, with the models of a size side by side. Without any part the figure has a sentence
    instead.
    """
    panels, models = len(chart.panels), max(1, len(chart.models))
    columns = min(models if models > 1 else panels, int(((chart.room or WIDEST + 0.4) - 0.4) / PANEL_INCHES[0])) or 1
    lines = max(1, ceil(panels / columns))
    width = max(chart.room or style.MINIMUM_INCHES, columns * PANEL_INCHES[0] + 0.4)
    canvas = style.new_canvas(width, lines * PANEL_INCHES[1] + 1.2)
    style.set_title(canvas, chart.title)
    kinds = {one.label: one.dash for one in chart.series(PART)}
    if not kinds:
        canvas.text(0.5, 0.5, "No answer is wrong.", ha="center", va="center", color="0.35")
        return canvas
    axes = canvas.subplots(lines, columns, sharey=True, squeeze=False)
    for index, ax in enumerate(axes.flatten()):
        if index >= panels:
            ax.remove()
            continue
        _draw_panel(ax, chart.panels[index])
        if index % columns == 0:
            ax.set_ylabel(chart.y_label)
        if index + columns >= panels:
            ax.set_xlabel(textwrap.fill(chart.x_label, LABEL_WIDTH))
    highest = max(100 * (point.high or 0) for one in chart.series(WHOLE) for point in one.points)
    axes[0, 0].set_ylim(0, min(102, max(10.0, highest * 1.05)))
    colours = list(KIND_COLOURS.values())
    handles = [Patch(color=colours[place], label=label) for label, place in kinds.items()]
    counted = style.describe_n(chart.series(WHOLE), "bar", "lines")
    note = f"{counted} of all wrong answers;\nthe kinds and their intervals: wrong_answers.csv"
    style.add_legend(canvas, handles, note)
    return canvas


def _draw_panel(ax: Axes, panel: Panel) -> None:
    (whole,) = (one for one in panel.series if one.kind == WHOLE)
    heights = {point.x or 0: 100 * point.value for point in whole.points}
    below = dict.fromkeys(heights, 0.0)
    for part in (one for one in panel.series if one.kind == PART):
        parts = {x: point.value * heights[x] for point in part.points for x in [point.x or 0]}
        bottom = [below[x] for x in parts]
        colour = list(KIND_COLOURS.values())[part.dash]
        ax.bar(list(parts), list(parts.values()), 0.8, bottom=bottom, color=colour, linewidth=0)
        below |= {x: below[x] + height for x, height in parts.items()}
    lines = ax.errorbar(
        list(heights), list(heights.values()), yerr=style.interval_lengths(whole.points),
        fmt="none", ecolor="0.1", elinewidth=1, capsize=3,
    )  # fmt: skip
    # White edges, because a line crosses bars of any colour.
    for artist in lines.get_children():
        artist.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    ax.set_xticks(*zip(*panel.ticks, strict=True))
    many = len(panel.ticks) >= MANY_BARS
    ax.tick_params(axis="x", labelsize=7 if many else 8.5, rotation=45 if many else 0)
    ax.grid(visible=False, axis="x")
    lines_of_title = [line for text in panel.title.splitlines() for line in textwrap.wrap(text, LABEL_WIDTH)]
    ax.set_title("\n".join(lines_of_title), fontsize=9.5)
