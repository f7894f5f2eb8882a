"""Accuracy by size and position: one heatmap per model, one row per size, one cell per position."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from litm.base.messages import percent
from litm.figures import Experiment
from litm.figures.drawing.chart import MARKS, Chart, Panel, Series, make_chart, panel_title, points_of
from litm.figures.drawing.rows import Rows, models_in, scored, shown_cells

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

X_LABEL = "Position of the {item} with the answer, from start to end"
INPUTS = ("accuracy", "token_counts")
BY_SIZE = ("_heatmap", ", by size and position")
#: Depth (fraction): the largest difference of depths in a column that share one label.
SAME_DEPTH = 0.03


def misfit(experiments: Sequence[Experiment]) -> str | None:
    """All experiments must have positions, one gold item at a time."""
    for experiment in experiments:
        if not experiment.curves or experiment.asks_several:
            return (
                f"{experiment.name} has no positions, a figure of 'kind: accuracy_by_size_and_position' is of "
                "experiments that have"
            )
    return None


def is_automatic(experiment: Experiment) -> bool:
    """False: the heatmap is an addition to the curves."""
    return False


def draw(figure: Mapping, rows: Rows) -> "Figure":
    """Accuracy (%) as colour and number, with its 95 % interval, position and n in each cell."""
    from litm.figures.drawing.heatmap import draw_heatmap

    return draw_heatmap(heatmap(figure, rows))


def chart(figure: Mapping, rows: Rows) -> None:
    """None: the report shows the picture, as its charts have only curves."""


def heatmap(figure: Mapping, rows: Rows) -> Chart:
    """One panel per experiment and model, with one series per size, the smallest first.

    A size without a scored question has a series without points. The ticks of a panel, (column, depth), are those that
    all of its rows share.
    """
    cells = shown_cells(figure, rows.accuracy)
    cells = cells[cells["position"].notna() & (cells["size"] > 1)]
    models = models_in(cells)
    panels = [
        _panel(figure, experiment, model, own, rows.token_counts)
        for experiment in figure["experiments"]
        for model in models
        for own in [cells[(cells["experiment"] == experiment) & (cells["model"] == model)]]
        if len(own)
    ]
    return make_chart(figure, panels, models)


def _panel(
    figure: Mapping, experiment: str, model: str, cells: "pd.DataFrame", token_counts: "pd.DataFrame | None"
) -> Panel:
    of_model = {**figure, "experiments": [experiment], "models": [model]}
    series = tuple(
        Series(
            MARKS,
            model,
            panel_title(of_model, size, token_counts),
            0,
            points_of(scored(of_size).sort_values("position"), "position"),
        )
        for size, of_size in cells.groupby("size")
    )
    title = f"{experiment}: {model}" if len(figure["experiments"]) > 1 else model
    return Panel(title, _ticks(scored(cells)), series)


def _ticks(cells: "pd.DataFrame") -> tuple[tuple[int, str], ...]:
    """The depth of each column in per cent; () if the rows differ in their number of cells or in depths."""
    rows = [of_size.sort_values("position")["depth"].tolist() for _, of_size in cells.groupby("size")]
    if len({len(row) for row in rows}) != 1:
        return ()
    columns = list(zip(*rows, strict=True))
    if any(max(column) - min(column) > SAME_DEPTH for column in columns):
        return ()
    return tuple((place, f"{round(float(percent(sum(one) / len(one))))} %") for place, one in enumerate(columns))
