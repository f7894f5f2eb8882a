"""Figures of bars: accuracy by gold item of a prompt, and kinds of wrong answers at each position."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.legend_handler import HandlerPatch
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from litm.base.messages import ordinal
from litm.figures import multiples, style
from litm.figures.chart import (
    MARKS,
    PART,
    REFERENCE,
    WHOLE,
    Chart,
    Panel,
    Point,
    Rows,
    Series,
    absent_models,
    make_chart,
    models_in,
    ordinals,
    panel_title,
    points_of,
    references,
    scored,
    shown_cells,
    target_labels,
)  # fmt: skip
from litm.figures.looks import HATCHES, KIND_COLOURS, Dodge, Look, ink_on, model_looks
from litm.placements import gold_positions
from litm.tables.table import tables

#: Inches: panel margins; one bar or gap between groups; narrowest panel; widest figure.
PANEL_EDGE_INCHES, BAR_INCHES, PANEL_MINIMUM_INCHES, MAXIMUM_INCHES = 0.6, 0.11, 2.7, 11.0
PANEL_HEIGHT_INCHES = 2.9
NOTE_CHARACTERS_AN_INCH = 12
#: Fraction of the distance of two groups that the bars of a group take; points of a bar's mark.
BAR_SHARE, MARK_POINTS = 0.84, 5.0
#: Inches: width and height of a panel of stacked bars, and of one of many models.
STACK_INCHES, SMALL_STACK_INCHES = (3.1, 2.6), (1.75, 1.75)
#: Characters of an inch of a line above or below such a panel.
STACK_CHARACTERS, SMALL_CHARACTERS = 11, 14
#: Points: width of a character of a label below a bar; with wider labels they are slanted.
LABEL_POINTS = 5.2
#: What answers have of two facts, in their columns, with headings.
FACTS = {"both": "both", "first_only": "first only", "second_only": "second only"}
WRONG_LABEL, WRONG = "Wrong answers (% of all)", "wrong answers"


def targets(figure: Mapping, rows: Rows) -> Chart:
    """Accuracy (%) of each gold item of prompts that have several, with 95 % intervals; one bar per model.

    One panel per experiment, size and placement, with the targets in the order of their positions. It names the models
    without a scored question.
    """
    cells = shown_cells(figure, rows.accuracy)
    cells = cells[cells["position"].notna()]
    models = models_in(cells)
    panels = _panels_of_targets(figure, cells, rows.token_counts)
    return make_chart(figure, panels, models, references(figure, rows.accuracy, models))


def _panels_of_targets(figure: Mapping, cells: pd.DataFrame, token_counts: pd.DataFrame | None) -> Iterator[Panel]:
    """Panels with titles of experiment, size and positions."""
    for experiment in figure["experiments"]:
        for size, of_size in cells[cells["experiment"] == experiment].groupby("size"):
            placements = {
                tuple(map(int, group.drop_duplicates("target")["position"])): group
                for _, group in of_size.groupby("placement")
            }
            for positions, group in sorted(placements.items(), key=lambda item: item[0]):
                lines = [experiment] if len(figure["experiments"]) > 1 else []
                lines.append(panel_title(figure, size, token_counts, group))
                if len(placements) > 1:
                    lines.append(ordinals(positions))
                yield _panel_of_targets("\n".join(lines), group)


def _panel_of_targets(title: str, cells: pd.DataFrame) -> Panel:
    targets = cells.sort_values("position", kind="stable").drop_duplicates("target")
    places = {name: place for place, name in enumerate(targets["target"])}
    marks = scored(cells.assign(place=cells["target"].map(places))).groupby("model", sort=False)
    return Panel(
        title,
        tuple(
            (place, f"{label}\n{ordinal(int(position) + 1)}")
            for place, (label, position) in enumerate(zip(target_labels(targets), targets["position"], strict=True))
        ),
        tuple(Series(MARKS, str(model), "", 0, points_of(of_model, "place")) for model, of_model in marks),
        absent_models(cells),
    )


def draw_bars(chart: Chart) -> Figure:
    """The panels of a chart, each with one group of bars per tick and one bar per model."""
    looks, grid = model_looks(chart.models, chart.places), _grid(chart)
    panel_width = grid.width / grid.columns
    canvas = style.new_canvas(grid.width, grid.rows * PANEL_HEIGHT_INCHES + 1.2, chart.title)
    axes = grid.axes(canvas)
    characters = int(panel_width * NOTE_CHARACTERS_AN_INCH)
    for first in range(0, grid.panels, grid.columns):
        row = slice(first, first + grid.columns)
        _draw_row(axes[row], chart.panels[row], characters, looks)
    for ax, panel in zip(axes, chart.panels, strict=True):
        _draw_references(ax, panel, looks)
        style.draw_reference_columns(ax, panel.series, looks, panel_width)
    grid.label(axes, chart.x_label, chart.y_label)
    _fit_y_axis(axes[0], chart)
    handles = [_Entry(model, look) for model, look in looks.items()]
    notes = [style.describe_n(chart.series(MARKS), "bar", "whiskers"), style.describe_reference_columns(chart)]
    style.add_legend(canvas, [*handles, *style.reference_handles(chart)], *notes)
    return canvas


class _Entry(Patch):
    """A legend's entry of a bar with the mark of its model."""

    def __init__(self, label: str, look: Look) -> None:
        super().__init__(label=label, linewidth=1, **look.fill)
        self.look = look


