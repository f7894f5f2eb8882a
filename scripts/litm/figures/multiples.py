"""Panels of single models, for figures whose curves would cover one another.

A reader cannot follow more than four curves in one panel, and their intervals have no room. Each model has a panel of
its own: its curve in colour, the other curves in light grey, the same axes. Start, middle and end alone (slopes) would
need as much room for the names, and would cover each other as the curves do.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from litm.figures import style
from litm.figures.chart import BEHIND, CURVE, Chart, Panel
from litm.figures.looks import Dodge, Look, model_looks
from litm.scoring.scores import by_chance

#: Most models whose curves are in one panel.
MOST_MODELS = 4
#: Inches: width and height of a panel; narrowest panel; widest figure.
PANEL_INCHES, LEAST_INCHES, MAXIMUM_INCHES = (1.7, 1.15), 1.2, 10.8
#: Inches: narrowest panel where the panels of several models are side by side; width of a panel that stands alone for
#: its model, and the narrowest one.
SIDE_INCHES, ALONE_INCHES, LEAST_ALONE_INCHES = 1.4, 2.3, 1.75
#: Points: height of a panel's title.
TITLE_POINTS = 13
#: Points: width of a character of a tick label.
TICK_CHARACTER_POINTS = 5.6


def dodge_of(chart: Chart, panel_inches: float) -> Dodge:
    """The places of a chart's curves side by side, in the least room that one of its panels has for a position."""
    series = [trace for panel in chart.panels for trace in panel.series]
    number = len(style.curves_of(series))
    if chart.by_model:
        number = max(len(style.curves_of(panel.series)) for panel in chart.panels)
    shares = 0.0 if chart.by_model else style.share_of_columns(style.reference_lines(series), panel_inches)
    width = style.POINTS_AN_INCH * panel_inches * style.PANEL_SHARE * (1 - shares)
    return Dodge.within(number, min((_room(panel, width) for panel in chart.panels), default=width))


def _room(panel: Panel, width: float) -> float:
    """Points between the two nearest ticks of a panel of a width in points."""
    xs = sorted({x for x, _ in panel.ticks})
    nearest = min((b - a for a, b in pairwise(xs)), default=0)
    return width * nearest / ((1 + 2 * style.MARGIN) * (xs[-1] - xs[0])) if nearest else width


def spread(chart: Chart) -> Chart:
    """The chart itself, or, where its curves would cover one another, with panels of single models."""
    width = style.panel_grid(len(chart.panels), chart.room).panel_width
    if len(chart.models) > MOST_MODELS or (len(chart.models) > 1 and not dodge_of(chart, width).is_clear):
        return by_model(chart)
    return chart


def by_model(chart: Chart) -> Chart:
    """The chart with a panel for each model and each panel, models in their order. A panel has the model's series,
    those of no model, and the curves of the other models in grey. It has no references of other models.
    """
    panels = tuple(_of_model(panel, model) for model in chart.models for panel in chart.panels)
    return replace(chart, panels=panels, by_model=len(chart.panels))


def _of_model(panel: Panel, model: str) -> Panel:
    series = [trace for trace in panel.series if trace.model in (model, None)]
    others = [
        replace(trace, kind=BEHIND) for trace in panel.series
        if trace.kind == CURVE and trace.model not in (model, None)
    ]  # fmt: skip
    # Names with more after them, as `b (at 10)`, begin with the model's.
    absent, beyond = (
        tuple(name for name in names if name == model or name.startswith(f"{model} ("))
        for names in (panel.absent, panel.beyond)
    )
    return replace(panel, series=(*others, *series), absent=absent, beyond=beyond, model=model)


def grid_of(models: int, each: int, room: float | None) -> style.PanelGrid:
    """The grid of panels of single models, `each` of them for a model: a model's panels stand in a row, and the rows of
    several models next to one another where there is room.
    """
    width = (room or MAXIMUM_INCHES) - style.AXIS_INCHES
    if each == 1:
        least = ALONE_INCHES if room is None else LEAST_ALONE_INCHES
        columns = style.even_columns(models, max(1, int(width / least)))
    elif each * LEAST_INCHES <= width:
        columns = each * style.even_columns(models, max(1, int(width / (each * SIDE_INCHES))))
    else:
        columns = style.even_columns(each, max(1, int(width / LEAST_INCHES)))
    wanted = columns * (ALONE_INCHES if each == 1 else PANEL_INCHES[0]) + style.AXIS_INCHES
    whole = room or max(style.MINIMUM_INCHES, wanted)
    return style.PanelGrid(models * each, columns, whole, (whole - style.AXIS_INCHES) / columns)


def draw(chart: Chart, line_at_0: bool = False) -> tuple[Figure, list[Axes]]:
    """The figure of a chart of single models without its legend, and its axes."""
    looks = model_looks(chart.models, chart.places)
    grid = grid_of(len(chart.models), chart.by_model, chart.room)
    names = _names(chart, grid)
    lines = max(len(name.splitlines()) for name in names)
    height = PANEL_INCHES[1] + lines * TITLE_POINTS / style.POINTS_AN_INCH
    top = style.NOTE_LINE_INCHES * (chart.by_model > 1)
    canvas = style.new_canvas(grid.width, height * grid.rows + 1.4 + top, chart.title)
    axes, dodge = grid.axes(canvas), dodge_of(chart, grid.panel_width)
    for index, (ax, panel, name) in enumerate(zip(axes, chart.panels, names, strict=True)):
        if line_at_0:
            ax.axhline(0, color="0.25", linewidth=1, zorder=1.5)
        style.draw_chances(ax, panel)
        _draw_panel(ax, panel, looks, dodge)
        _draw_ticks(ax, panel, grid, index)
        ax.set_title(name, loc="left", fontsize=style.SMALL_POINTS, fontweight="bold", pad=4)
        if index < grid.columns and is_row(chart, grid) and panel.title:
            _head(ax, style.wrapped(panel.title, grid.panel_width / style.SMALL_CHARACTER_INCHES), lines)
    label(axes, grid, chart.x_label, chart.y_label)
    return canvas, axes


