"""Figures of curves over positions or sizes, in panels side by side: accuracies, their means, differences."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from litm.analysis.grid import means_of_cells, position_means
from litm.base.messages import ordinal
from litm.figures import style
from litm.figures.chart import (
    CURVE,
    Chart,
    Panel,
    Rows,
    Series,
    absent_models,
    chart_by_size,
    curves,
    longer_than_trained,
    make_chart,
    mean_tokens,
    models_in,
    panel_title,
    points_of,
    published_curves,
    references,
    scored,
    shown_cells,
)  # fmt: skip

#: Characters of all tick labels of a panel: with more they would touch, so they are slanted.
MOST_TICK_CHARACTERS = 30
#: Points on either side of 0 that the axis of differences always shows.
ALWAYS = 10.0
DIFFERENCE_LABEL = "Difference (points)"
NO_DIFFERENCES = "No model answered the same questions under both conditions."

Pair = tuple[str, str]


def draw_positions(figure: Mapping, rows: Rows) -> Figure:
    """Accuracy (%) against the position of the gold item, with 95 % intervals; published values are dashed.

    A panel names the models without a scored question, and those whose prompts exceed their training length.
    """
    return draw_curves(positions(figure, rows))


def positions(figure: Mapping, rows: Rows) -> Chart:
    """Panels in the order of their sizes."""
    cells = shown_cells(figure, rows.accuracy)
    cells = cells[cells["position"].notna() & (cells["size"] > 1)]
    models, trained = models_in(cells), figure.get("training_lengths") or {}
    panels = [
        Panel(
            panel_title(figure, size, rows.token_counts),
            _ticks(scored(own)["position"]),
            curves(figure, own, "position") + published_curves(figure, rows.published, models, own, "position"),
            absent_models(own),
            longer_than_trained(mean_tokens(figure, rows.token_counts, size), trained),
        )
        for size, own in cells.groupby("size")
    ]
    return make_chart(figure, panels, models, references(figure, rows.accuracy, models))


def _ticks(positions: pd.Series) -> tuple[tuple[int, str], ...]:
    return tuple((position, ordinal(position + 1)) for position in sorted({int(position) for position in positions}))


def draw_sizes(figure: Mapping, rows: Rows) -> Figure:
    """Accuracy (%) against the number of items, with 95 % intervals; one curve per model, and one per retriever with
    its recall at these sizes.
    """
    return draw_curves(sizes(figure, rows))


def sizes(figure: Mapping, rows: Rows) -> Chart:
    """One panel."""
    cells = shown_cells(figure, rows.accuracy)
    return chart_by_size(figure, cells, rows.accuracy, rows.published, rows.recall, rows.token_counts)


def draw_means(figure: Mapping, rows: Rows) -> Figure:
    """Mean accuracy (%) against the number of items, with 95 % intervals over the questions; one curve per model.

    Without score rows, as for published values, intervals are the widest that the cells' intervals allow.
    """
    sweeps = (sweep[sweep["experiment"].isin(list(figure["experiments"]))] for sweep in rows.scores)
    of_sweeps = [position_means(sweep) for sweep in sweeps if len(sweep)]
    means = pd.concat(of_sweeps) if of_sweeps else means_of_cells(shown_cells(figure, rows.accuracy))
    published = None if rows.published is None else means_of_cells(shown_cells(figure, rows.published))
    shown = shown_cells(figure, means)
    return draw_curves(chart_by_size(figure, shown, rows.accuracy, published, token_counts=rows.token_counts))


def draw_curves(chart: Chart) -> Figure:
    """The panels of a chart, each with its curves, published values and reference lines, above a common legend."""
    looks = style.model_looks(chart.models, chart.places)

    def draw(ax: Axes, panel: Panel, width: float) -> None:
        style.draw_series(ax, panel.series, looks)
        style.name_absent(ax, panel.absent, width)
        _draw_ticks(ax, panel)
        style.draw_reference_columns(ax, panel.series, looks, width)

    canvas, first = _drawn(chart, 1.2, draw)
    style.fit_y_axis(first, chart)
    counted = style.describe_n([one for one in chart.series(CURVE) if one.model is not None], "point", "bars")
    notes = [counted, style.describe_reference_columns(chart), style.describe_axis(first)]
    style.add_legend(canvas, style.legend_handles(chart, looks), "\n".join(filter(None, notes)))
    style.add_note(canvas, filter(None, [chart.note]))
    return canvas


def _drawn(chart: Chart, around: float, draw: Callable[[Axes, Panel, float], None]) -> tuple[Figure, Axes]:
    """A figure with a chart's panels, their titles and labels, and its first axes.

    around: inches above and below the panels; draw: draws a panel of a width in inches.
    """
    grid = style.panel_grid(len(chart.panels), chart.room)
    canvas = style.new_canvas(grid.width, style.PANEL_INCHES[1] * grid.rows + around, chart.title)
    axes = grid.axes(canvas)
    for ax, panel in zip(axes, chart.panels, strict=True):
        draw(ax, panel, grid.panel_width)
    style.set_panel_titles(axes, chart.panels, grid.panel_width)
    characters = int(grid.panel_width / style.CHARACTER_INCHES)
    grid.label(axes, textwrap.fill(chart.x_label, characters) if chart.room else chart.x_label, chart.y_label)
    return canvas, axes[0]


def _draw_ticks(ax: Axes, panel: Panel) -> None:
    """Draw the ticks of a panel, slanted if they are many."""
    labels = [label for _, label in panel.ticks]
    ax.set_xticks([x for x, _ in panel.ticks], labels)
    if sum(map(len, labels)) > MOST_TICK_CHARACTERS:
        ax.tick_params("x", rotation=45)
    ax.margins(x=0.07)


def draw_differences(figure: Mapping, rows: Rows) -> Figure:
    """The difference a - b in points against the position, with paired 95 % intervals and a line at 0.

    One panel per size, one curve per model. With several experiments: the pairs of them that condition_differences.csv
    compares. With one: its tuned models minus their base models.
    """
    chart = difference_chart(figure, rows.differences, rows.token_counts)
    if not chart.panels:
        return style.empty_canvas(chart.title, NO_DIFFERENCES)
    looks = style.model_looks(chart.models, chart.places)

    def draw(ax: Axes, panel: Panel, width: float) -> None:
        ax.axhline(0, color="0.25", linewidth=1, zorder=1.5)
        style.draw_series(ax, panel.series, looks)
        _draw_ticks(ax, panel)

    canvas, first = _drawn(chart, 1.4, draw)
    ends = style.ends_of(chart)
    first.set_ylim(min(-ALWAYS, min(ends) - 3), max(ALWAYS, max(ends) + 3))
    counted = style.describe_n(chart.series(CURVE), "point", "bars")
    lines = [*compared(figure, rows.differences), f"{counted}, each by itself"]
    characters = int(canvas.get_figwidth() * style.TITLE_CHARACTERS_AN_INCH)
    note = "\n".join(textwrap.fill(line, characters, break_on_hyphens=False) for line in lines)
    style.add_legend(canvas, style.legend_handles(chart, looks), note)
    return canvas


def difference_chart(figure: Mapping, differences: pd.DataFrame, token_counts: pd.DataFrame | None = None) -> Chart:
    """Panels in the order of their sizes; no panel for sizes without a comparison."""
    shown = _shown(figure, differences)
    named = [_compared_models(row) for row in shown.to_dict("records")]
    dashes = {pair: dash for dash, pair in enumerate(dict.fromkeys(pair for _, pair in named))}
    panels = []
    for size, of_size in shown.groupby("size_a"):
        keys = [_compared_models(row) for row in of_size.to_dict("records")]
        series = [
            Series(
                CURVE, model, f"{pair[0]} - {pair[1]}" if len(dashes) > 1 else "", dashes[pair],
                points_of(own.sort_values("position_a"), "position_a", "difference"),
            )
            for model, pair in dict.fromkeys(named)
            for own in [of_size[[key == (model, pair) for key in keys]]]
            if len(own)
        ]  # fmt: skip
        panels.append(Panel(panel_title(figure, size, token_counts), _ticks(of_size["position_a"]), tuple(series)))
    models = list(dict.fromkeys(model for model, _ in named))
    return replace(make_chart(figure, panels, models), y_label=DIFFERENCE_LABEL)


def compared(figure: Mapping, differences: pd.DataFrame) -> Sequence[str]:
    """One line per pair that a figure compares: side a minus side b."""
    pairs = dict.fromkeys(_compared_models(row)[1] for row in _shown(figure, differences).to_dict("records"))
    return [f"{a} minus {b}" for a, b in pairs if a]


def _shown(figure: Mapping, differences: pd.DataFrame) -> pd.DataFrame:
    """The figure's differences of accuracy at positions, with the columns that `points_of` reads."""
    names = list(figure["experiments"])
    shown = differences["experiment_a"].isin(names) & differences["experiment_b"].isin(names)
    if len(names) > 1:
        shown &= differences["experiment_a"] != differences["experiment_b"]
    else:
        shown &= differences["condition"] == "model"
    shown &= (differences["quantity"] == "accuracy") & (differences["chosen_of"] == 1) & (differences["n"] > 0)
    shown &= differences["position_a"].notna()
    for key, column in (("models", "model_a"), ("sizes", "size_a")):
        if figure.get(key):
            shown &= differences[column].isin(list(figure[key]))
    return differences[shown].rename(columns={"difference_ci_low": "ci_low", "difference_ci_high": "ci_high"})


def _compared_models(row: Mapping) -> tuple[str, Pair]:
    """The legend's name of the model, and the pair of experiments; ("", "") between models, which the name tells."""
    if row["condition"] == "model":
        return f"{row['model_a']} minus {row['model_b']}", ("", "")
    return str(row["model_a"]), (str(row["experiment_a"]), str(row["experiment_b"]))