class _EntryHandler(HandlerPatch):
    def create_artists(self, legend: Any, orig_handle: Any, *box: Any) -> list[Artist]:
        left, bottom, width, height = box[:4]
        mark = Line2D([(width - left) / 2], [(height - bottom) / 2], linestyle="", **_mark(orig_handle.look))
        mark.set_transform(box[-1])
        return [*super().create_artists(legend, orig_handle, *box), mark]


Legend.update_default_handler_map({_Entry: _EntryHandler()})


def _grid(chart: Chart) -> style.PanelGrid:
    """Panels with room for every bar and title, and the most panels per row that the width allows."""
    targets = max(len(panel.ticks) for panel in chart.panels)
    title = style.CHARACTER_INCHES * max(len(line) for panel in chart.panels for line in panel.title.splitlines())
    panel = max(PANEL_MINIMUM_INCHES, title, PANEL_EDGE_INCHES + BAR_INCHES * targets * (len(chart.models) + 1))
    columns = style.even_columns(len(chart.panels), max(1, int((chart.room or MAXIMUM_INCHES) / panel)))
    width = max(chart.room or style.MINIMUM_INCHES, columns * panel + style.AXIS_INCHES)
    return style.PanelGrid(len(chart.panels), columns, width)


def _draw_row(axes: Sequence[Axes], panels: Sequence[Panel], characters: int, looks: Mapping[str, Look]) -> None:
    """Draw a row of panels, each with a note on the models without bars; between panels and titles is room for the
    longest. The note of a panel without any bar stands in its middle.
    """
    above = []
    for ax, panel in zip(axes, panels, strict=True):
        _draw_bars(ax, panel, looks)
        note = style.wrapped(f"no question scored: {', '.join(panel.absent)}", characters) if panel.absent else ""
        has_bars = any(trace.kind == MARKS for trace in panel.series)
        above.append(note if has_bars else "")
        if note and not has_bars:
            ax.annotate(note, (0.5, 0.5), (0, 0), va="center", **style.NOTE)
            ax.grid(False)
    style.set_titles(axes, [panel.title for panel in panels], above)


def _mark(look: Look) -> dict[str, Any]:
    """The mark of a bar, with a white edge that sets it apart from the bar."""
    return {
        "marker": look.marker, "markersize": MARK_POINTS, "color": look.colour,
        "markeredgecolor": "white", "markeredgewidth": 0.6,
    }  # fmt: skip


def _draw_references(ax: Axes, panel: Panel, looks: Mapping[str, Look]) -> None:
    """Draw reference lines with white edges, because a line has the same colour as the bars that it crosses."""
    others = len(ax.get_lines())
    style.draw_series(ax, [trace for trace in panel.series if trace.kind == REFERENCE], looks, Dodge(0, 0.0), ())
    for line in ax.get_lines()[others:]:
        line.set_path_effects([withStroke(linewidth=3, foreground="white")])


def _draw_bars(ax: Axes, panel: Panel, looks: Mapping[str, Look]) -> None:
    """Draw each model's bars, with its mark at the top where the interval is."""
    width = BAR_SHARE / max(len(looks), 2)
    points: dict[str | None, Sequence[Point]] = {
        trace.model: trace.points for trace in panel.series if trace.kind == MARKS
    }
    for index, (model, look) in enumerate(looks.items()):
        bars = points.get(model, ())
        xs = [(point.x or 0) + (index - (len(looks) - 1) / 2) * width for point in bars]
        heights = [100 * point.value for point in bars]
        cap = 2.0 if len(looks) < 5 else 1.5
        whiskers = {"elinewidth": 1, "capsize": cap, "ecolor": "0.15"}
        ax.bar(xs, heights, 0.9 * width, yerr=style.interval_lengths(bars), error_kw=whiskers, linewidth=1, **look.fill)
        ax.plot(xs, heights, linestyle="", zorder=3, **_mark(look))
    ax.set_xticks([x for x, _ in panel.ticks], [label for _, label in panel.ticks])
    ax.set_xlim(-0.6, len(panel.ticks) - 0.4)
    ax.grid(False, axis="x")


