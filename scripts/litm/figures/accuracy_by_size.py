"""Accuracy by size with the retrievers' recall, for experiments whose contexts are as retrieved."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from litm.figures import Experiment
from litm.figures.drawing.chart import Chart, chart_by_size
from litm.figures.drawing.rows import Rows, shown_cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

X_LABEL = "Number of {item}s in the context"
INPUTS = ("accuracy", "recall", "token_counts")
BY_SIZE = None


def misfit(experiments: Sequence[Experiment]) -> str | None:
    """All experiments must be without positions."""
    for experiment in experiments:
        if experiment.curves:
            return f"{experiment.name} has positions, a figure of 'kind: accuracy_by_size' is of experiments without"
    return None


def is_automatic(experiment: Experiment) -> bool:
    """Experiments without positions that have several sizes."""
    return not experiment.curves and len({cell.size for cell in experiment.cells}) > 1


def draw(figure: Mapping, rows: Rows) -> "Figure":
    """Accuracy (%) against the number of items, with 95 % intervals; one curve per model, and one per retriever with
    its recall at these sizes.
    """
    from litm.figures.drawing.curves import draw_curves

    return draw_curves(chart(figure, rows))


def chart(figure: Mapping, rows: Rows) -> Chart:
    """One panel."""
    cells = shown_cells(figure, rows.accuracy)
    return chart_by_size(figure, cells, rows.accuracy, rows.published, rows.recall, rows.token_counts)
