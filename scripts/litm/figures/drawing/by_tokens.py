"""Accuracy against tokens or dollars as a picture."""

from collections.abc import Iterator, Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from litm.analysis.grid import MEAN_COLUMNS as COLUMNS
from litm.analysis.grid import position_means
from litm.figures.drawing import style
from litm.figures.drawing.cost_axis import DOLLARS, as_cost_axis
from litm.figures.drawing.rows import Rows, scored, shown_cells

INCHES = (6.4, 4.6)
POINTS_ARE = "means over the positions; numbers next to points: items in the context"
#: Points of accuracy on the vertical axis at least.
LEAST_POINTS = 20
NOTHING = "No model has answers whose tokens are known."


def draw_by_tokens(figure: Mapping, rows: Rows) -> Figure:
    """See `litm.figures.accuracy_by_tokens`."""
    table = costs_of_sizes(figure, rows)
    points = table[table["tokens"].notna()]
    models = list(dict.fromkeys(points["model"]))
    if not models:
        return style.empty_canvas(figure["title"], NOTHING)
    canvas = style.new_canvas(*INCHES)
    style.set_title(canvas, figure["title"])
    in_dollars = bool((points["dollars"].astype(float) > 0).all())
    ax, looks = canvas.subplots(), style.model_looks(models, figure.get("places") or {})
    for (model, experiment), curve in points.groupby(["model", "experiment"], sort=False):
        dash = style.CURVE_STYLES[list(figure["experiments"]).index(experiment) % len(style.CURVE_STYLES)]
        _draw_curve(ax, curve.sort_values("size"), "dollars" if in_dollars else "tokens", looks[str(model)], dash)
    as_cost_axis(ax)
    low, high = 100 * float(points["ci_low"].min()), 100 * float(points["ci_high"].max())
    spare = max(5.0, (LEAST_POINTS - (high - low)) / 2)
    ax.set_ylim(max(-2.0, low - spare), min(104.0, high + spare))
    ax.set_xlabel(DOLLARS if in_dollars else figure["x_label"])
    ax.set_ylabel("Accuracy (%)")
    style.add_legend(canvas, _handles(figure, points, looks), _n_of(points))
    style.add_note(canvas, filter(None, [POINTS_ARE, style.describe_axis(ax)]))
    unknown = [model for model in dict.fromkeys(table["model"]) if model not in models]
    style.add_note(canvas, [f"tokens not known: {', '.join(unknown)}"] if unknown else [])
    return canvas


def costs_of_sizes(figure: Mapping, rows: Rows) -> pd.DataFrame:
    """A row for each model, experiment and size with a scored question: `COLUMNS` of the means over the positions,
    `tokens` (mean of prompt and answer, missing where not recorded) and `dollars` (of 1,000 questions, missing without
    prices).
    """
    found = list(_of_sweeps(figure, rows))
    return pd.concat(found) if found else pd.DataFrame(columns=[*COLUMNS, "tokens", "dollars"])


def _of_sweeps(figure: Mapping, rows: Rows) -> Iterator[pd.DataFrame]:
    prices = figure.get("prices") or {}
    for sweep in rows.scores:
        counted = sweep[sweep["correct"].notna() & ~sweep["excluded"].astype(bool)]
        if counted.empty or counted["experiment"].iloc[0] not in figure["experiments"]:
            continue
        model, experiment = counted["model"].iloc[0], counted["experiment"].iloc[0]
        means = position_means(sweep)
        if means.empty:
            own = (rows.accuracy["model"] == model) & (rows.accuracy["experiment"] == experiment)
            means = rows.accuracy.loc[own, COLUMNS]
        by_size = counted.groupby("size")
        prompt, answer = (by_size[name].mean().astype("Float64") for name in ("prompt_tokens", "response_tokens"))
        price = prices.get(model) or dict.fromkeys(("input", "output"), float("nan"))
        # Prices are for a million tokens.
        dollars = (price["input"] * prompt + price["output"] * answer) / 1000
        means = scored(means).set_index("size", drop=False).assign(tokens=prompt + answer, dollars=dollars)
        yield shown_cells(figure, means.reset_index(drop=True))


def _draw_curve(ax: Axes, curve: pd.DataFrame, unit: str, look: style.Look, dash: object) -> None:
    values = 100 * curve["accuracy"].astype(float)
    below = (values - 100 * curve["ci_low"].astype(float)).clip(lower=0)
    above = (100 * curve["ci_high"].astype(float) - values).clip(lower=0)
    xs = curve[unit].astype(float)
    drawn = ax.errorbar(
        xs, values, yerr=[below, above], color=look.colour, marker=look.marker, linestyle=dash, markersize=5, capsize=3,
        elinewidth=1,
    )  # fmt: skip
    style.move_aside(ax, drawn.get_children(), look.shift)
    for x, value, size in zip(xs, values, curve["size"], strict=True):
        ax.annotate(
            f"{size:,}",
            (x, value),
            (5 + look.shift, 5),
            textcoords="offset points",
            color=look.colour,
            fontsize="small",
        )


def _handles(figure: Mapping, points: pd.DataFrame, looks: Mapping[str, style.Look]) -> list[Line2D]:
    models = [
        Line2D([], [], color=look.colour, marker=look.marker, linestyle="-", label=model)
        for model, look in looks.items()
    ]
    shown = [name for name in figure["experiments"] if name in set(points["experiment"])]
    if len(shown) < 2:
        return models
    dashes = style.CURVE_STYLES
    places = {name: place for place, name in enumerate(figure["experiments"])}
    return models + [
        Line2D([], [], color="0.3", linestyle=dashes[places[name] % len(dashes)], label=name) for name in shown
    ]


def _n_of(points: pd.DataFrame) -> str:
    low, high = int(points["n"].min()), int(points["n"].max())
    n = f"n = {low:,}" if low == high else f"n = {low:,} to {high:,}"
    return f"{n} questions a point; bars are 95 % intervals"