def _fit_y_axis(ax: Axes, chart: Chart) -> None:
    """Limits from 0, because a bar's length is its value, to above the highest interval, at least 20 points apart.

    The axis begins slightly below 0, so that the coloured edge of a bar without height is visible.
    """
    ends = style.ends_of(chart)
    top = min(102.0, max(20.0, max(ends) + 3)) if ends else 102.0
    ax.set_ylim(-0.01 * top, top)
    ax.set_yticks(range(0, int(top) + 1, 20 if top > 50 else 5))


def draw_stacks(chart: Chart) -> Figure:
    """Wrong answers in per cent of all answers, by kind, at each position: stacked bars, each with the interval of the
    whole bar, the models of a size side by side. Without any part the figure has a sentence instead.
    """
    kinds = {trace.label: trace.dash for trace in chart.series(PART)}
    if not kinds:
        return style.empty_canvas(chart.title, "No answer is wrong.")
    panels, models = len(chart.panels), len(chart.models)
    is_many, side = models > multiples.MOST_MODELS, models if models > 1 else panels
    panel_width, panel_height = SMALL_STACK_INCHES if is_many else STACK_INCHES
    room = (chart.room or MAXIMUM_INCHES + style.AXIS_INCHES) - style.AXIS_INCHES
    fitting = max(1, int(room / panel_width))
    columns = style.even_columns(side, fitting) if is_many else min(side, fitting)
    width = max(chart.room or style.MINIMUM_INCHES, columns * panel_width + style.AXIS_INCHES)
    grid = style.PanelGrid(panels, columns, width, panel_width)
    canvas = style.new_canvas(width, grid.rows * panel_height + 1.2, chart.title)
    axes, looks = grid.axes(canvas), model_looks(chart.models, chart.places)
    for ax, panel in zip(axes, chart.panels, strict=True):
        _draw_stack(ax, panel, looks[str(panel.series[-1].model)], panel_width)
    if is_many:
        multiples.label(axes, grid, chart.x_label, chart.y_label)
    else:
        grid.label(axes, style.wrapped(chart.x_label, STACK_CHARACTERS * panel_width), chart.y_label)
    highest = max(100 * (point.high or 0) for trace in chart.series(WHOLE) for point in trace.points)
    axes[0].set_ylim(0, min(102, max(10.0, highest * 1.05)))
    handles = [Patch(label=label, **_kind_fill(place)) for label, place in kinds.items()]
    counted = style.describe_n(chart.series(WHOLE), "bar", "lines")
    note = f"{counted} of all {chart.note}"
    style.add_legend(canvas, handles, note)
    return canvas


def wrong_answers(figure: Mapping, rows: Rows) -> Chart:
    """A bar per position: the share of wrong answers of all answers (`WHOLE`), and the share of each kind of the wrong
    answers (`PART`), for the kinds that occur in the figure. One panel per size and model.
    """
    if rows.wrong_answers is None:
        return make_chart(figure, [], [])
    cells = shown_cells(figure, rows.wrong_answers)
    absent = rows.wrong_answers["experiment"].isin(list(figure.get("references", ())))
    cells = pd.concat([cells[cells["position"].notna()], rows.wrong_answers[absent]])
    kinds = [kind for kind in KIND_COLOURS if (cells[f"share_{kind}"] > 0).any()]
    models = models_in(cells)
    chart = make_chart(figure, _panels_of_wrong(figure, cells, models, kinds), models)
    return replace(chart, y_label=WRONG_LABEL, note="wrong answers;\nthe kinds and their intervals: wrong_answers.csv")


def two_facts(figure: Mapping, rows: Rows) -> Chart:
    """A bar per placement of two facts, by distance: the share of answers with one or both of them (`WHOLE`), and what
    they have (`PART`). One panel per size, model, and way of asking.
    """
    cells = shown_cells(figure, rows.two_facts)
    # By order, then by distance.
    cells = cells.assign(order=cells["distance"] < 0, steps=cells["distance"].abs())
    models = models_in(cells)
    panels = []
    for (size, model, asked), group in cells.groupby(["size", "model", "asked"], sort=False):
        placed = group.sort_values(["order", "steps"]).assign(place=range(len(group)))
        # Shares of the answers with any fact, as draw_stacks takes them.
        limits = {
            f"any_ci_{end}": 1 - placed[f"neither_ci_{other}"] for end, other in (("low", "high"), ("high", "low"))
        }
        placed = placed.assign(any=1 - placed["neither"], **limits)
        telling = placed[placed["any"] > 0]
        shares = telling.assign(**{kind: telling[kind] / telling["any"] for kind in FACTS}, ci_low=None, ci_high=None)
        shares = shares[["place", "n", *FACTS, "ci_low", "ci_high"]]
        parts = [
            Series(PART, str(model), heading, dash, points_of(shares, "place", kind))
            for dash, (kind, heading) in enumerate(FACTS.items())
        ]
        ticks = tuple((place, ordinals(gold_positions(name))) for place, name in enumerate(placed["placement"]))
        whole = Series(WHOLE, str(model), "answers", 0, points_of(placed, "place", "any"))
        title = f"{panel_title(figure, size)}, asked {asked}\n{model}"
        panels.append(Panel(title, ticks, (*parts, whole)))
    note = "answers with any of the facts;\nintervals of each kind: two_facts.csv"
    return replace(make_chart(figure, panels, models), y_label="Answers (%)", note=note)


