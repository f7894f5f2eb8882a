"""Accuracy averaged over the positions of the gold item, by size."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from litm.figures import Experiment
from litm.figures.drawing.chart import chart_by_size
from litm.figures.drawing.rows import Rows, shown_cells

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

X_LABEL = "Number of {item}s in the context"
#: Includes scores, because the interval of a mean needs each question's answers at every position.
INPUTS = ("accuracy", "scores", "token_counts")
BY_SIZE = ("_by_size", ", mean of the positions")


def misfit(experiments: Sequence[Experiment]) -> str | None:
    """All experiments must have positions, one gold item at a time."""
    for experiment in experiments:
        if not experiment.curves or experiment.asks_several:
            return (
                f"{experiment.name} has no positions, a figure of 'kind: mean_accuracy_by_size' is of experiments that "
                "have"
            )
    return None


def is_automatic(experiment: Experiment) -> bool:
    """False: only for figures named in a config."""
    return False


def draw(figure: Mapping, rows: Rows) -> "Figure":
    """Mean accuracy (%) against the number of items, with 95 % intervals over the questions; one curve per model.

    Without score rows, as for published values, intervals are the widest that the cells' intervals allow.
    """
    from litm.analysis.grid import means_of_cells
    from litm.figures.drawing.curves import draw_curves

    means = _means(figure, rows)
    published = None if rows.published is None else means_of_cells(shown_cells(figure, rows.published))
    return draw_curves(chart_by_size(figure, means, rows.accuracy, published, token_counts=rows.token_counts))


def _means(figure: Mapping, rows: Rows) -> "pd.DataFrame":
    import pandas as pd

    from litm.analysis.grid import means_of_cells, position_means

    sweeps = (sweep[sweep["experiment"].isin(list(figure["experiments"]))] for sweep in rows.scores)
    means = [position_means(sweep) for sweep in sweeps if len(sweep)]
    return shown_cells(figure, pd.concat(means) if means else means_of_cells(shown_cells(figure, rows.accuracy)))


def chart(figure: Mapping, rows: Rows) -> None:
    """None: the accuracy table lacks the interval of a mean over the same questions."""
