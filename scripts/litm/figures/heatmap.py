"""Figures of accuracy by size and position: one heatmap per model, one row per size, one cell per position."""

from collections.abc import Mapping
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from litm.base.messages import ordinal, percent
from litm.figures import style
from litm.figures.chart import (
    MARKS,
    Chart,
    Panel,
    Point,
    Rows,
    Series,
    gaps_of,
    make_chart,
    models_in,
    panel_title,
    points_of,
    positioned,
    scored,
)  # fmt: skip
from litm.figures.looks import ink_on, model_looks

#: Depth (fraction): the largest difference of depths in a column that share one label.
SAME_DEPTH = 0.03
#: Inches: width and height of a cell; labels of the rows; gap between panels; widest figure.
CELL_INCHES, LABEL_INCHES, BETWEEN_INCHES, MAXIMUM_INCHES = (0.96, 0.56), 1.5, 0.55, 15.0
#: Inches: height of the colour bar, and the gap above it.
BAR_INCHES = (0.25, 0.2)
LABEL_CHARACTERS, SMALL_CHARACTER_INCHES = 18, 0.075
#: Perceptually uniform colours, also for people with colour blindness.
HEAT = matplotlib.colormaps["cividis"]
SCALE = Normalize(0, 100)
EMPTY = "no question scored"
NOTHING = "No question was scored."


def draw_heatmap(chart: Chart) -> Figure:
    """Grids of sizes and positions: one row of equal cells per size, the smallest at the top.

    A cell has the accuracy in per cent, its 95 % interval, the position from the 1st, and n. Colours stand for 0 to
    100 % in every figure.
    """
    most_cells = max((len(_places(row)) for panel in chart.panels for row in panel.series), default=0)
    if not most_cells:
        return style.empty_canvas(chart.title, NOTHING)
    width, panels = LABEL_INCHES + CELL_INCHES[0] * max(3, most_cells), chart.panels
    columns = max(1, min(len(panels), int((chart.room or MAXIMUM_INCHES) / width)))
    grid = style.PanelGrid(len(panels), columns, max(chart.room or style.MINIMUM_INCHES, width * columns))
    heights = [
        max(len(panel.series) for panel in panels[first : first + columns]) for first in range(0, len(panels), columns)
    ]
    height = CELL_INCHES[1] * sum(heights) + BETWEEN_INCHES * grid.rows + 2.0
    canvas = style.new_canvas(grid.width, height, chart.title)
    axes, looks = grid.axes(canvas, sharey=False, height_ratios=heights), model_looks(chart.models, chart.places)
    for index, (ax, panel) in enumerate(zip(axes, panels, strict=True)):
        _draw_panel(ax, panel)
        style.mark_title(ax, looks[next(row.model for row in panel.series if row.model)])
        if grid.is_lowest(index):
            cells = max(3, max(len(_places(row)) for row in panel.series))
            characters = int(cells * CELL_INCHES[0] / SMALL_CHARACTER_INCHES)
            ax.set_xlabel(style.wrapped(chart.x_label, characters), fontsize="small")
    bar = canvas.colorbar(
        ScalarMappable(SCALE, HEAT), ax=axes, location="bottom", shrink=0.8, aspect=45,
        fraction=BAR_INCHES[0] / height, pad=BAR_INCHES[1] / height,
    )  # fmt: skip
    bar.set_label(chart.y_label, fontsize="small")
    style.add_legend(canvas, [], style.describe_n(chart.series(MARKS), "cell", "brackets"))
    return canvas


def heatmap(figure: Mapping, rows: Rows) -> Chart:
    """One panel per experiment and model, with one series per size, the smallest first.

    A size without a scored question has a series without points. The ticks of a panel, (column, depth), are those that
    all of its rows share.
    """
    cells = positioned(figure, rows.accuracy)
    models = models_in(cells)
    panels = [
        _panel(figure, experiment, model, of_experiment, rows.token_counts)
        for experiment in figure["experiments"]
        for of_experiment in [cells[cells["experiment"] == experiment]]
        for model in models
        if model in set(of_experiment["model"])
    ]
    return make_chart(figure, panels, models)