def _panels_of_wrong(
    figure: Mapping, cells: pd.DataFrame, models: Sequence[str], kinds: Sequence[str]
) -> Iterator[Panel]:
    """Panels by size and, if prompts ask for several items, by placement; models are in their order."""
    several = cells["target"].nunique() > 1
    for size, of_size in cells.groupby("size"):
        for where, group in _placements(of_size) if several else [("", of_size)]:
            # Answers without the gold item are the last bar.
            positions = sorted({*group["position"].dropna()})
            ticks = tuple((place, ordinal(int(position) + 1)) for place, position in enumerate(positions))
            placed = group.assign(place=group["position"].map(positions.index, na_action="ignore").fillna(len(ticks)))
            ticks += (
                ((len(ticks), *figure.get("references", {}).values()),) if placed["place"].max() == len(ticks) else ()
            )
            for model in models:
                of_model = placed[placed["model"] == model].sort_values("position", kind="stable")
                if len(of_model):
                    title = f"{panel_title(figure, size)}{where}\n{model}"
                    yield Panel(title, ticks, _series_of_wrong(model, of_model, kinds))


def _placements(of_size: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Placements of prompts that ask for several items, each with its positions in words."""
    for placement in dict.fromkeys(of_size["placement"]):
        group = of_size[of_size["placement"] == placement]
        yield f", {ordinals(sorted({*group['position']}))}", group


def _series_of_wrong(model: str, cells: pd.DataFrame, kinds: Sequence[str]) -> tuple[Series, ...]:
    headings, wrong = tables()["wrong_answers"].columns, cells[cells["n_wrong"] > 0]
    parts = [
        Series(
            PART, model, headings[f"share_{kind}"].heading, list(KIND_COLOURS).index(kind),
            points_of(wrong, "place", f"share_{kind}", "n_wrong"),
        )
        for kind in kinds
    ]  # fmt: skip
    whole = Series(WHOLE, model, WRONG, 0, points_of(cells, "place", "share_wrong"))
    return (*parts, whole)


def _kind_fill(place: int) -> dict[str, Any]:
    """The properties of the patch of a kind of wrong answers, by its place in `KIND_COLOURS`."""
    colour = list(KIND_COLOURS.values())[place]
    return {"facecolor": colour, "hatch": HATCHES[place], "hatchcolor": ink_on(to_rgb(colour)), "linewidth": 0}


def _draw_stack(ax: Axes, panel: Panel, look: Look, inches: float) -> None:
    (whole,) = (trace for trace in panel.series if trace.kind == WHOLE)
    heights = {point.x or 0: 100 * point.value for point in whole.points}
    below = dict.fromkeys(heights, 0.0)
    for part in (trace for trace in panel.series if trace.kind == PART):
        parts = {x: point.value * heights[x] for point in part.points for x in [point.x or 0]}
        bottom = [below[x] for x in parts]
        ax.bar(list(parts), list(parts.values()), 0.8, bottom=bottom, **_kind_fill(part.dash))
        below |= {x: below[x] + height for x, height in parts.items()}
    lines = ax.errorbar(
        list(heights), list(heights.values()), yerr=style.interval_lengths(whole.points),
        fmt="none", ecolor="0.1", elinewidth=1, capsize=3,
    )  # fmt: skip
    # Panels of a size have bars at the same places, also where a model has none.
    ax.update_datalim([(-0.4, 0), (len(panel.ticks) - 0.6, 0)])
    # White edges, because a line crosses bars of any colour.
    for artist in lines.get_children():
        artist.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    ax.set_xticks(*zip(*panel.ticks, strict=True))
    widest = LABEL_POINTS * max(len(label) + 1 for _, label in panel.ticks) * len(panel.ticks)
    is_slanted = widest > style.POINTS_AN_INCH * style.PANEL_SHARE * inches
    ax.tick_params(axis="x", labelsize=style.SMALL_POINTS, rotation=45 if is_slanted else 0)
    ax.grid(visible=False, axis="x")
    is_small = inches < STACK_INCHES[0]
    characters = (SMALL_CHARACTERS if is_small else STACK_CHARACTERS) * inches
    ax.set_title(style.wrapped(panel.title, characters), fontsize=style.SMALL_POINTS if is_small else 9.5)
    style.mark_title(ax, look)
