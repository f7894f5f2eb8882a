"""Accuracy of several gold items in one prompt: bars by target, one panel per size and placement."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from litm.base.messages import ordinal
from litm.figures import Experiment
from litm.figures.drawing.chart import MARKS, Chart, Panel, Series, make_chart, panel_title, points_of, references
from litm.figures.drawing.rows import Rows, absent_models, models_in, scored, shown_cells

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

X_LABEL = "Item asked for, and its position"
INPUTS = ("accuracy", "token_counts")
BY_SIZE = None


def misfit(experiments: Sequence[Experiment]) -> str | None:
    """All experiments must ask for several items at once."""
    for experiment in experiments:
        if not is_automatic(experiment):
            return (
                f"{experiment.name} asks for one item at a time, a figure of 'kind: accuracy_by_target' is of those "
                "with several"
            )
    return None


def is_automatic(experiment: Experiment) -> bool:
    """Experiments with several gold items in a prompt."""
    return bool(experiment.curves) and experiment.asks_several


def draw(figure: Mapping, rows: Rows) -> "Figure":
    """Accuracy (%) of each gold item of prompts that have several, with 95 % intervals; one bar per model.

    A panel names the models without a scored question.
    """
    from litm.figures.drawing.bars import draw_bars

    return draw_bars(chart(figure, rows))


def chart(figure: Mapping, rows: Rows) -> Chart:
    """One panel per experiment, size and placement, with the targets in the order of their positions."""
    cells = shown_cells(figure, rows.accuracy)
    cells = cells[cells["position"].notna()]
    models = models_in(cells)
    return make_chart(
        figure, _panels(figure, cells, rows.token_counts), models, references(figure, rows.accuracy, models)
    )


def _panels(figure: Mapping, cells: "pd.DataFrame", token_counts: "pd.DataFrame | None") -> Iterator[Panel]:
    """Panels with titles of experiment, size and positions."""
    for experiment in figure["experiments"]:
        for size, of_size in cells[cells["experiment"] == experiment].groupby("size"):
            placements = {
                tuple(sorted({int(position) for position in group["position"]})): group
                for _, group in of_size.groupby("placement")
            }
            for positions, group in sorted(placements.items(), key=lambda item: item[0]):
                lines = [experiment] if len(figure["experiments"]) > 1 else []
                lines.append(panel_title(figure, size, token_counts))
                if len(placements) > 1:
                    lines.append(", ".join(ordinal(position + 1) for position in positions))
                yield _panel("\n".join(lines), group)


def _panel(title: str, cells: "pd.DataFrame") -> Panel:
    targets = cells.sort_values("position", kind="stable").drop_duplicates("target")
    places = {name: place for place, name in enumerate(targets["target"])}
    ticks = enumerate(zip(targets["target"], targets["position"], strict=True))
    marks = scored(cells.assign(place=cells["target"].map(places))).groupby("model", sort=False)
    return Panel(
        title,
        tuple((place, f"{name}\n{ordinal(int(position) + 1)}") for place, (name, position) in ticks),
        tuple(Series(MARKS, str(model), "", 0, points_of(of_model, "place")) for model, of_model in marks),
        absent_models(cells),
    )
