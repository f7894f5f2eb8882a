"""Picture of a chart of curves: panels side by side."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from litm.figures.drawing import style
from litm.figures.drawing.chart import CURVE, Chart, Panel
from litm.figures.drawing.reference_column import describe_reference_columns, draw_reference_columns

#: Characters of all tick labels of a panel: with more they would touch, so they are slanted.
MOST_TICK_CHARACTERS = 30


def draw_curves(chart: Chart) -> Figure:
    """The panels of a chart, each with its curves, published values and reference lines, above a common legend."""
    grid = style.panel_grid(len(chart.panels), chart.room)
    canvas = style.new_canvas(grid.width, style.PANEL_INCHES[1] * grid.rows + 1.2)
    axes = grid.axes(canvas)
    looks = style.model_looks(chart.models, chart.places)
    for ax, panel in zip(axes, chart.panels, strict=True):
        style.draw_series(ax, panel.series, looks)
        style.name_absent(ax, panel.absent, grid.panel_width)
        draw_ticks(ax, panel)
        draw_reference_columns(ax, panel.series, looks, grid.panel_width)
    style.set_panel_titles(axes, chart.panels, grid.panel_width)
    style.label_axes(axes, grid, chart)
    style.fit_y_axis(axes[0], chart)
    style.set_title(canvas, chart.title)
    counted = [one for one in chart.series(CURVE) if one.model is not None]
    notes = [
        style.describe_n(counted, "point", "bars"),
        describe_reference_columns(chart),
        style.describe_axis(axes[0]),
    ]
    style.add_legend(canvas, style.legend_handles(chart, looks), "\n".join(filter(None, notes)))
    style.add_note(canvas, filter(None, [chart.note]))
    return canvas


def draw_ticks(ax: Axes, panel: Panel) -> None:
    """Draw the ticks of a panel, slanted if they are many."""
    labels = [label for _, label in panel.ticks]
    ax.set_xticks([x for x, _ in panel.ticks], labels)
    if sum(map(len, labels)) > MOST_TICK_CHARACTERS:
        ax.tick_params("x", rotation=45)
    ax.margins(x=0.07)
