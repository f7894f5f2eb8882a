"""Accuracy of the conditions of an experiment with remedies against the cost of a question, with the frontier."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from litm.figures import Experiment
from litm.figures.drawing.rows import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

X_LABEL = "Tokens of a question, prompt and answer"
INPUTS = ("advice",)
BY_SIZE = None


def misfit(experiments: Sequence[Experiment]) -> str | None:
    """All experiments must be without positions."""
    for experiment in experiments:
        if experiment.curves:
            return f"{experiment.name} has positions, a figure of 'kind: accuracy_by_cost' is of conditions of remedies"
    return None


def is_automatic(experiment: Experiment) -> bool:
    """False: the config adds one figure per experiment with remedies."""
    return False


def draw(figure: Mapping, rows: Rows) -> "Figure":
    """Accuracy (%) with 95 % intervals against tokens, or money if prices are known, on a logarithmic axis: one panel
    per model, one curve over the numbers of documents per condition, and the frontier.
    """
    from litm.figures.drawing.costs import draw_costs

    return draw_costs(figure, rows.advice)


def chart(figure: Mapping, rows: Rows) -> None:
    """None: the report shows the picture, as its charts need only the accuracy table."""
