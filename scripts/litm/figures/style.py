"""Style of all figures: intervals, reference lines, panels, axes, legends, files. Looks of models are in looks.py."""

import logging
import textwrap
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from math import ceil
from operator import attrgetter
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, findSystemFonts, fontManager, get_font
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation

from litm.base.files import atomic_writer
from litm.base.groups import grouped
from litm.base.loading import hidden
from litm.base.messages import in_range, interval, note, percent
from litm.figures.chart import CURVE, PUBLISHED, REFERENCE, Chart, Panel, Point, Series
from litm.figures.kinds import Page
from litm.figures.looks import STEP_POINTS, Dodge, Look, model_looks

# seaborn has estimators of its own in their place, which no figure uses; their import takes longer than a figure.
with hidden("scipy.stats", "scipy.cluster", "statsmodels"):
    import seaborn as sns

matplotlib.use("Agg")
# A line of our own says it once; the fonts of other scripts may not be bold.
warnings.filterwarnings("ignore", "Glyph .* missing from font")
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)

POINTS_AN_INCH = 72
PANEL_INCHES = (3.6, 3.0)
#: Inches: narrowest panel if the figure's width is given; the vertical axis with its labels.
NARROW_INCHES, AXIS_INCHES = 2.6, 0.4
MINIMUM_INCHES = 5.4
TITLE_CHARACTERS_AN_INCH = 9
#: Points: labels of axes, small text, and the smallest, which is readable on a phone.
LABEL_POINTS, SMALL_POINTS, LEAST_POINTS = 10.8, 8.5, 8.0
#: Fraction of the range of the positions that is left free at either side.
MARGIN = 0.07
#: Inches of the legend: narrowest entry; entry without its text; one character; one line.
LEGEND_ENTRY_INCHES, LEGEND_EDGE_INCHES, CHARACTER_INCHES, LEGEND_LINE_INCHES = 1.8, 0.7, 0.09, 0.2
#: The vertical axis begins at 0 if the lowest end is at most this share of the highest.
ZERO_SHARE = 0.25
#: Height of a line of small text between a panel and its title.
NOTE_LINE_POINTS = 11
NOTE_LINE_INCHES = NOTE_LINE_POINTS / POINTS_AN_INCH
#: Inches: width of a small character, in a figure that is narrower than MINIMUM_INCHES.
SMALL_CHARACTER_INCHES = 0.082
#: Line styles of the reference lines, in their order; the curves themselves are solid or dashed by experiment.
REFERENCE_STYLES: tuple = (":", "-.", (0, (1, 3)))
CURVE_STYLES: tuple = ("-", "--", (0, (5, 1, 1, 1)), (0, (2, 1)))
#: Line style of published values; their legend entry is grey.
PUBLISHED_LOOK: dict[str, Any] = {
    "linestyle": (0, (4, 2)),
    "linewidth": 1.1,
    "markersize": 5,
    "markerfacecolor": "white",
}
#: Line style of the other models behind a model's curve.
BEHIND_LOOK: dict[str, Any] = {"color": "0.77", "linewidth": 0.8}
#: Grey, because a retriever's recall belongs to no model.
RECALL = Look((0.3, 0.3, 0.3), "")
#: Look of a note between a panel and its title, or in a panel.
NOTE: dict[str, Any] = {
    "xycoords": "axes fraction", "textcoords": "offset points", "ha": "center", "color": "0.35", "fontsize": "small",
}  # fmt: skip
#: Inches from the last position to the intervals of the first reference line, and between lines.
STEP_INCHES = 0.3
#: Fraction of a panel that its axes have, without labels and gaps.
PANEL_SHARE = 0.82
#: Fraction of the panel's width: the least that positions have.
LEAST_OF_POSITIONS = 0.6
#: Dots per inch of pictures.
DPI = 300


def new_canvas(width: float, height: float, title: str) -> Figure:
    """An empty figure (sizes in inches) in the common theme, with its title, wrapped to the width, at the top."""
    # Journals refuse Type 3 fonts; 42 is TrueType.
    sns.set_theme(style="whitegrid", font_scale=0.9, rc={"pdf.fonttype": 42, "hatch.linewidth": 0.7})
    canvas = Figure(figsize=(width, height), layout="constrained")
    canvas.suptitle(wrapped(title, width * TITLE_CHARACTERS_AN_INCH), fontweight="bold")
    return canvas


