"""What the figures have in common: colours, markers, intervals, reference lines, axes, legends, and saving."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil
from pathlib import Path
from typing import Any

import matplotlib
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from litm.base.atomic_write import atomic_writer
from litm.base.formatting import percent
from litm.figures.drawing.chart import CURVE, PUBLISHED, REFERENCE, Chart, Panel, Point, Series
from litm.figures.drawing.colours import COLOURS, MARKERS

matplotlib.use("Agg")

POINTS_AN_INCH = 72
PANEL_INCHES = (3.6, 3.0)
MINIMUM_INCHES = 5.4
TITLE_CHARACTERS_AN_INCH = 9
#: Of the legend: an entry at least, and without its text; a character; and a line.
LEGEND_ENTRY_INCHES, LEGEND_EDGE_INCHES, CHARACTER_INCHES, LEGEND_LINE_INCHES = 1.8, 0.7, 0.09, 0.2
#: Of a line of small text between a panel and its title.
NOTE_LINE_POINTS = 11
#: How far curves of several models are set apart, so that equal ones can be seen: a model's step, and of all at most.
STEP_POINTS, SPREAD_POINTS = 3.0, 18.0
#: The same for each further experiment of a model.
EXPERIMENT_STEP_POINTS = 1.5
#: Line styles of the reference lines, in their order; the curves themselves are solid or dashed by experiment.
REFERENCE_STYLES: tuple = (":", "-.", (0, (1, 3)))
CURVE_STYLES: tuple = ("-", "--", (0, (5, 1, 1, 1)), (0, (2, 1)))
#: Of the published values: the legend entry has it in grey.
PUBLISHED_LOOK: dict[str, Any] = {
    "linestyle": (0, (4, 2)),
    "linewidth": 1.1,
    "markersize": 5,
    "markerfacecolor": "white",
}
#: Grey: the recall of a retriever is of no model.
RECALL_COLOUR = (0.3, 0.3, 0.3)
#: Where the interval of a reference line is drawn, as a fraction of the panel's width.
REFERENCE_INTERVAL_AT = 0.985


def new_canvas(width: float, height: float) -> Figure:
    """An empty figure of this many inches in the common theme."""
    # Journals refuse Type 3 fonts; 42 is TrueType.
    sns.set_theme(style="whitegrid", font_scale=0.9, rc={"pdf.fonttype": 42})
    return Figure(figsize=(width, height), layout="constrained")


def set_title(canvas: Figure, title: str) -> None:
    """The title above the panels, in as many lines as the width needs."""
    characters = int(canvas.get_figwidth() * TITLE_CHARACTERS_AN_INCH)
    canvas.suptitle(textwrap.fill(title, characters), fontweight="bold")


@dataclass(frozen=True)
class Look:
    """What tells a model from the others; shift: how far its curves are drawn beside the data, in points."""

    colour: Any
    marker: str
    shift: float


def model_looks(models: Sequence[str], places: Mapping[str, int]) -> dict[str, Look]:
    """The look of each model: colour and marker by its place in the study, so that they are the same in all figures;
    shift by its place in this one.
    """
    step, centre = min(STEP_POINTS, SPREAD_POINTS / max(1, len(models))), (len(models) - 1) / 2
    return {
        model: Look(COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)], (index - centre) * step)
        for index, (model, place) in enumerate(places_of(models, places).items())
    }


def places_of(models: Iterable[str], places: Mapping[str, int]) -> dict[str, int]:
    """The place of each model in the study; one that has none there comes after all that have."""
    names = list(dict.fromkeys(models))
    free = count(max((places[model] for model in names if model in places), default=-1) + 1)
    return {model: places[model] if model in places else next(free) for model in names}


def dash_of(series: Series) -> Any:
    """The line style of a series."""
    styles = REFERENCE_STYLES if series.kind == REFERENCE else CURVE_STYLES
    return styles[series.dash % len(styles)]


def draw_series(ax: Axes, series: Iterable[Series], looks: Mapping[str, Look]) -> None:
    """Draw curves, published values and reference lines, in per cent; published values lie below the curves."""
    for one in series:
        look = Look(RECALL_COLOUR, "", 0.0) if one.model is None else looks[one.model]
        if one.kind == REFERENCE:
            ax.axhline(100 * one.points[0].value, color=look.colour, linestyle=dash_of(one), linewidth=1.4)
            _draw_reference_interval(ax, one.points[0], look)
            continue
        xs = [point.x for point in one.points if point.x is not None]
        values = [100 * point.value for point in one.points]
        artists: Iterable[Artist]
        if one.kind == PUBLISHED:
            artists = ax.plot(xs, values, color=look.colour, marker=look.marker, zorder=1.9, **PUBLISHED_LOOK)
        else:
            artists = ax.errorbar(
                xs, values, yerr=interval_lengths(one.points), color=look.colour, marker=look.marker,
                linestyle=dash_of(one), markersize=5, capsize=3, elinewidth=1,
            ).get_children()  # fmt: skip
        move_aside(ax, artists, look.shift + EXPERIMENT_STEP_POINTS * one.dash)


def _draw_reference_interval(ax: Axes, point: Point, look: Look) -> None:
    """The 95 % interval of a reference line, at the right edge of its panel."""
    if point.low is None or point.high is None:
        return
    at, ends = [REFERENCE_INTERVAL_AT] * 2, [100 * point.low, 100 * point.high]
    across = ax.get_yaxis_transform()
    shifted = across + ScaledTranslation(look.shift / POINTS_AN_INCH, 0, ax.figure.dpi_scale_trans)
    ax.plot(at, ends, color=look.colour, linewidth=1, marker="_", markersize=6, transform=shifted, scaley=False)


def move_aside(ax: Axes, artists: Iterable[Artist], shift: float) -> None:
    """Move what was drawn to the side, so that equal curves can be seen; only afterwards, so that the axes have the
    limits of the data.
    """
    if shift:
        moved = ax.transData + ScaledTranslation(shift / POINTS_AN_INCH, 0, ax.figure.dpi_scale_trans)
        for artist in artists:
            artist.set_transform(moved)


def interval_lengths(points: Sequence[Point]) -> list[list[float]]:
    """How far the 95 % limits are below and above the values, in per cent; 0 where they are not known."""
    below = [0.0 if point.low is None else max(0.0, 100 * (point.value - point.low)) for point in points]
    above = [0.0 if point.high is None else max(0.0, 100 * (point.high - point.value)) for point in points]
    return [below, above]


def name_absent(ax: Axes, absent: Sequence[str]) -> None:
    """Say which models have no curve in a panel, because no question was scored."""
    if absent:
        names = textwrap.fill(", ".join(absent), int(PANEL_INCHES[0] / CHARACTER_INCHES), break_on_hyphens=False)
        look: dict[str, Any] = {"ha": "center", "va": "bottom", "color": "0.35", "fontsize": "small"}
        behind: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5}
        ax.text(0.5, 0.03, f"no question scored:\n{names}", transform=ax.transAxes, bbox=behind, zorder=5, **look)


def ends_of(chart: Chart) -> list[float]:
    """Both ends of every interval of a chart, in per cent; the value itself where they are not known."""
    points = [point for series in chart.series() for point in series.points]
    limits = [limit for point in points for limit in (point.low, point.high, point.value) if limit is not None]
    return [100 * limit for limit in limits]


def set_panel_titles(axes: Iterable[Axes], panels: Sequence[Panel]) -> None:
    """The titles of panels side by side; between a panel and its title stand the models beyond their training."""
    characters = int(PANEL_INCHES[0] / CHARACTER_INCHES)
    notes = [f"longer than in training: {', '.join(panel.beyond)}" if panel.beyond else "" for panel in panels]
    notes = [textwrap.fill(note, int(1.2 * characters), break_on_hyphens=False) for note in notes]
    lines = max((len(note.splitlines()) for note in notes), default=0)
    for ax, panel, note in zip(axes, panels, notes, strict=True):
        ax.set_title(textwrap.fill(panel.title, characters, break_on_hyphens=False), pad=6 + NOTE_LINE_POINTS * lines)
        if note:
            ax.annotate(
                note, (0.5, 1), (0, 3), xycoords="axes fraction", textcoords="offset points",
                ha="center", va="bottom", color="0.35", fontsize="small",
            )  # fmt: skip


def fit_y_axis(ax: Axes, chart: Chart) -> None:
    """Leave room around all intervals, inside 0 to 100 %, and never zoom in below 20 points."""
    ends = ends_of(chart)
    if not ends:
        return
    low, high = min(ends), max(ends)
    spare = max(3.0, (20 - (high - low)) / 2)
    bottom, top = max(-2.0, low - spare), min(102.0, high + spare)
    ax.set_ylim(bottom, top)
    ax.set_yticks([tick for tick in ax.get_yticks() if max(0, bottom) <= tick <= min(100, top)])


def describe_n(series: Iterable[Series], mark: str, intervals: str) -> str:
    """How many questions a mark stands for, and what its intervals are."""
    points = [point for one in series for point in one.points]
    if not points:
        return "no question was scored"
    return f"{_count(points)} questions a {mark}; {intervals} are 95 % intervals"


def describe_axis(ax: Axes) -> str:
    """That the vertical axis does not begin at 0, where it is at 1 % or more; else ''."""
    bottom, _ = ax.get_ylim()
    return f"the vertical axis begins at {bottom:.0f} %, not at 0" if bottom >= 1 else ""


def describe_references(chart: Chart) -> str:
    """What is drawn at the right edge of the reference lines, where there are any; else ''."""
    has_any = any(True for _ in chart.series(REFERENCE))
    return "at the right edge: 95 % intervals of the horizontal lines" if has_any else ""


def _count(points: Iterable[Point]) -> str:
    counts = [point.n for point in points]
    fewest, most = min(counts), max(counts)
    return f"n = {most:,}" if fewest == most else f"n = {fewest:,} to {most:,}"


def legend_handles(chart: Chart, looks: Mapping[str, Look]) -> list[Artist]:
    """Legend entries of the models and, where there are several, of the experiments; of reference lines, recall and
    published values.
    """
    curves = {one.label: one for one in chart.series(CURVE) if one.model is not None and one.label}
    recalls = {one.label: one for one in chart.series(CURVE) if one.model is None}
    has_published = any(True for _ in chart.series(PUBLISHED))
    return [
        *(
            Line2D([], [], color=look.colour, marker=look.marker, linestyle="-", label=legend_name(chart, model))
            for model, look in looks.items()
        ),
        *(_grey_line(dash_of(one), label) for label, one in curves.items()),
        *reference_handles(chart),
        *(_grey_line(dash_of(one), f"{label} (n = {one.points[0].n:,})") for label, one in recalls.items()),
        *([Line2D([], [], color="0.3", marker="o", label="published", **PUBLISHED_LOOK)] if has_published else []),
    ]


def legend_name(chart: Chart, model: str) -> str:
    """The name of a model with what is to be known of it."""
    return f"{model} ({chart.facts[model]})" if model in chart.facts else model


def reference_handles(chart: Chart) -> list[Artist]:
    """Legend entries of the reference lines, with n and, of a single model, value and interval."""
    lines: dict[str, dict[str | None, Series]] = {}
    for one in chart.series(REFERENCE):
        lines.setdefault(one.label, {})[one.model] = one
    entries = sorted(lines.items(), key=lambda item: next(iter(item[1].values())).dash)
    return [
        _grey_line(dash_of(next(iter(models.values()))), _reference_label(label, list(models.values())))
        for label, models in entries
    ]


def _reference_label(label: str, models: Sequence[Series]) -> str:
    points = [one.points[0] for one in models]
    if len(points) > 1 or points[0].low is None or points[0].high is None:
        return f"{label} ({_count(points)})"
    low, value, high = map(percent, (points[0].low, points[0].value, points[0].high))
    return f"{label} {value} [{low}, {high}] ({_count(points)})"


def _grey_line(linestyle: Any, label: str) -> Line2D:
    return Line2D([], [], color="0.3", linestyle=linestyle, label=label)


def add_legend(canvas: Figure, handles: Sequence[Artist], title: str) -> None:
    """The legend below the panels, with as many columns as there is room for; its further lines make the figure
    higher.
    """
    longest = max((len(str(handle.get_label())) for handle in handles), default=0)
    entry = max(LEGEND_ENTRY_INCHES, LEGEND_EDGE_INCHES + CHARACTER_INCHES * longest)
    columns = max(1, min(len(handles), int(canvas.get_figwidth() / entry)))
    lines = ceil(len(handles) / columns)
    canvas.set_figheight(canvas.get_figheight() + LEGEND_LINE_INCHES * max(0, lines - 1))
    legend = canvas.legend(handles=list(handles), loc="outside lower center", ncols=columns, frameon=False)
    legend.set_title(title, prop=FontProperties(size="small"))
    legend.get_title().set_color("0.35")


def add_note(canvas: Figure, sentences: Iterable[str]) -> None:
    """Say more below the title of the legend, which tells how many questions there are; the figure becomes higher."""
    characters = int(canvas.get_figwidth() * TITLE_CHARACTERS_AN_INCH * 1.3)
    lines = [line for sentence in sentences for line in textwrap.wrap(sentence, characters, break_on_hyphens=False)]
    if lines and canvas.legends:
        title = canvas.legends[0].get_title()
        title.set_text("\n".join([title.get_text(), *lines]))
        canvas.set_figheight(canvas.get_figheight() + LEGEND_LINE_INCHES * len(lines))


def save_figure(figure: Figure, path: str | Path) -> None:
    """Save as the file's ending says, without the time of saving, so that the same figure has the same bytes."""
    format = Path(path).suffix.removeprefix(".")
    metadata = {"CreationDate": None} if format == "pdf" else {"Software": None}
    with atomic_writer(path) as raw:
        figure.savefig(raw, format=format, dpi=300, metadata=metadata)
