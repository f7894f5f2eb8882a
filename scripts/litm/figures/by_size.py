"""Accuracy by size, with the retriever's recall."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from litm.figures import style


def size_curve(
    accuracy: pd.DataFrame, recall: pd.DataFrame, figure: Mapping, published: pd.DataFrame | None = None
) -> Figure:
    """Accuracy (%) against the number of items, with 95 % intervals; a curve for each model, and one for each
    retriever's recall.

    accuracy: rows of `accuracy.accuracy_table`, or of `position_means`; recall: rows of `recall.recall_rows`, none
    where nothing was retrieved; published: rows like those of accuracy, drawn dashed for the models that are there.
    """
    shown = style.rows_of(accuracy, figure)
    cells = shown[shown["n"] > 0]
    colours = style.model_colours(accuracy["model"])
    others = style.published_rows(published, figure, colours)
    canvas = style.new_canvas(style.MINIMUM_INCHES, style.PANEL_INCHES[1] + 1.2)
    panel = canvas.subplots()
    style.draw_published(panel, others, "size", colours)
    _draw_curves(panel, cells, figure, colours)
    sizes = sorted(int(size) for size in cells["size"].unique())
    searches = _recall_curves(recall, sizes)
    linestyles = style.cycle(style.CURVE_STYLES[1:], searches)
    for linestyle, curve in zip(linestyles, searches.values(), strict=True):
        look = {"color": "0.3", "marker": "", "linestyle": linestyle}
        style.draw_intervals(panel, curve["k"], curve.rename(columns={"recall": "value"}), look)
    style.draw_references(panel, accuracy, figure, colours)
    style.name_absent(panel, shown)
    panel.set_xticks(sizes)
    panel.set_xlabel(figure["x_label"])
    panel.set_ylabel("Accuracy, recall (%)" if searches else "Accuracy (%)")
    style.fit_y_axis(panel, cells, style.reference_rows(accuracy, figure, colours), others, *searches.values())
    style.set_title(canvas, figure["title"])
    handles = style.curve_handles(figure, colours) + style.reference_handles(figure, set(accuracy["experiment"]))
    for linestyle, (name, curve) in zip(linestyles, searches.items(), strict=True):
        label = f"recall of {name} (n = {int(curve['n'].iloc[0]):,})"
        handles.append(Line2D([], [], color="0.3", linestyle=linestyle, label=label))
    style.add_legend(canvas, handles + style.published_handles(others), style.describe_n(cells))
    return canvas


def _draw_curves(panel: Axes, cells: pd.DataFrame, figure: Mapping, colours: Mapping) -> None:
    linestyles = style.cycle(style.CURVE_STYLES, figure["experiments"])
    for linestyle, experiment in zip(linestyles, figure["experiments"], strict=True):
        style.draw_models(panel, cells[cells["experiment"] == experiment], "size", colours, linestyle)


def _recall_curves(recall: pd.DataFrame, sizes: list[int]) -> dict[str, pd.DataFrame]:
    """The recall of each search within the range of the sizes, by a name that tells the searches apart."""
    if not sizes:
        return {}
    shown = recall[recall["k"].between(sizes[0], sizes[-1])]
    groups = {
        tuple(map(str, key)): curve.sort_values("k")
        for key, curve in shown.groupby(["retriever", "corpus", "questions"], sort=False)
    }
    once = len({retriever for retriever, _, _ in groups}) == len(groups)
    return {
        retriever if once else f"{retriever} in {corpus} for {questions}": curve
        for (retriever, corpus, questions), curve in groups.items()
    }
