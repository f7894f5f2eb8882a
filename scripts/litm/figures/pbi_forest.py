"""Forest plot of the Position Bias Index of every curve with its interval; always made."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from litm.figures import Experiment
from litm.figures.drawing.indexed_curves import indexed_curves
from litm.figures.drawing.page import room_of
from litm.figures.drawing.rows import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

X_LABEL = "Position Bias Index (percentage points): mean of start and end, minus middle"
INPUTS = ("position_bias",)
BY_SIZE = None


def misfit(experiments: Sequence[Experiment]) -> str:
    """A sentence: no figure of a config may have this kind."""
    return "a figure of 'kind: pbi_forest' is always made, of all curves; take this one out of the config"


def is_automatic(experiment: Experiment) -> bool:
    """False: one figure shows all experiments."""
    return False


def draw(figure: Mapping, rows: Rows) -> "Figure":
    """The index of every curve, in points, with its 95 % interval and its n; see `draw_forest`."""
    from litm.figures.drawing.forest import draw_forest

    return draw_forest(indexed_curves(rows.position_bias), X_LABEL, figure.get("places") or {}, room_of(figure))


def chart(figure: Mapping, rows: Rows) -> None:
    """None: the report has a section on the index."""
