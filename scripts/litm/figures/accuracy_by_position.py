"""Accuracy by position: one panel per size, one curve per model, with reference lines."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from litm.base.messages import ordinal
from litm.figures import Experiment
from litm.figures.drawing.chart import Chart, Panel, curves, make_chart, panel_title, published_curves, references
from litm.figures.drawing.prompt_lengths import longer_than_trained
from litm.figures.drawing.rows import Rows, absent_models, mean_tokens, models_in, scored, shown_cells

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

X_LABEL = "Position of the {item} with the answer"
INPUTS = ("accuracy", "token_counts")
BY_SIZE = None


def misfit(experiments: Sequence[Experiment]) -> str | None:
    """One experiment with a curve is enough."""
    return None if any(map(is_automatic, experiments)) else "none of its experiments has positions to draw a curve over"


def is_automatic(experiment: Experiment) -> bool:
    """Experiments with positions, one gold item at a time."""
    return bool(experiment.curves) and not experiment.asks_several


def draw(figure: Mapping, rows: Rows) -> "Figure":
    """Accuracy (%) against the position of the gold item, with 95 % intervals; published values are dashed.

    A panel names the models without a scored question, and those whose prompts exceed their training length.
    """
    from litm.figures.drawing.curves import draw_curves

    return draw_curves(chart(figure, rows))


def chart(figure: Mapping, rows: Rows) -> Chart:
    """Panels in the order of their sizes."""
    cells = shown_cells(figure, rows.accuracy)
    cells = cells[cells["position"].notna() & (cells["size"] > 1)]
    models = models_in(cells)
    panels = [_panel(figure, size, of_size, models, rows) for size, of_size in cells.groupby("size")]
    return make_chart(figure, panels, models, references(figure, rows.accuracy, models))


def _panel(figure: Mapping, size: object, cells: "pd.DataFrame", models: Sequence[str], rows: Rows) -> Panel:
    positions = sorted({int(position) for position in scored(cells)["position"]})
    return Panel(
        panel_title(figure, size, rows.token_counts),
        tuple((position, ordinal(position + 1)) for position in positions),
        curves(figure, cells, "position") + published_curves(figure, rows.published, models, cells, "position"),
        absent_models(cells),
        longer_than_trained(mean_tokens(figure, rows.token_counts, size), figure.get("training_lengths") or {}),
    )
