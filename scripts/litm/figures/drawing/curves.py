"""Picture of a chart of curves: panels side by side."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from litm.figures.drawing import style
from litm.figures.drawing.chart import CURVE, Chart, Panel

#: Characters of all tick labels of a panel: with more they would touch, so they are slanted.
MOST_TICK_CHARACTERS = 30


def draw_curves(chart: Chart) -> Figure:
    """The panels of a chart, each with its curves, published values and reference lines, above a common legend."""
    width = max(style.MINIMUM_INCHES, style.PANEL_INCHES[0] * len(chart.panels) + 0.4)
    canvas = style.new_canvas(width, style.PANEL_INCHES[1] + 1.2)
    axes = canvas.subplots(1, len(chart.panels), sharey=True, squeeze=False)[0]
    looks = style.model_looks(chart.models, chart.places)
    for ax, panel in zip(axes, chart.panels, strict=True):
        style.draw_series(ax, panel.series, looks)
        style.name_absent(ax, panel.absent)
        draw_ticks(ax, panel)
        ax.set_xlabel(chart.x_label)
    style.set_panel_titles(axes, chart.panels)
    axes[0].set_ylabel(chart.y_label)
    style.fit_y_axis(axes[0], chart)
    style.set_title(canvas, chart.title)
    counted = [one for one in chart.series(CURVE) if one.model is not None]
    notes = [
        style.describe_n(counted, "point", "bars"),
        style.describe_references(chart),
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
