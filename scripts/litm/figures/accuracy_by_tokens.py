"""Accuracy against what a question costs: tokens of prompt and answer, or US dollars where all prices are known."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from litm.figures import Experiment
from litm.figures.drawing.rows import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

X_LABEL = "Tokens of a question, prompt and answer"
#: The scores have the tokens of each prompt and answer.
INPUTS = ("accuracy", "scores")
BY_SIZE = ("_by_tokens", ", against the cost of a question")


def misfit(experiments: Sequence[Experiment]) -> str | None:
    """No experiment may ask for several items at once."""
    for experiment in experiments:
        if experiment.asks_several:
            return (
                f"{experiment.name} asks for several items at once, a figure of 'kind: accuracy_by_tokens' is of "
                "experiments that ask for one"
            )
    return None


def is_automatic(experiment: Experiment) -> bool:
    """Only next to the curves, see `BY_SIZE`."""
    return False


def draw(figure: Mapping, rows: Rows) -> "Figure":
    """Accuracy (%), averaged over the positions, with 95 % intervals against the mean tokens of a question on a
    logarithmic axis, or against dollars if `prices` of the figure has those of all its models. A curve for each model
    and experiment, a point for each size.
    """
    from litm.figures.drawing.by_tokens import draw_by_tokens

    return draw_by_tokens(figure, rows)


def chart(figure: Mapping, rows: Rows) -> None:
    """The report shows the picture: the accuracy table has no tokens of answers."""
