"""Figures of accuracy against cost: of an experiment's sizes, and of the conditions of remedies with their frontier."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import nan
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, StrMethodFormatter

from litm.analysis.grid import MEAN_COLUMNS, position_means
from litm.base.messages import in_range
from litm.base.table_files import plain_rows
from litm.examples.orders import remedies_in_words
from litm.figures import multiples, style
from litm.figures.chart import Rows, measure_label, models_in, points_of, scored, shown_cells
from litm.figures.kinds import room_of
from litm.figures.looks import Dodge, Look, look_at, model_looks
from litm.figures.style import CURVE_STYLES
from litm.records.bills import Prices
from litm.records.conditions import REMEDIES, Condition

#: Inches of the figure of sizes; of a panel of conditions, and the width of one alone.
INCHES, PANEL_INCHES, SINGLE_INCHES = (6.4, 4.6), (5.6, 4.2), 8.0
#: Inches: height of a panel of a single model.
MODEL_INCHES = 1.6
#: Points of accuracy on the vertical axis of sizes at least.
LEAST_RANGE = 20
#: Points: room of the curves next to one another; orders of the same documents cost the same.
SPREAD = 40.0
FRONTIER: dict[str, Any] = {"color": "0.15", "linewidth": 1.3, "linestyle": (0, (4, 2))}
ADVISED: dict[str, Any] = {
    "marker": "o", "markersize": 15, "markerfacecolor": "none", "markeredgecolor": "0.1", "markeredgewidth": 1.6,
    "linestyle": "none",
}  # fmt: skip
#: Labels of axes in other units than tokens.
DOLLARS, DOCUMENTS = "US dollars for 1,000 questions", "Documents in the prompt"
POINTS_ARE = "means over the positions; numbers next to points: items in the context"
NOTHING = "No model has answers whose tokens are known."
NO_CONDITION = "No condition has answers that can be compared."


def draw_tokens(figure: Mapping, rows: Rows) -> Figure:
    """Accuracy (%), averaged over the positions, with 95 % intervals against the mean tokens of a question on a
    logarithmic axis, or against dollars if `prices` of the figure has those of all its models. A curve for each model
    and experiment, a point for each size.
    """
    table = costs_of_sizes(figure, rows)
    points = table[table["tokens"].notna()]
    models = models_in(points)
    if not models:
        return style.empty_canvas(figure["title"], NOTHING)
    in_dollars = bool((points["dollars"].astype(float) > 0).all())
    unit, looks = "dollars" if in_dollars else "tokens", model_looks(models, figure.get("places") or {})
    shown = [name for name in figure["experiments"] if name in set(points["experiment"])]
    dashes = {name: CURVE_STYLES[place % len(CURVE_STYLES)] for place, name in enumerate(shown)}
    several = len(models) > multiples.MOST_MODELS
    canvas, grid, axes = _panels_of_tokens(figure, models, several)
    for ax, model in zip(axes, models if several else [""], strict=True):
        _draw_tokens(ax, points, unit, looks, dashes, model)
    low, high = 100 * float(points["ci_low"].min()), 100 * float(points["ci_high"].max())
    spare = max(5.0, (LEAST_RANGE - (high - low)) / 2)
    axes[0].set_ylim(max(-2.0, low - spare), min(104.0, high + spare))
    x_label, y_label = DOLLARS if in_dollars else figure["x_label"], measure_label(figure)
    multiples.label(axes, grid, x_label, y_label)
    names = (
        [Line2D([], [], label="the other models", **style.BEHIND_LOOK)]
        if several
        else [
            style.line(look.colour, "-" if len(shown) > 1 else look.dash, model, look.marker)
            for model, look in looks.items()
        ]
    )
    names += [style.line("0.3", dashes[name], name) for name in shown if len(shown) > 1]
    style.add_legend(canvas, names, f"n = {in_range(points['n'])} questions a point; bars are 95 % intervals")
    style.add_note(canvas, filter(None, [POINTS_ARE, style.describe_axis(axes[0])]))
    unknown = [model for model in models_in(table) if model not in models]
    style.add_note(canvas, [f"tokens not known: {', '.join(unknown)}"] if unknown else [])
    return canvas


def _panels_of_tokens(
    figure: Mapping, models: Sequence[str], several: bool
) -> tuple[Figure, style.PanelGrid, list[Axes]]:
    """A figure with one panel, or with one for each of several models."""
    grid = multiples.grid_of(len(models), 1, room_of(figure)) if several else style.PanelGrid(1, 1, INCHES[0])
    height = MODEL_INCHES * grid.rows + 1.6 if several else INCHES[1]
    canvas = style.new_canvas(grid.width, height, figure["title"])
    axes = grid.axes(canvas)
    for index, (ax, model) in enumerate(zip(axes, models if several else (), strict=False)):
        name = style.wrapped(model, grid.panel_width / style.SMALL_CHARACTER_INCHES)
        ax.set_title(name, loc="left", fontsize=style.SMALL_POINTS, fontweight="bold", pad=4)
        ax.tick_params(labelsize=style.SMALL_POINTS, labelbottom=grid.is_lowest(index))
        multiples.quiet(ax)
    return canvas, grid, axes


def _draw_tokens(
    ax: Axes, points: pd.DataFrame, unit: str, looks: Mapping[str, Look], dashes: Mapping[str, Any], model: str
) -> None:
    """Draw the curves of a model, and those of the others in grey; for "", those of all models."""
    groups = points.groupby(["model", "experiment"], sort=False)
    curves = [((str(name), str(experiment)), rows) for (name, experiment), rows in groups]
    front = [key for key, _ in curves if model in ("", key[0])]
    dodge = Dodge.within(len(front), SPREAD)
    for key, rows in curves:
        curve, look = rows.sort_values("size"), looks[key[0]]
        xs, drawn = curve[unit].astype(float), points_of(curve, None)
        if key not in front:
            ax.plot(xs, [100 * point.value for point in drawn], zorder=1.2, **style.BEHIND_LOOK)
            continue
        shift, dash = dodge.shift(front.index(key)), dashes[key[1]] if len(dashes) > 1 else look.dash
        style.draw_points(ax, xs, drawn, look, shift, linestyle=dash, markersize=dodge.mark, capsize=dodge.cap)
        text_options: dict[str, Any] = {"textcoords": "offset points", "color": look.colour, "fontsize": "small"}
        for x, point, size in zip(xs, drawn, curve["size"], strict=True):
            ax.annotate(f"{size:,}", (x, 100 * point.value), (5 + shift, 5), **text_options)
    _as_cost_axis(ax)


def costs_of_sizes(figure: Mapping, rows: Rows) -> pd.DataFrame:
    """A row for each model, experiment and size with a scored question: `MEAN_COLUMNS` of the means over the positions,
    `tokens` (mean of prompt and answer, missing where not recorded) and `dollars` (of 1,000 questions, missing without
    prices).
    """
    sweep_costs = list(_of_sweeps(figure, rows))
    return pd.concat(sweep_costs) if sweep_costs else pd.DataFrame(columns=[*MEAN_COLUMNS, "tokens", "dollars"])


def _of_sweeps(figure: Mapping, rows: Rows) -> Iterator[pd.DataFrame]:
    prices = figure.get("prices") or {}
    for sweep in rows.scores:
        counted = sweep[sweep["correct"].notna() & ~sweep["excluded"].astype(bool)]
        if counted.empty or counted["experiment"].iloc[0] not in figure["experiments"]:
            continue
        model, experiment = counted["model"].iloc[0], counted["experiment"].iloc[0]
        means = position_means(sweep)
        in_sweep = rows.accuracy[(rows.accuracy["model"] == model) & (rows.accuracy["experiment"] == experiment)]
        if means.empty:
            means = in_sweep[MEAN_COLUMNS]
        elif "doubt" in in_sweep:
            means = means[~means["size"].isin(in_sweep.loc[in_sweep["doubt"].notna(), "size"])]
        by_size = counted.groupby("size")
        prompt, answer = (by_size[name].mean().astype("Float64") for name in ("prompt_tokens", "response_tokens"))
        each = Prices.from_entry(prices.get(model) or {"input": nan, "output": nan}).of_rows(counted)
        dollars = 1000 * each.groupby(counted["size"]).mean().astype("Float64")
        means = scored(means).set_index("size", drop=False).assign(tokens=prompt + answer, dollars=dollars)
        yield shown_cells(figure, means.reset_index(drop=True))


def _as_cost_axis(ax: Axes, sizes: Collection[int] = ()) -> None:
    """Make the horizontal axis logarithmic, with plain numbers at 1, 2 and 5 times each power of ten, or at the sizes
    if it is of sizes.
    """
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(sorted(sizes)) if sizes else LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.margins(x=0.08)


def draw_conditions(figure: Mapping, rows: Rows) -> Figure:
    """Accuracy (%) with 95 % intervals against tokens, or money if prices are known, on a logarithmic axis: one panel
    per model, one curve over the numbers of documents per condition, with the frontier and the advised condition.
    """
    # Advice is on all sizes.
    shown = shown_cells({**figure, "sizes": None}, scored(rows.advice))
    models = models_in(shown)
    looks = {name: look_at(place) for place, name in enumerate(dict.fromkeys(shown["experiment"]))}
    if not models:
        return style.empty_canvas(figure["title"], NO_CONDITION)
    grid = _grid(len(models), room_of(figure))
    canvas = style.new_canvas(grid.width, PANEL_INCHES[1] * grid.rows + 1.6, figure["title"])
    axes, characters = grid.axes(canvas), grid.panel_width / style.CHARACTER_INCHES
    for ax, model in zip(axes, models, strict=True):
        shown_of_model = shown[shown["model"] == model]
        unit = _unit(shown_of_model)
        _draw_conditions(ax, shown_of_model, unit, looks)
        ax.set_title(style.wrapped(model, characters))
        x_label = {"tokens": figure["x_label"], "dollars": DOLLARS, "size": DOCUMENTS}[unit]
        ax.set_xlabel(style.wrapped(x_label, characters))
    for ax in axes[:: grid.columns]:
        ax.set_ylabel(measure_label(figure))
    low, high = 100 * shown["accuracy_ci_low"].min(), 100 * shown["accuracy_ci_high"].max()
    axes[0].set_ylim(max(-2.0, low - 3), min(102.0, high + 3))
    style.add_legend(canvas, _condition_handles(shown, looks), _note(shown, grid.width))
    style.add_note(canvas, [style.describe_axis(axes[0])])
    return canvas


def _grid(panels: int, room: float | None) -> style.PanelGrid:
    """Rows of panels as wide as in other figures if the width is given, else of two wide ones."""
    if room is not None:
        return style.panel_grid(panels, room)
    columns = min(2, panels)
    width = max(SINGLE_INCHES, PANEL_INCHES[0] * columns + style.AXIS_INCHES)
    return style.PanelGrid(panels, columns, width, PANEL_INCHES[0])


def _unit(rows: pd.DataFrame) -> str:
    """The unit of the axis: money if it is known, else tokens, else documents."""
    complete = (unit for unit in ("dollars", "tokens") if rows[unit].notna().all() and (rows[unit] > 0).all())
    return next(complete, "size")


def _draw_conditions(ax: Axes, rows: pd.DataFrame, unit: str, looks: Mapping[str, Look]) -> None:
    """Draw the curves of all conditions, slightly shifted, the frontier, and marks of the advised conditions."""
    dodge, places = Dodge.within(len(looks), SPREAD), {name: place for place, name in enumerate(looks)}
    for experiment, look in looks.items():
        curve = rows[rows["experiment"] == experiment].sort_values("size")
        if not len(curve):
            continue
        drawn = style.draw_points(
            ax, curve[unit].astype(float), points_of(curve, None), look, dodge.shift(places[experiment]),
            linestyle=look.dash, markersize=min(4.5, dodge.mark), linewidth=0.9, elinewidth=0.6,
            capsize=min(1.5, dodge.cap),
        )  # fmt: skip
        for bars in drawn.lines[2]:
            bars.set_alpha(0.55)
    frontier = rows[rows["on_frontier"].astype(bool)].sort_values(unit)
    ax.plot(frontier[unit].astype(float), 100 * frontier["accuracy"].astype(float), zorder=1.6, **FRONTIER)
    for row in rows[rows["is_advised"].astype(bool)].to_dict("records"):
        marked = ax.plot([float(row[unit])], [100 * float(row["accuracy"])], zorder=4, **ADVISED)
        style.move_aside(ax, marked, dodge.shift(places[row["experiment"]]))
    _as_cost_axis(ax, set(rows["size"]) if unit == "size" else ())


def _condition_handles(rows: pd.DataFrame, looks: Mapping[str, Look]) -> list[Artist]:
    handles: list[Artist] = [
        style.line(look.colour, look.dash, _label(rows, name), look.marker) for name, look in looks.items()
    ]
    # Conditions of one accuracy are a point there, not a line.
    if rows[rows["on_frontier"].astype(bool)].groupby("model")["accuracy"].nunique().max() > 1:
        handles.append(Line2D([], [], label="frontier: no other is better for less", **FRONTIER))
    if rows["is_advised"].astype(bool).any():
        handles.append(Line2D([], [], label="advised", **{**ADVISED, "markersize": 10}))
    return handles


def _label(rows: pd.DataFrame, experiment: str) -> str:
    """The condition in words, without its number of documents."""
    largest = plain_rows(rows[rows["experiment"] == experiment].sort_values("size"))[-1]
    treatment = {key: largest[key] for key in REMEDIES}
    words = remedies_in_words(Condition(largest["remedies_of"], experiment, **treatment), largest["size"])
    return ", ".join(words) or "best first"


def _note(rows: pd.DataFrame, width: float) -> str:
    documents = ", ".join(f"{number:,}" for number in sorted(set(rows["size"])))
    note = (
        f"n = {in_range(rows['n'])}, the same questions under all conditions; bars are 95 % intervals, each "
        f"by itself; a point for each number of documents ({documents}), set a little apart"
    )
    return style.wrapped(note, width * style.TITLE_CHARACTERS_AN_INCH * 1.3)
