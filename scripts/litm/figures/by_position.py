"""Accuracy by position: one panel for each size, with reference lines."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from litm.figures import style
from litm.wording import ordinal

#: Tick labels of a panel with more characters in all would touch one another.
MOST_TICK_CHARACTERS = 30


def position_curve(accuracy: pd.DataFrame, figure: Mapping, published: pd.DataFrame | None = None) -> Figure:
    """Accuracy (%) against the position of the gold item, with 95 % intervals; a curve for each model.

    accuracy: rows of `accuracy.accuracy_table`; figure: settings of a figure (experiments, references with their
    labels, title, panel_title, x_label, and sizes if not all are shown); published: rows of
    `published.published_table`, drawn dashed for the models that are there. A panel names the models of which no
    question was scored.
    """
    cells = style.rows_of(accuracy, figure)
    cells = cells[cells["position"].notna() & (cells["size"] > 1)]
    curves = cells[cells["n"] > 0]
    sizes = sorted(cells["size"].unique())
    colours = style.model_colours(cells["model"])
    others = style.published_rows(published, figure, colours)
    others = others[others["size"].isin(sizes)]
    width = max(style.MINIMUM_INCHES, style.PANEL_INCHES[0] * len(sizes) + 0.4)
    canvas = style.new_canvas(width, style.PANEL_INCHES[1] + 1.2)
    panels = canvas.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    for panel, size in zip(panels, sizes, strict=True):
        style.draw_published(panel, others[others["size"] == size], "position", colours)
        _draw_curves(panel, curves[curves["size"] == size], figure, colours)
        style.name_absent(panel, cells[cells["size"] == size])
        style.draw_references(panel, accuracy, figure, colours)
        panel.set_title(figure["panel_title"].replace("{size}", str(size)))
        panel.set_xlabel(figure["x_label"])
    panels[0].set_ylabel("Accuracy (%)")
    style.fit_y_axis(panels[0], curves, style.reference_rows(accuracy, figure, colours), others)
    style.set_title(canvas, figure["title"])
    handles = style.curve_handles(figure, colours) + style.reference_handles(figure, set(accuracy["experiment"]))
    style.add_legend(canvas, handles + style.published_handles(others), style.describe_n(curves))
    return canvas


def _draw_curves(panel: Axes, cells: pd.DataFrame, figure: Mapping, colours: Mapping) -> None:
    ticks = sorted({int(position) for position in cells["position"]})
    linestyles = style.cycle(style.CURVE_STYLES, figure["experiments"])
    for linestyle, experiment in zip(linestyles, figure["experiments"], strict=True):
        style.draw_models(panel, cells[cells["experiment"] == experiment], "position", colours, linestyle)
    labels = [ordinal(tick + 1) for tick in ticks]
    panel.set_xticks(ticks, labels)
    if sum(map(len, labels)) > MOST_TICK_CHARACTERS:
        panel.tick_params("x", rotation=45)
    panel.margins(x=0.07)