def wrapped(text: str, characters: float) -> str:
    """A text wrapped at a number of characters, where wide ones count twice; names are not broken at hyphens."""
    counted = "".join(character + "\0" * (east_asian_width(character) in "WF") for character in text)
    lines = (textwrap.fill(line, int(characters), break_on_hyphens=False) for line in counted.splitlines())
    return "\n".join(lines).replace("\0", "")


def empty_canvas(title: str, reason: str) -> Figure:
    """A small figure of a title and the reason why nothing is drawn."""
    canvas = new_canvas(MINIMUM_INCHES, 1.6, title)
    canvas.text(0.5, 0.3, reason, ha="center", va="center", color="0.35", fontsize=9.5)
    return canvas


@dataclass(frozen=True)
class PanelGrid:
    """Panels side by side, in several rows where they need them; widths in inches."""

    panels: int
    columns: int
    width: float
    panel_width: float = PANEL_INCHES[0]

    @property
    def rows(self) -> int:
        """Rows, the last of them maybe with fewer panels."""
        return ceil(self.panels / self.columns)

    def axes(self, canvas: Figure, sharey: bool = True, **options: Any) -> list[Axes]:
        """The axes of the panels, with a common vertical axis if they share it."""
        axes_list = canvas.subplots(self.rows, self.columns, sharey=sharey, squeeze=False, **options).ravel().tolist()
        for ax in axes_list[self.panels :]:
            ax.remove()
        return axes_list[: self.panels]

    def is_lowest(self, index: int) -> bool:
        """Whether a panel is the last one of its column."""
        return index + self.columns >= self.panels

    def label(self, axes: Sequence[Axes], x_label: str, y_label: str) -> None:
        """The label of the vertical axis at the first panel of each row, that of the horizontal one at the last of each
        column.
        """
        for index, ax in enumerate(axes):
            if index % self.columns == 0:
                ax.set_ylabel(y_label)
            if self.is_lowest(index):
                ax.set_xlabel(x_label)


def panel_grid(panels: int, room: float | None) -> PanelGrid:
    """All panels of curves in a row, or as many as there is room for."""
    if room is None:
        return PanelGrid(panels, panels, max(MINIMUM_INCHES, PANEL_INCHES[0] * panels + AXIS_INCHES))
    columns = even_columns(panels, max(1, int((room - AXIS_INCHES) / NARROW_INCHES)))
    return PanelGrid(panels, columns, room, (room - AXIS_INCHES) / columns)


def even_columns(panels: int, fitting: int) -> int:
    """Columns of rows that are as long as one another; fitting: the most panels that fit in a row."""
    return ceil(panels / ceil(panels / fitting)) if panels else 1


def dash_of(series: Series, look: Look) -> Any:
    """The line style of a series: of a reference line by its experiment, of a curve by its experiment, or by its model
    if all curves are of one experiment.
    """
    if series.kind == REFERENCE:
        return REFERENCE_STYLES[series.dash % len(REFERENCE_STYLES)]
    return CURVE_STYLES[series.dash % len(CURVE_STYLES)] if series.label or series.dash else look.dash


def curves_of(series: Iterable[Series]) -> list[tuple[str | None, int]]:
    """The curves that stand side by side at a position, as (model, dash)."""
    return list(dict.fromkeys((trace.model, trace.dash) for trace in series if trace.kind == CURVE))


