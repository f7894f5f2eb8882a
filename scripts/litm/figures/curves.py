"""Figures of curves over positions or sizes, in panels side by side: accuracies, their means, differences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from litm.analysis.grid import means_of_cells, position_means
from litm.analysis.not_known import not_known_scores, selection_note
from litm.base.groups import grouped
from litm.base.messages import in_range, ordinal
from litm.figures import multiples, style
from litm.figures.chart import (
    CURVE,
    PUBLISHED,
    Chart,
    Panel,
    Point,
    Rows,
    Series,
    absent_models,
    curves,
    gaps_of,
    length_in_words,
    longer_than_trained,
    make_chart,
    mean_tokens,
    models_in,
    panel_title,
    points_of,
    positioned,
    published_curves,
    recalls,
    references,
    scored,
    shown_cells,
)  # fmt: skip
from litm.figures.looks import model_looks
from litm.placements import NO_GOLD
from litm.scoring.scores import accuracies, chances

#: Characters of all tick labels of a panel: with more they would touch, so they are slanted.
MOST_TICK_CHARACTERS = 30
NOTHING_COUNTED: Mapping[int, Mapping[str, float]] = {}
#: Points on either side of 0 that the axis of differences always shows.
ALWAYS = 10.0
DIFFERENCE_LABEL = "Difference (points)"
#: Between the names of two models that are compared.
MINUS = " minus "
NO_DIFFERENCES = "No model answered the same questions under both conditions."

Pair = tuple[str, str]


def positions(figure: Mapping, rows: Rows) -> Chart:
    """Accuracy (%) against the position of the gold item, with 95 % intervals; published values are dashed.

    A panel names the models without a scored question, and those whose prompts exceed their training length. Panels are
    in the order of their sizes.
    """
    cells = positioned(figure, rows.accuracy)
    models = models_in(cells)
    chart = make_chart(figure, _panels(figure, cells, rows), models, references(figure, rows.accuracy, models))
    recorded = dict.fromkeys(figure.get("beside") or {}, "recorded")
    notes = filter(None, [chart.note, *beside_notes(figure, cells)])
    return replace(chart, facts={**chart.facts, **recorded}, note="\n".join(notes))


def beside_notes(figure: Mapping, cells: pd.DataFrame) -> Iterator[str]:
    """Sentences on the models beside those of the study: who recorded them, and what else differs.

    figure: its `beside` has the words by model; cells: the accuracies that the figure shows.
    """
    words: Mapping[str, str] = figure.get("beside") or {}
    mine = scored(cells[~cells["model"].isin([*words])])["n"]
    said: dict[str, list[str]] = {}
    for model in sorted(words, key=lambda name: figure["places"][name]):
        theirs = scored(cells[cells["model"] == model])["n"]
        numbers = [in_range(counts) for counts in (theirs, mine) if len(counts)]
        fewer = f"; n = {numbers[0]}, not {numbers[1]}" if len({*numbers}) > 1 else ""
        said.setdefault(f"{words[model]}{fewer}", []).append(model)
    for differs, models in said.items():
        yield f"recorded by others: {', '.join(models)} ({differs})"


def not_known(figure: Mapping, rows: Rows) -> Chart:
    """Accuracy (%) against the position on the questions that each model gets wrong without documents, with 95 %
    intervals; the note has their numbers and a warning of the selection.

    The scores of the figure's references without a gold item tell which questions these are.
    """
    scores = pd.concat(rows.scores, ignore_index=True)
    is_of_curve = scores["experiment"].isin(list(figure["experiments"]))
    kept, numbers = not_known_scores(scores[is_of_curve], scores[scores["placement"] == NO_GOLD])
    shown = rows.accuracy["experiment"].isin(list(figure["experiments"]))
    # A model without such a question keeps its cells, without a scored question.
    none = rows.accuracy[shown & ~rows.accuracy["model"].isin(kept["model"])].assign(n=0)
    sweeps = [accuracies(sweep) for _, sweep in kept.groupby(["model", "experiment"], sort=False)]
    cells = pd.concat([*sweeps, none], ignore_index=True)
    chart = positions({**figure, "references": {}, "beside": {}}, replace(rows, accuracy=cells))
    return replace(chart, note=selection_note(numbers))


def log_probabilities(figure: Mapping, rows: Rows) -> Chart:
    """Probability (%) of a token of the right answer against the position of the gold item, with 95 % intervals: the
    geometric mean over the questions, exp of the mean of `per_token` in log_probability.csv.
    """
    cells = positioned(figure, rows.log_probability)
    ends = {"accuracy": "per_token", "ci_low": "per_token_ci_low", "ci_high": "per_token_ci_high"}
    cells = cells.assign(**{to: np.exp(cells[name].astype("Float64")) for to, name in ends.items()})
    chart = make_chart({**figure, "measure": "Probability per token"}, _panels(figure, cells, rows), models_in(cells))
    return replace(chart, note="points are geometric means over the questions")


def _panels(figure: Mapping, cells: pd.DataFrame, rows: Rows) -> list[Panel]:
    """One panel per size with the curves of `cells` over the positions, and published ones."""
    models, trained = models_in(cells), figure.get("training_lengths") or {}
    return [
        Panel(
            panel_title(figure, size, rows.token_counts, cells_of_size),
            _ticks(scored(cells_of_size)["position"]),
            curves(figure, cells_of_size, "position")
            + published_curves(figure, rows.published, models, cells_of_size, "position"),
            absent_models(cells_of_size),
            longer_than_trained(mean_tokens(figure, rows.token_counts, size), trained),
            chances=chances(cells_of_size),
        )
        for size, cells_of_size in cells.groupby("size")
    ]


def _ticks(positions: pd.Series) -> tuple[tuple[int, str], ...]:
    return tuple((position, ordinal(position + 1)) for position in sorted({int(position) for position in positions}))


def sizes(figure: Mapping, rows: Rows) -> Chart:
    """Accuracy (%) against the number of items, with 95 % intervals; one curve per model, and one per retriever with
    its recall at these sizes.
    """
    return _by_size(figure, shown_cells(figure, rows.accuracy), rows.published, rows)


def means(figure: Mapping, rows: Rows) -> Chart:
    """Mean accuracy (%) against the number of items, with 95 % intervals over the questions; one curve per model.

    Without score rows, as for published values, intervals are the widest that the cells' intervals allow.
    """
    of_sweeps, lengths = [], []
    for scores in rows.scores:
        if len(sweep := scores[scores["experiment"].isin(list(figure["experiments"]))]):
            of_sweeps.append(position_means(sweep))
            lengths.append(sweep)
    cells = pd.concat(of_sweeps) if of_sweeps else means_of_cells(shown_cells(figure, rows.accuracy))
    published = None if rows.published is None else means_of_cells(shown_cells(figure, rows.published))
    counted = _counted(lengths)
    chart = _with_shares(figure, _by_size(figure, shown_cells(figure, cells), published, rows, counted), counted)
    counts = shown_cells(figure, rows.accuracy).dropna(subset=["position"]).groupby("size")["position"].nunique()
    if counts.nunique() < 2:
        return chart
    counts_text = ", ".join(f"{count} at {size}" for size, count in counts.items())
    uneven = f"number of positions: {counts_text}; more positions between the ends lower the mean of a U"
    return replace(chart, note="\n".join(filter(None, [chart.note, uneven])))


def _counted(sweeps: Sequence[pd.DataFrame]) -> dict[int, dict[str, float]]:
    """Mean tokens of the prompts of each size by model, as it or its server counted; sweeps: score rows of each."""
    columns = ["model", "size", "prompt_tokens"]
    known = pd.concat([sweep[columns] for sweep in sweeps]).dropna() if sweeps else pd.DataFrame(columns=columns)
    counted: dict[int, dict[str, float]] = {}
    means = known.groupby(["model", "size"], sort=False)["prompt_tokens"].mean().reset_index()
    for row in means.to_dict("records"):
        counted.setdefault(row["size"], {})[row["model"]] = float(row["prompt_tokens"])
    return counted


def _with_shares(figure: Mapping, chart: Chart, counted: Mapping[int, Mapping[str, float]]) -> Chart:
    """The chart with the share of the window below each size, if the figure has windows.

    A share is the mean tokens of prompts over the smallest window that the chart shows; counted: see `_counted`.
    """
    shown = {model: window for model, window in (figure.get("windows") or {}).items() if model in chart.models}
    if not shown:
        return chart
    model, window = min(shown.items(), key=lambda named: named[1])
    means = {size: tokens[model] for size, tokens in counted.items() if model in tokens}
    panels = [
        replace(
            panel,
            ticks=tuple(
                (size, f"{label}\n{means[size] / window:.0%}" if size in means else label)
                for size, label in panel.ticks
            ),
        )
        for panel in chart.panels
    ]
    whole = f"the window of {model}, {window:,} tokens" if len(chart.models) > 1 else f"the window, {window:,} tokens"
    return replace(chart, panels=tuple(panels), x_label=f"{chart.x_label}\nand mean share of {whole}")


def _by_size(
    figure: Mapping,
    cells: pd.DataFrame,
    published: pd.DataFrame | None,
    rows: Rows,
    counted: Mapping[int, Mapping[str, float]] = NOTHING_COUNTED,
) -> Chart:
    """One panel with the accuracy of `cells` over the sizes.

    cells, published: one row per model, experiment and size. The note has the length of each size's prompts, if it is
    known: by token_counts.csv, or else `counted`.
    """
    shown = sorted({int(size) for size in scored(cells)["size"]})
    models = models_in(cells)
    series = curves(figure, cells, "size") + published_curves(figure, published, models, cells, "size")
    absent = [*absent_models(cells), *_without_sizes(cells, shown)]
    panel = Panel("", tuple((size, str(size)) for size in shown), series, tuple(absent))
    everywhere = [*recalls(rows.recall, shown), *references(figure, rows.accuracy, models)]
    means = {size: mean_tokens(figure, rows.token_counts, size, cells) or counted.get(size, {}) for size in shown}
    lengths = [(size, length_in_words(of_size)) for size, of_size in means.items()]
    lengths_text = ", ".join(f"{length} at {size}" for size, length in lengths if length)
    return replace(
        make_chart(figure, [panel], models, everywhere), note=f"mean prompt: {lengths_text}" if lengths_text else ""
    )


def _without_sizes(cells: pd.DataFrame, shown: Sequence[int]) -> Iterator[str]:
    """Models without a scored question at some of the sizes, each with those sizes."""
    numbers = cells[cells["size"].isin(shown)].groupby(["model", "size"], sort=False)["n"].sum()
    for model, of_model in numbers.groupby("model", sort=False):
        lacking = of_model[of_model == 0].index.get_level_values("size")
        if 0 < len(lacking) < len(of_model):
            yield f"{model} (at {', '.join(map(str, sorted(lacking)))})"


def draw_curves(chart: Chart) -> Figure:
    """The panels of a chart, each with its curves, published values and reference lines, above a common legend; panels
    of single models where the curves would cover one another.
    """
    chart = multiples.spread(chart)
    canvas, first = _drawn(chart, 1.2)
    style.fit_y_axis(first, chart)
    counted = style.describe_n([trace for trace in chart.series(CURVE) if trace.model is not None], "point", "bars")
    notes = [counted, _describe_published(chart), style.describe_reference_columns(chart), style.describe_axis(first)]
    style.add_legend(canvas, style.legend_handles(chart), *notes)
    style.add_note(canvas, filter(None, [chart.note]))
    return canvas


def _describe_published(chart: Chart) -> str:
    """A note on published curves over other numbers of questions than those of the same models here; else ''."""
    pairs = [(ours, their) for panel in chart.panels for ours in panel.series for their in panel.series]
    others = {
        point.n
        for ours, their in pairs
        if (ours.kind, their.kind) == (CURVE, PUBLISHED) and (ours.model, ours.dash) == (their.model, their.dash)
        for point in their.points
        if point.n not in {here.n for here in ours.points}
    }
    return f"published: n = {in_range(others)}, other questions" if others else ""


def _drawn(chart: Chart, around: float, line_at_0: bool = False) -> tuple[Figure, Axes]:
    """A figure with a chart's panels, their titles and labels, and its first axes.

    around: inches above and below the panels.
    """
    if chart.by_model:
        canvas, axes = multiples.draw(chart, line_at_0)
        return canvas, axes[0]
    grid, looks = style.panel_grid(len(chart.panels), chart.room), model_looks(chart.models, chart.places)
    characters = int(grid.panel_width / style.CHARACTER_INCHES)
    notes = [style.wrapped("\n".join(multiples.panel_notes(panel)), 1.2 * characters) for panel in chart.panels]
    height = style.PANEL_INCHES[1] + style.NOTE_LINE_INCHES * max(len(note.splitlines()) for note in notes)
    canvas = style.new_canvas(grid.width, height * grid.rows + around, chart.title)
    axes, dodge = grid.axes(canvas), multiples.dodge_of(chart, grid.panel_width)
    for ax, panel in zip(axes, chart.panels, strict=True):
        if line_at_0:
            ax.axhline(0, color="0.25", linewidth=1, zorder=1.5)
        style.draw_chances(ax, panel)
        style.draw_series(ax, panel.series, looks, dodge, style.curves_of(chart.series()))
        _draw_ticks(ax, panel)
        style.draw_reference_columns(ax, panel.series, looks, grid.panel_width)
    style.set_titles(axes, [style.wrapped(panel.title, characters) for panel in chart.panels], notes)
    grid.label(axes, style.wrapped(chart.x_label, characters) if chart.room else chart.x_label, chart.y_label)
    return canvas, axes[0]


def _draw_ticks(ax: Axes, panel: Panel) -> None:
    """Draw the ticks of a panel, slanted if they are many; labels of several lines overlap if they are slanted."""
    labels = [label for _, label in panel.ticks]
    ax.set_xticks([x for x, _ in panel.ticks], labels)
    if sum(map(len, labels)) > MOST_TICK_CHARACTERS and not any("\n" in label for label in labels):
        ax.tick_params("x", rotation=45)
    ax.margins(x=style.MARGIN)


def draw_differences(chart: Chart) -> Figure:
    """The panels of a chart, each with its curves and a line at 0, above a common legend."""
    if not chart.panels:
        return style.empty_canvas(chart.title, NO_DIFFERENCES)
    chart = multiples.spread(chart)
    canvas, first = _drawn(chart, 1.4, line_at_0=True)
    ends = style.ends_of(chart)
    first.set_ylim(min(-ALWAYS, min(ends) - 3), max(ALWAYS, max(ends) + 3))
    counted = style.describe_n(chart.series(CURVE), "point", "bars")
    note = "\n".join(filter(None, [chart.note, f"{counted}, each by itself"]))
    note = style.wrapped(note, canvas.get_figwidth() * style.TITLE_CHARACTERS_AN_INCH)
    style.add_legend(canvas, style.legend_handles(chart), note)
    return canvas


def differences(figure: Mapping, rows: Rows) -> Chart:
    """The difference a - b in points against the position, with paired 95 % intervals.

    One panel per size with a comparison, one curve per model. With several experiments: the pairs of them that
    condition_differences.csv compares, which the note names. With one: its tuned models minus their base models.
    """
    shown = _shown(figure, rows.condition_differences)
    named = [_compared_models(row) for row in scored(shown).to_dict("records")]
    dashes = {pair: dash for dash, pair in enumerate(dict.fromkeys(pair for _, pair in named))}
    panels = []
    for size, of_size in shown.groupby("size_a"):
        keys = [_compared_models(row) for row in of_size.to_dict("records")]
        series = [
            Series(
                CURVE, model, f"{pair[0]} - {pair[1]}" if len(dashes) > 1 else "", dashes[pair],
                points_of(cells_of_pair.sort_values("position_a"), "position_a", "difference"),
                gaps_of(cells_of_pair["position_a"], of_pair["position_a"]),
            )
            for model, pair in dict.fromkeys(named)
            for of_pair in [of_size[[key[1] == pair for key in keys]]]
            for cells_of_pair in [scored(of_size[[key == (model, pair) for key in keys]])]
            if len(cells_of_pair)
        ]  # fmt: skip
        ticks = _ticks(scored(of_size)["position_a"])
        panels += [Panel(panel_title(figure, size, rows.token_counts), ticks, tuple(series))] if series else []
    models = list(dict.fromkeys(model for model, _ in named))
    note = "\n".join(f"{a} minus {b}" for a, b in dashes if a)
    chart = make_chart(figure, panels, models)
    # A tuned model minus its base has the look of the tuned one.
    tuned = {name: chart.places[a] for name in models for a in [name.partition(MINUS)[0]] if a in chart.places}
    return replace(chart, y_label=DIFFERENCE_LABEL, note=note, places={**chart.places, **tuned})


def verdict_chart(rows: Sequence[Mapping], title: str) -> Chart:
    """The difference in points against the position, with its verdict below; one panel per experiment and size.

    rows: of `sequential_rows`; the intervals hold at all looks together.
    """
    compared = [row for row in rows if row["n"]]
    panels = [
        Panel(
            f"{experiment}, size {size}",
            tuple((row["position"], f"{ordinal(row['position'] + 1)}\n{row['verdict']}") for row in cells),
            (Series(CURVE, title, "", 0, tuple(
                Point(row["position"], row["n"], row["difference"], row["ci_low"], row["ci_high"]) for row in cells
            )),),
        )
        for (experiment, size), cells in grouped(compared, itemgetter("experiment", "size")).items()
    ]  # fmt: skip
    settings = {"title": title, "x_label": "Position of the item asked for, and verdict"}
    return replace(make_chart(settings, panels, [title]), y_label=DIFFERENCE_LABEL)


def _shown(figure: Mapping, differences: pd.DataFrame) -> pd.DataFrame:
    """The figure's differences of accuracy at positions."""
    names = list(figure["experiments"])
    table = shown_cells(figure, differences, side="_a")
    are_compared = table["experiment_a"] != table["experiment_b"] if len(names) > 1 else table["condition"] == "model"
    shown = are_compared & table["experiment_b"].isin(names)
    shown &= (table["quantity"] == "accuracy") & (table["chosen_of"] == 1) & table["position_a"].notna()
    return table[shown]


def _compared_models(row: Mapping) -> tuple[str, Pair]:
    """The legend's name of the model, and the pair of experiments; ("", "") between models, which the name tells."""
    if row["condition"] == "model":
        return f"{row['model_a']}{MINUS}{row['model_b']}", ("", "")
    return str(row["model_a"]), (str(row["experiment_a"]), str(row["experiment_b"]))