def label(axes: Sequence[Axes], grid: style.PanelGrid, x_label: str, y_label: str) -> None:
    """Label the axes of all panels once: below the middle column, and left of the middle row."""
    words = style.wrapped(x_label, grid.width / style.CHARACTER_INCHES)
    axes[range(len(axes))[(grid.columns - 1) // 2 :: grid.columns][-1]].set_xlabel(words, fontsize=style.LABEL_POINTS)
    axes[grid.columns * ((grid.rows - 1) // 2)].set_ylabel(y_label, fontsize=style.LABEL_POINTS)


def quiet(ax: Axes) -> None:
    """Make the lines of the grid lighter than the curves of the other models."""
    ax.grid(color="0.93")


def is_row(chart: Chart, grid: style.PanelGrid) -> bool:
    """Whether the panels of a model stand in one row, so that a column has one title."""
    return grid.columns % chart.by_model == 0


def _names(chart: Chart, grid: style.PanelGrid) -> list[str]:
    """The heading of each panel: the model's name at the first of its panels in a row, its size too where no column is
    of one size.
    """
    characters = grid.panel_width / style.SMALL_CHARACTER_INCHES
    in_row, names = is_row(chart, grid), []
    for index, panel in enumerate(chart.panels):
        is_first = index % chart.by_model == 0
        room = characters * (min(chart.by_model, grid.columns) if in_row else 1)
        name = style.wrapped(style.with_facts(chart, panel.model), 0.92 * room) if is_first or not in_row else ""
        size = "" if in_row or not panel.title else style.wrapped(panel.title, characters)
        notes = style.wrapped("\n".join(panel_notes(panel)), characters)
        names.append("\n".join(filter(None, [name, size, notes])))
    return names


def panel_notes(panel: Panel) -> Iterator[str]:
    """Sentences on models of a panel, for below its title."""
    for said, models in (("no question scored", panel.absent), ("longer than in training", panel.beyond)):
        if models:
            yield said if panel.model in models else f"{said}: {', '.join(models)}"
    if panel.chances:
        yield by_chance(panel.chances)


def _head(ax: Axes, words: str, lines: int) -> None:
    """The title of a column, above the names of its first row."""
    ax.annotate(
        words, (0.5, 1), (0, 8 + TITLE_POINTS * lines), xycoords="axes fraction", textcoords="offset points",
        ha="center", va="bottom", fontsize=style.SMALL_POINTS,
    )  # fmt: skip


def _draw_panel(ax: Axes, panel: Panel, looks: Mapping[str, Look], dodge: Dodge) -> None:
    """Draw the other models, the intervals of the reference lines as bands, and the curves of the panel's model."""
    for trace in panel.series:
        if trace.kind == BEHIND:
            xs, values = style.with_gaps(trace, [100 * point.value for point in trace.points])
            ax.plot(xs, values, zorder=1.2, **style.BEHIND_LOOK)
    quiet(ax)
    front = [trace for trace in panel.series if trace.kind != BEHIND]
    for lines in style.reference_lines(front).values():
        for low, _, high in (style.limits_of(line.points[0]) for line in lines):
            ax.axhspan(low, high, color=looks[panel.model].colour, alpha=0.15, linewidth=0, zorder=1.1)
    style.draw_series(ax, front, looks, dodge, style.curves_of(front))


def _draw_ticks(ax: Axes, panel: Panel, grid: style.PanelGrid, index: int) -> None:
    """Draw the ticks of a panel, with labels below the last panel of a column, as many as do not touch."""
    xs = [x for x, _ in panel.ticks]
    if xs:
        spare = style.MARGIN * (xs[-1] - xs[0]) or 0.5
        ax.set_xlim(xs[0] - spare, xs[-1] + spare)
    labels = _fitting(panel.ticks, style.POINTS_AN_INCH * grid.panel_width * style.PANEL_SHARE)
    ax.set_xticks(xs, labels if grid.is_lowest(index) else [""] * len(xs), fontsize=style.SMALL_POINTS)
    ax.tick_params("y", labelsize=style.SMALL_POINTS)


def _fitting(ticks: Sequence[tuple[int, str]], width: float) -> list[str]:
    """The labels that fit in a width in points, the first and the last in any case; "" for the others."""
    if len(ticks) < 3:
        return [label for _, label in ticks]
    first, last = ticks[0][0], ticks[-1][0]
    at = [width * (x - first) / ((1 + 2 * style.MARGIN) * (last - first)) for x, _ in ticks]
    half = [TICK_CHARACTER_POINTS * (len(label) + 1) / 2 for _, label in ticks]
    end, labels = at[0] + half[0], [ticks[0][1]]
    for place in range(1, len(ticks) - 1):
        fits = at[place] - half[place] >= end and at[place] + half[place] <= at[-1] - half[-1]
        end = at[place] + half[place] if fits else end
        labels.append(ticks[place][1] if fits else "")
    return [*labels, ticks[-1][1]]