def draw_series(ax: Axes, series: Iterable[Series], looks: Mapping[str, Look], dodge: Dodge, order: Sequence) -> None:
    """Draw curves, published values and reference lines in per cent; curves cover published values.

    dodge, order: of the curves of the figure, see `curves_of`.
    """
    places = {key: place for place, key in enumerate(order)}
    for trace in series:
        look = RECALL if trace.model is None else looks[trace.model]
        dash, place = dash_of(trace, look), places.get((trace.model, trace.dash))
        if trace.kind == REFERENCE:
            ax.axhline(100 * trace.points[0].value, color=look.colour, linestyle=dash, linewidth=1.4)
            continue
        xs = [point.x for point in trace.points if point.x is not None]
        shift = 0.0 if place is None else dodge.shift(place)
        if trace.kind == PUBLISHED:
            values = [100 * point.value for point in trace.points]
            artists = ax.plot(xs, values, color=look.colour, marker=look.marker, zorder=1.9, **PUBLISHED_LOOK)
            move_aside(ax, artists, shift)
            continue
        sizes = {"markersize": dodge.mark, "capsize": dodge.cap}
        curve = draw_points(ax, xs, trace.points, look, shift, linestyle=dash, **sizes).lines[0]
        curve.set_data(*with_gaps(trace, np.asarray(curve.get_ydata())))


def draw_chances(ax: Axes, panel: Panel) -> None:
    """Draw a thin line at each chance level."""
    for chance in panel.chances:
        ax.axhline(100 * chance, color="0.45", linestyle=":", linewidth=0.8, zorder=1.5)


def with_gaps(trace: Series, values: Any) -> tuple[Any, Any]:
    """The places of a curve's points, and its values, with a value of nan at each of its gaps, where no line is."""
    xs = [point.x for point in trace.points if point.x is not None]
    gaps = [gap for gap in trace.gaps if xs[0] < gap < xs[-1]]
    at = np.searchsorted(xs, gaps)
    return np.insert(np.asarray(xs, dtype=float), at, gaps), np.insert(np.asarray(values, dtype=float), at, np.nan)


def draw_points(
    ax: Axes, xs: Iterable[float], points: Sequence[Point], look: Look, shift: float = 0.0, **options: Any
) -> ErrorbarContainer:
    """Draw points at these places in per cent, with their 95 % intervals and a line through them, moved aside by
    `shift` points.

    options: of `Axes.errorbar`.
    """
    values = [100 * point.value for point in points]
    drawn = ax.errorbar(
        list(xs), values, yerr=interval_lengths(points), color=look.colour, marker=look.marker,
        **{"markersize": 5, "capsize": 2, "elinewidth": 1, **options},
    )  # fmt: skip
    move_aside(ax, drawn.get_children(), shift)
    return drawn


def move_aside(ax: Axes, artists: Iterable[Artist], shift: float) -> None:
    """Shift artists horizontally, so that equal curves are visible. Called after drawing, so that the data alone decide
    the limits of the axes.
    """
    if shift:
        moved = ax.transData + ScaledTranslation(shift / POINTS_AN_INCH, 0, ax.figure.dpi_scale_trans)
        for artist in artists:
            artist.set_transform(moved)


def limits_of(point: Point) -> tuple[float, float, float]:
    """Lower limit, value and upper limit in per cent; the value itself for a limit that is unknown."""
    low, high = (point.value if end is None else end for end in (point.low, point.high))
    return 100 * low, 100 * point.value, 100 * high


def interval_lengths(points: Sequence[Point]) -> list[list[float]]:
    """Distances of the 95 % limits below and above the values, in points of per cent; 0 if unknown."""
    limits = [limits_of(point) for point in points]
    return [[max(0.0, value - low) for low, value, _ in limits], [max(0.0, high - value) for _, value, high in limits]]


def ends_of(chart: Chart) -> list[float]:
    """Both ends of every interval of a chart in per cent; the value itself if they are unknown."""
    return [limit for series in chart.series() for point in series.points for limit in limits_of(point)]


def set_titles(axes: Sequence[Axes], titles: Sequence[str], notes: Sequence[str]) -> None:
    """Set the titles of panels, with a note below each; all have the room of the longest note."""
    lines = max(len(note.splitlines()) for note in notes)
    for ax, title, below in zip(axes, titles, notes, strict=True):
        ax.set_title(title, pad=6 + NOTE_LINE_POINTS * lines)
        if below:
            ax.annotate(below, (0.5, 1), (0, 3), va="bottom", **NOTE)


