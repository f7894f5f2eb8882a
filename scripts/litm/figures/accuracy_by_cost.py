"""Accuracy of the conditions of an experiment with remedies against what a question costs, with the frontier."""

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
    """The config gives each experiment with remedies one, of all its conditions."""
    return False


def draw(figure: Mapping, rows: Rows) -> "Figure":
    """Accuracy (%) with 95 % intervals against tokens, or money where prices are known, on a logarithmic axis: a panel
    for each model, a curve over the numbers of documents for each condition, and the frontier.
    """
    from litm.figures.drawing.costs import draw_costs

    return draw_costs(figure, rows.advice)


def chart(figure: Mapping, rows: Rows) -> None:
    """The report shows the picture: its charts are of the accuracy table."""