def _panel(
    figure: Mapping, experiment: str, model: str, cells: pd.DataFrame, token_counts: pd.DataFrame | None
) -> Panel:
    of_model = {**figure, "experiments": [experiment], "models": [model]}
    cells_of_model = cells[cells["model"] == model]
    series = tuple(
        Series(
            MARKS, model, panel_title(of_model, size, token_counts), 0,
            points_of(drawn, "position"), gaps_of(drawn["position"], cells[cells["size"] == size]["position"]),
        )
        for size, of_size in cells_of_model.groupby("size")
        for drawn in [scored(of_size).sort_values("position")]
    )  # fmt: skip
    title = f"{experiment}: {model}" if len(figure["experiments"]) > 1 else model
    columns = cells[cells["size"].isin(scored(cells_of_model)["size"])].drop_duplicates(["size", "position"])
    return Panel(title, _ticks(columns), series)


def _places(row: Series) -> list[int]:
    """The positions of a row's columns; [] without a scored question."""
    return sorted([*row.gaps, *(point.x or 0 for point in row.points)]) if row.points else []


def _ticks(cells: pd.DataFrame) -> tuple[tuple[int, str], ...]:
    """The depth of each column in per cent; () if the rows differ in their number of cells or in depths."""
    rows = [of_size.sort_values("position")["depth"].tolist() for _, of_size in cells.groupby("size")]
    if len({len(row) for row in rows}) != 1:
        return ()
    columns = list(zip(*rows, strict=True))
    if any(max(column) - min(column) > SAME_DEPTH for column in columns):
        return ()
    return tuple(
        (place, f"{round(float(percent(sum(column) / len(column))))} %") for place, column in enumerate(columns)
    )


def _draw_panel(ax: Axes, panel: Panel) -> None:
    for line, row in enumerate(panel.series):
        _draw_row(ax, line, row)
    ax.set_xlim(0, 1)
    ax.set_ylim(len(panel.series), 0)
    ax.set_yticks([line + 0.5 for line in range(len(panel.series))], [_in_lines(row.label) for row in panel.series])
    columns = len(panel.ticks)
    ax.set_xticks([(place + 0.5) / columns for place, _ in panel.ticks], [label for _, label in panel.ticks])
    ax.tick_params(length=0)
    ax.grid(False)
    ax.set_title(panel.title)


def _in_lines(label: str) -> str:
    """The label of a row, with the length of its prompts, if known, on a second line."""
    return style.wrapped(label.replace(", ~", "\n~"), LABEL_CHARACTERS)


def _draw_row(ax: Axes, line: int, row: Series) -> None:
    """Draw the cells of a size; without a scored question, a hatched row or cell with a note."""
    note: dict[str, Any] = {"ha": "center", "va": "center", "color": "0.35"}
    if row.gaps:
        ax.add_patch(Rectangle((0, line), 1, 1, facecolor="0.95", edgecolor="0.8", hatch="///", linewidth=0))
    if not row.points:
        ax.text(0.5, line + 0.5, EMPTY, fontsize="small", **note)
        return
    places = {x: place for place, x in enumerate(_places(row))}
    width = 1 / len(places)
    for gap in row.gaps:
        ax.text((places[gap] + 0.5) * width, line + 0.5, style.wrapped(EMPTY, 12), fontsize=style.LEAST_POINTS, **note)
    for point in row.points:
        place, colour = places[point.x or 0], HEAT(SCALE(100 * point.value))
        ax.add_patch(Rectangle((place * width, line), width, 1, facecolor=colour, edgecolor="white", linewidth=1))
        _write(ax, (place + 0.5) * width, line, point, ink_on(colour))


def _write(ax: Axes, x: float, line: int, point: Point, ink: str) -> None:
    """Write the numbers of a cell: accuracy, interval, position and n."""
    ax.text(x, line + 0.28, f"{100 * point.value:.0f}", ha="center", va="center", color=ink, fontsize=10)
    interval = "" if point.low is None or point.high is None else f"[{100 * point.low:.0f}, {100 * point.high:.0f}]"
    place = ordinal((point.x or 0) + 1)
    for height, text in ((0.58, interval), (0.81, f"{place}, n = {point.n:,}")):
        ax.text(x, line + height, text, ha="center", va="center", color=ink, fontsize=style.LEAST_POINTS)
