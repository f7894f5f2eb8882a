"""Kinds of wrong answers at each position: stacked bars, one panel per size and model."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from litm.figures import Experiment
from litm.figures.drawing.rows import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

X_LABEL = "Position of the item asked for"
INPUTS = ("wrong_answers",)
BY_SIZE = None


def misfit(experiments: Sequence[Experiment]) -> str | None:
    """There must be one experiment; its sizes and models are the panels."""
    return None if len(experiments) == 1 else "a figure of 'kind: wrong_answers' is of one experiment"


def is_automatic(experiment: Experiment) -> bool:
    """False: the config adds one per experiment with positions."""
    return False


def draw(figure: Mapping, rows: Rows) -> "Figure":
    """Wrong answers in per cent of all answers, by kind, at each position."""
    from litm.figures.drawing.stacks import draw_stacks

    return draw_stacks(figure, rows.wrong_answers)


def chart(figure: Mapping, rows: Rows) -> None:
    """None: the report shows the picture, as its charts need only the accuracy table."""
