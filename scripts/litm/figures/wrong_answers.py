"""What the wrong answers at each position are: stacked bars of all answers, a panel for each size and model."""

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
    """One experiment: its sizes and models are the panels."""
    return None if len(experiments) == 1 else "a figure of 'kind: wrong_answers' is of one experiment"


def is_automatic(experiment: Experiment) -> bool:
    """Each experiment with positions gets one next to the figure of its accuracy."""
    return False


def draw(figure: Mapping, rows: Rows) -> "Figure":
    """Wrong answers in per cent of all answers, by kind, at each position."""
    from litm.figures.drawing.stacks import draw_stacks

    return draw_stacks(figure, rows.wrong_answers)


def chart(figure: Mapping, rows: Rows) -> None:
    """The report shows the picture: its charts are of the accuracy table."""