def mark_title(ax: Axes, look: Look) -> None:
    """Draw a model's mark left of the panel's title, beside its last line."""
    width = POINTS_AN_INCH * ax.title.get_window_extent().width / ax.figure.dpi
    (mark,) = ax.plot(
        [0.5], [1], look.marker, color=look.colour, markersize=7, clip_on=False, scalex=False, scaley=False,
    )  # fmt: skip
    aside = ScaledTranslation(-(width / 2 + 9) / POINTS_AN_INCH, 9.5 / POINTS_AN_INCH, ax.figure.dpi_scale_trans)
    mark.set_transform(ax.transAxes + aside)


def fit_y_axis(ax: Axes, chart: Chart) -> None:
    """Set limits with room around all intervals, within 0 to 100 %, at least 20 points apart.

    The axis begins at 0 if that takes at most `ZERO_SHARE` of its length.
    """
    ends = ends_of(chart)
    if not ends:
        return
    low, high = min(ends), max(ends)
    spare = max(3.0, (20 - (high - low)) / 2)
    bottom, top = max(-2.0, low - spare), min(102.0, high + spare)
    if low <= ZERO_SHARE * high or bottom < 1:
        bottom = -2.0
    ax.set_ylim(bottom, top)
    ax.set_yticks([tick for tick in ax.get_yticks() if max(0, bottom) <= tick <= min(100, top)])


def describe_n(series: Iterable[Series], mark: str, intervals: str) -> str:
    """A sentence on the number of questions per mark and on its intervals."""
    points = [point for trace in series for point in trace.points]
    if not points:
        return "no question was scored"
    return f"n = {in_range(point.n for point in points)} questions a {mark}; {intervals} are 95 % intervals"


def describe_axis(ax: Axes) -> str:
    """A note if the vertical axis begins at 1 % or more; else ''."""
    bottom, _ = ax.get_ylim()
    return f"the vertical axis begins at {bottom:.0f} %, not at 0" if bottom >= 1 else ""


def legend_handles(chart: Chart) -> list[Artist]:
    """Legend entries of models, experiments (if there are several), reference lines, recall and published values. Where
    each model has panels, which name it, an entry of the other models stands for theirs.
    """
    curves = {trace.label: trace for trace in chart.series(CURVE) if trace.model is not None and trace.label}
    recalls = {f"{trace.label} (n = {trace.points[0].n:,})": trace for trace in chart.series(CURVE) if not trace.model}
    has_published = any(True for _ in chart.series(PUBLISHED))
    models = [
        line(look.colour, "-" if curves else look.dash, with_facts(chart, model), look.marker)
        for model, look in model_looks(chart.models, chart.places).items()
    ]
    others = [Line2D([], [], label="the other models", **BEHIND_LOOK)]
    return [
        *(others if chart.by_model else models),
        *(line("0.3", dash_of(trace, RECALL), label) for label, trace in curves.items()),
        *reference_handles(chart),
        *(line("0.3", dash_of(trace, RECALL), label) for label, trace in recalls.items()),
        *([Line2D([], [], color="0.3", marker="o", label="published", **PUBLISHED_LOOK)] if has_published else []),
    ]


def with_facts(chart: Chart, model: str) -> str:
    """The name of a model with its facts."""
    return f"{model} ({chart.facts[model]})" if model in chart.facts else model


def reference_handles(chart: Chart) -> list[Artist]:
    """Legend entries of reference lines with n and, for a single model, value and interval."""
    lines: dict[tuple[int, str], dict[str | None, Series]] = {}
    for trace in chart.series(REFERENCE):
        lines.setdefault((trace.dash, trace.label), {})[trace.model] = trace
    return [
        line("0.3", REFERENCE_STYLES[dash % len(REFERENCE_STYLES)], _reference_label(label, list(models.values())))
        for (dash, label), models in sorted(lines.items())
    ]


def _reference_label(label: str, models: Sequence[Series]) -> str:
    (point, *others), n = [trace.points[0] for trace in models], in_range(trace.points[0].n for trace in models)
    if others or point.low is None or point.high is None:
        return f"{label} (n = {n})"
    return f"{label} {percent(point.value)} {interval(point.low, point.high)} (n = {n})"


