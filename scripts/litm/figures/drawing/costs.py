"""Picture of accuracy against cost: one panel per model, with the frontier and the advised condition."""

import textwrap
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from litm.figures.drawing import style
from litm.figures.drawing.colours import COLOURS, MARKERS
from litm.figures.drawing.cost_axis import DOLLARS, as_cost_axis

PANEL_INCHES, SINGLE_INCHES = (5.6, 4.2), 8.0
#: Points: shift between two conditions, and of all together at most; orders of the same documents cost the same.
STEP, SPREAD = 4.0, 14.0
FRONTIER: dict[str, Any] = {"color": "0.15", "linewidth": 1.3, "linestyle": (0, (4, 2))}
ADVISED: dict[str, Any] = {
    "marker": "o", "markersize": 15, "markerfacecolor": "none", "markeredgecolor": "0.1", "markeredgewidth": 1.6,
    "linestyle": "none",
}  # fmt: skip
DOCUMENTS = "Documents (nobody counted the tokens)"
NOTHING = "No condition has answers that can be compared."


def draw_costs(figure: Mapping, advice: pd.DataFrame) -> Figure:
    """See `litm.figures.accuracy_by_cost`; advice: rows of advice.csv."""
    rows = _shown(figure, advice)
    models = list(dict.fromkeys(rows["model"]))
    if not models:
        return style.empty_canvas(figure["title"], NOTHING)
    canvas = style.new_canvas(max(SINGLE_INCHES, PANEL_INCHES[0] * len(models) + 0.4), PANEL_INCHES[1] + 1.6)
    axes = canvas.subplots(1, len(models), sharey=True, squeeze=False)[0]
    experiments = list(dict.fromkeys(rows["experiment"]))
    for ax, model in zip(axes, models, strict=True):
        own = rows[rows["model"] == model]
        unit = _unit(own)
        _draw_panel(ax, own, unit, experiments)
        ax.set_title(model)
        ax.set_xlabel({"tokens": figure["x_label"], "dollars": DOLLARS, "size": DOCUMENTS}[unit])
    axes[0].set_ylabel("Accuracy (%)")
    low, high = 100 * rows["accuracy_ci_low"].min(), 100 * rows["accuracy_ci_high"].max()
    axes[0].set_ylim(max(-2.0, low - 3), min(102.0, high + 3))
    style.set_title(canvas, figure["title"])
    style.add_legend(canvas, _handles(rows, experiments), _note(rows, canvas.get_figwidth()))
    return canvas


def _shown(figure: Mapping, advice: pd.DataFrame) -> pd.DataFrame:
    shown = advice["experiment"].isin(list(figure["experiments"])) & (advice["n"] > 0)
    if figure.get("models"):
        shown &= advice["model"].isin(list(figure["models"]))
    return advice[shown]


def _unit(rows: pd.DataFrame) -> str:
    """The unit of the axis: money if it is known, else tokens, else documents."""
    known = (unit for unit in ("dollars", "tokens") if rows[unit].notna().all() and (rows[unit] > 0).all())
    return next(known, "size")


def _draw_panel(ax: Axes, rows: pd.DataFrame, unit: str, experiments: list[str]) -> None:
    """Draw the curves of all conditions, slightly shifted, and the marks."""
    step, centre = min(STEP, SPREAD / max(1, len(experiments))), (len(experiments) - 1) / 2
    for place, experiment in enumerate(experiments):
        curve = rows[rows["experiment"] == experiment].sort_values("size")
        if not len(curve):
            continue
        values = 100 * curve["accuracy"].astype(float)
        below = values - 100 * curve["accuracy_ci_low"].astype(float)
        above = 100 * curve["accuracy_ci_high"].astype(float) - values
        drawn = ax.errorbar(
            curve[unit].astype(float), values, yerr=[below.clip(lower=0), above.clip(lower=0)],
            color=COLOURS[place % len(COLOURS)], marker=_marker(place), markersize=4.5, linewidth=0.9, elinewidth=0.6,
            capsize=1.5,
        )  # fmt: skip
        for bars in drawn.lines[2]:
            bars.set_alpha(0.55)
        style.move_aside(ax, drawn.get_children(), (place - centre) * step)
    frontier = rows[rows["on_frontier"].astype(bool)].sort_values(unit)
    ax.plot(frontier[unit].astype(float), 100 * frontier["accuracy"].astype(float), zorder=1.6, **FRONTIER)
    _mark_advised(ax, rows, unit, experiments, step)
    as_cost_axis(ax)


def _mark_advised(ax: Axes, rows: pd.DataFrame, unit: str, experiments: list[str], step: float) -> None:
    for row in rows[rows["is_advised"].astype(bool)].to_dict("records"):
        marked = ax.plot([float(row[unit])], [100 * float(row["accuracy"])], zorder=4, **ADVISED)
        shift = (experiments.index(row["experiment"]) - (len(experiments) - 1) / 2) * step
        style.move_aside(ax, marked, shift)


def _marker(place: int) -> str:
    """The marker of a condition: it changes when the colours repeat."""
    return MARKERS[place // len(COLOURS) % len(MARKERS)]


def _handles(rows: pd.DataFrame, experiments: list[str]) -> list[Artist]:
    handles: list[Artist] = [
        Line2D([], [], color=COLOURS[place % len(COLOURS)], marker=_marker(place), label=_label(rows, experiment))
        for place, experiment in enumerate(experiments)
    ]
    handles.append(Line2D([], [], label="frontier: no other is better for less", **FRONTIER))
    if rows["is_advised"].astype(bool).any():
        handles.append(Line2D([], [], label="advised", **{**ADVISED, "markersize": 10}))
    return handles


def _label(rows: pd.DataFrame, experiment: str) -> str:
    """The condition in words, without its number of documents."""
    own = rows[rows["experiment"] == experiment].sort_values("size")
    _, _, words = str(own["condition"].iloc[-1]).partition(", ")
    return words or "best first"


def _note(rows: pd.DataFrame, width: float) -> str:
    counts = sorted({int(n) for n in rows["n"]})
    n = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    documents = ", ".join(f"{number:,}" for number in sorted({int(one) for one in rows["size"]}))
    told = (
        f"n = {n}, the same questions under all conditions; bars are 95 % intervals, each by itself; a point for each "
        f"number of documents ({documents}), set a little apart"
    )
    return textwrap.fill(told, int(width * style.TITLE_CHARACTERS_AN_INCH * 1.3))
