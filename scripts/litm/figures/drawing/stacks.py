"""Picture of wrong answers by kind: stacked bars."""

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from litm.base.formatting import ordinal
from litm.domain.wrong_kinds import CODE, CUT, EMPTY, HEADINGS, INVENTED, LEFT_OUT, OTHER, OTHER_ITEM, REFUSAL
from litm.figures.drawing import style
from litm.figures.drawing.chart import panel_title
from litm.figures.drawing.page import room_of

#: Colours by kind, from the bottom of a bar, of similar lightness; the least informative kinds are grey, at the top.
COLOURS = {
    OTHER_ITEM: "#0173b2",
    INVENTED: "#56b4e9",
    LEFT_OUT: "#018a63",
    CODE: "#b04fa0",
    REFUSAL: "#d55e00",
    CUT: "#e0a100",
    EMPTY: "#3a3a3a",
    OTHER: "#b8bec6",
}
PANEL_INCHES, WIDEST = (3.1, 2.6), 11.0
#: Characters of a line under a panel.
LABEL_WIDTH = 34
Y_LABEL = "Wrong answers (% of all)"


@dataclass(frozen=True)
class _Panel:
    title: str
    model: str
    rows: pd.DataFrame


def draw_stacks(figure: Mapping, table: pd.DataFrame) -> Figure:
    """One panel per size and model, with the models of a size side by side; a bar's height is the share of wrong
    answers.

    table: rows of wrong_answers.csv. Without wrong answers the figure has a sentence instead.
    """
    panels = list(_panels(figure, table))
    room = room_of(figure)
    models = max(1, len({panel.model for panel in panels}))
    columns = min(models if models > 1 else len(panels), int(((room or WIDEST + 0.4) - 0.4) / PANEL_INCHES[0])) or 1
    lines = ceil(len(panels) / columns)
    width = max(room or style.MINIMUM_INCHES, columns * PANEL_INCHES[0] + 0.4)
    canvas = style.new_canvas(width, max(1, lines) * PANEL_INCHES[1] + 1.2)
    style.set_title(canvas, figure["title"])
    kinds = [kind for kind in COLOURS if panels and any((panel.rows[kind] > 0).any() for panel in panels)]
    if not kinds:
        canvas.text(0.5, 0.5, "No answer is wrong.", ha="center", va="center", color="0.35")
        return canvas
    axes = canvas.subplots(lines, columns, sharey=True, squeeze=False)
    for index, ax in enumerate(axes.flatten()):
        if index >= len(panels):
            ax.remove()
            continue
        _draw_panel(ax, panels[index], kinds)
        if index % columns == 0:
            ax.set_ylabel(Y_LABEL)
        if index + columns >= len(panels):
            ax.set_xlabel(textwrap.fill(figure["x_label"], LABEL_WIDTH))
    highest = max(100 * float((panel.rows["n_wrong"] / panel.rows["n"]).max()) for panel in panels)
    axes[0, 0].set_ylim(0, min(100, max(10.0, highest * 1.05)))
    handles = [Patch(color=COLOURS[kind], label=HEADINGS[kind]) for kind in kinds]
    style.add_legend(canvas, handles, _n_of(panels))
    return canvas


def _panels(figure: Mapping, table: pd.DataFrame) -> Iterator[_Panel]:
    """Panels by size and, if prompts ask for several items, by placement; models are in their order."""
    shown = table[table["experiment"].isin(list(figure["experiments"])) & table["position"].notna()]
    for key, column in (("models", "model"), ("sizes", "size")):
        if figure.get(key):
            shown = shown[shown[column].isin(list(figure[key]))]
    models = list(dict.fromkeys(shown["model"]))
    several = shown["target"].nunique() > 1
    for size, of_size in shown.groupby("size"):
        for where, group in _placements(of_size) if several else [("", of_size)]:
            for model in models:
                of_model = group[group["model"] == model].sort_values("position", kind="stable")
                if len(of_model):
                    title = "\n".join([panel_title(figure, size) + where, *textwrap.wrap(model, LABEL_WIDTH)])
                    yield _Panel(title, model, of_model)


def _placements(of_size: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Placements of prompts that ask for several items, each with its positions in words."""
    for placement in dict.fromkeys(of_size["placement"]):
        group = of_size[of_size["placement"] == placement]
        yield ", " + ", ".join(ordinal(position + 1) for position in sorted({*group["position"]})), group


def _draw_panel(ax: Axes, panel: _Panel, kinds: list[str]) -> None:
    rows = panel.rows
    places = range(len(rows))
    below = pd.Series(0.0, index=rows.index)
    for kind in kinds:
        heights = 100 * rows[kind].fillna(0).astype(float) * rows["n_wrong"] / rows["n"]
        ax.bar(places, heights, 0.8, bottom=below, color=COLOURS[kind], linewidth=0)
        below = below + heights
    ax.set_xticks(list(places), [ordinal(int(position) + 1) for position in rows["position"]])
    ax.tick_params(axis="x", labelsize=7 if len(rows) > 7 else 8.5, rotation=45 if len(rows) > 7 else 0)
    ax.grid(visible=False, axis="x")
    ax.set_title(panel.title, fontsize=9.5)


def _n_of(panels: list[_Panel]) -> str:
    counts = [int(n) for panel in panels for n in panel.rows["n"]]
    n = f"n = {min(counts):,}" if min(counts) == max(counts) else f"n = {min(counts):,} to {max(counts):,}"
    return f"{n} answers a bar; kinds: results/README.md, wrong_answers.csv"