def line(colour: Any, linestyle: Any, label: str, marker: str = "") -> Line2D:
    """A legend entry."""
    return Line2D([], [], color=colour, marker=marker, linestyle=linestyle, label=label)


def add_legend(canvas: Figure, handles: Sequence[Artist], *sentences: str) -> None:
    """Add the legend below the panels, with as many columns as fit and long entries wrapped; further lines make the
    figure higher.

    sentences: of its title, a line each; those that are empty are left out.
    """
    title = "\n".join(filter(None, sentences))
    room = canvas.get_figwidth()
    for handle in handles:
        label, characters = str(handle.get_label()), int((room - LEGEND_EDGE_INCHES) / CHARACTER_INCHES)
        handle.set_label(textwrap.fill(label, characters, break_on_hyphens=False, break_long_words=False))
    parts = [part for handle in handles for part in str(handle.get_label()).splitlines()]
    entry = max(LEGEND_ENTRY_INCHES, LEGEND_EDGE_INCHES + CHARACTER_INCHES * max(map(len, parts), default=0))
    columns = max(1, min(len(handles), int(room / entry)))
    lines = ceil(len(parts) / columns)
    canvas.set_figheight(canvas.get_figheight() + LEGEND_LINE_INCHES * max(0, lines - 1))
    legend = canvas.legend(handles=list(handles), loc="outside lower center", ncols=columns, frameon=False)
    _fit_texts(legend, 0.97 * room * canvas.dpi)
    if room < MINIMUM_INCHES:
        title = wrapped(title, room / SMALL_CHARACTER_INCHES)
    legend.set_title(title, prop=FontProperties(size="small"))
    legend.get_title().set_color("0.35")


def _fit_texts(legend: Legend, room: float) -> None:
    """Scale the texts of a legend down, if a word makes it wider than its room in dots."""
    excess = legend.get_window_extent().width - room
    if excess > 0:
        widest = max(text.get_window_extent().width for text in legend.get_texts())
        for text in legend.get_texts():
            text.set_fontsize(text.get_fontproperties().get_size_in_points() * (1 - excess / widest))


def add_note(canvas: Figure, sentences: Iterable[str]) -> None:
    """Add sentences below the legend's title, which has the number of questions; the figure becomes higher."""
    note = wrapped("\n".join(sentences), canvas.get_figwidth() * TITLE_CHARACTERS_AN_INCH * 1.3)
    if note and canvas.legends:
        title = canvas.legends[0].get_title()
        title.set_text(f"{title.get_text()}\n{note}")
        canvas.set_figheight(canvas.get_figheight() + LEGEND_LINE_INCHES * len(note.splitlines()))


def reference_lines(series: Iterable[Series]) -> dict[str, list[Series]]:
    """The reference lines with intervals, by their labels."""
    shown = (trace for trace in series if trace.kind == REFERENCE and trace.model and trace.points[0].low is not None)
    return grouped(shown, attrgetter("label"))


def share_of_columns(lines: Mapping[str, Sequence], panel_inches: float) -> float:
    """The fraction of a panel's width that the intervals of these reference lines take."""
    widest = max((len(models) for models in lines.values()), default=0)
    inches = max(STEP_INCHES, STEP_POINTS * (widest + 1) / POINTS_AN_INCH)
    return min(1 - LEAST_OF_POSITIONS, inches * (len(lines) + 1) / panel_inches) if lines else 0.0


def draw_reference_columns(ax: Axes, series: Iterable[Series], looks: Mapping[str, Look], panel_inches: float) -> None:
    """Draw the values of the reference lines with their 95 % intervals, models next to one another. Called after the
    ticks and the limits of the horizontal axis are set.
    """
    lines = reference_lines(series)
    if not lines:
        return
    low, high = ax.get_xlim()
    share = share_of_columns(lines, panel_inches)
    step = (high - low) * share / (1 - share) / (len(lines) + 1)
    room = POINTS_AN_INCH * PANEL_SHARE * panel_inches * share / (len(lines) + 1)
    for number, (label, models) in enumerate(lines.items()):
        at, dodge = high + (number + 0.5) * step, Dodge.within(len(models), room)
        for place, trace in enumerate(models):
            sizes = {"markersize": min(4.0, dodge.mark), "capsize": dodge.cap}
            draw_points(ax, [at], trace.points, looks[str(trace.model)], dodge.shift(place), **sizes)
        if len(models) == 1:
            _name(ax, label, models[0], looks[str(models[0].model)])
    ax.set_xlim(low, high + step * (len(lines) + 0.5))


def _name(ax: Axes, label: str, series: Series, look: Look) -> None:
    """The line's name, above it or, near the top, below; curves cover it."""
    value = 100 * series.points[0].value
    is_low = value < 85
    ax.annotate(
        label, (0.5, value), xycoords=("axes fraction", "data"), xytext=(0, 3 if is_low else -3),
        textcoords="offset points", ha="center", va="bottom" if is_low else "top", color=look.colour, fontsize="small",
        zorder=1.8,
    )  # fmt: skip


def describe_reference_columns(chart: Chart) -> str:
    """A note on these intervals; '' without any."""
    has_any = any(trace.points[0].low is not None for trace in chart.series(REFERENCE))
    where = "bands" if chart.by_model else "at the right"
    return f"{where}: 95 % intervals of the horizontal lines" if has_any else ""


def fit(figure: Figure, page: Page | None) -> float:
    """Make a figure as wide as its page, as it is drawn; returns how much larger it is on the page.

    A figure that is wider than its room, because it cannot be drawn in more rows, is scaled down as a whole.
    """
    _choose_fonts(figure)
    if page is None:
        return 1.0
    if not page.titles:
        without_title(figure)
    if figure.get_figwidth() < page.room:
        figure.set_figwidth(page.room)
    return page.width / figure.get_figwidth()


def _choose_fonts(figure: Figure) -> None:
    """Let installed fonts draw the characters that the theme's font lacks; a note has those that no font has."""
    texts, families = figure.findobj(Text), FontProperties().get_family()
    lacking = {character for text in texts for character in text.get_text() if character.isprintable()}
    lacking -= set(map(chr, get_font(findfont(FontProperties())).get_charmap()))
    for path in sorted(findSystemFonts(), key=lambda path: ("Regular" not in path, path)) if lacking else ():
        # Fonts of pictures cannot be read. That of macOS for any character only names its block.
        with suppress(RuntimeError, OSError):
            is_used = lacking and "LastResort" not in path
            if is_used and (covered := lacking.intersection(map(chr, get_font(path).get_charmap()))):
                fontManager.addfont(path)
                families, lacking = [*families, get_font(path).family_name], lacking - covered
    for text in texts:
        text.set_fontfamily(families)
    if lacking:
        note(f"no installed font has these characters of a figure: {''.join(sorted(lacking))} (Noto Sans has most)")


def without_title(figure: Figure) -> Figure:
    """The figure itself, with its title removed."""
    figure.suptitle("")
    return figure


def save_figure(figure: Figure, path: str | Path, scale: float = 1.0) -> None:
    """Save as the file's ending says, this much larger than it is drawn; without the time of saving, so that the same
    figure has the same bytes.
    """
    format = Path(path).suffix.removeprefix(".")
    with atomic_writer(path) as raw:
        if format == "pdf":
            raw.write(_scaled_pdf(figure, scale))
        else:
            # The number of dots is that of the size on the page, which the file names too.
            figure.savefig(
                raw, format=format, dpi=DPI * scale, metadata={"Software": None}, pil_kwargs={"dpi": (DPI, DPI)}
            )


def _scaled_pdf(figure: Figure, scale: float) -> bytes:
    drawn = BytesIO()
    figure.savefig(drawn, format="pdf", dpi=DPI, metadata={"CreationDate": None})
    if scale == 1:
        return drawn.getvalue()
    from pypdf import PdfWriter

    writer = PdfWriter(clone_from=drawn)
    writer.pages[0].scale_by(scale)
    scaled = BytesIO()
    writer.write(scaled)
    return scaled.getvalue()
