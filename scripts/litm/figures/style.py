"""What the figures have in common: colours, markers, intervals, reference lines, axes, legends, and saving."""

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping
from math import ceil
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation, Transform

from litm.records import atomic_writer

matplotlib.use("Agg")

POINTS_AN_INCH = 72
PANEL_INCHES = (3.6, 3.0)
MINIMUM_INCHES = 5.4
TITLE_CHARACTERS_AN_INCH = 9
#: Of the legend: an entry at least, and without its text; a character; and a line.
LEGEND_ENTRY_INCHES, LEGEND_EDGE_INCHES, CHARACTER_INCHES, LEGEND_LINE_INCHES = 1.8, 0.7, 0.09, 0.2
#: How far curves of several models are set apart, so that equal ones can be seen: a model's step, and of all at most.
STEP_POINTS, SPREAD_POINTS = 3.0, 18.0
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
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def new_canvas(width: float, height: float) -> Figure:
    """An empty figure of this many inches in the common theme."""
    sns.set_theme(style="whitegrid", font_scale=0.9)
    return Figure(figsize=(width, height), layout="constrained")


def set_title(canvas: Figure, title: str) -> None:
    """The title above the panels, in as many lines as the width needs."""
    characters = int(canvas.get_figwidth() * TITLE_CHARACTERS_AN_INCH)
    canvas.suptitle(textwrap.fill(title, characters), fontweight="bold")


def model_colours(models: Iterable[str]) -> dict[str, tuple]:
    """A colour for each model, in the order in which they come first; ten are told apart by colour-blind people too."""
    names = list(dict.fromkeys(models))
    return dict(zip(names, sns.color_palette("colorblind", len(names)), strict=True))


def cycle(styles: tuple, over: Collection) -> list:
    """As many styles as there are things, beginning again where they end."""
    return [styles[index % len(styles)] for index in range(len(over))]


def draw_intervals(panel: Axes, x: pd.Series, curve: pd.DataFrame, style: Mapping) -> ErrorbarContainer:
    """A curve in per cent; the columns `value`, `ci_low` and `ci_high` are fractions."""
    return panel.errorbar(
        x.astype(int),
        100 * curve["value"],
        yerr=interval_lengths(curve),
        markersize=5,
        capsize=3,
        elinewidth=1,
        **style,
    )


def draw_models(panel: Axes, cells: pd.DataFrame, x: str, colours: Mapping, linestyle: Any) -> None:
    """A curve of each model's accuracy over the column x, in its colour and marker."""
    for model, colour, marker, shift in _looks(panel, colours):
        curve = cells[cells["model"] == model].sort_values(x).rename(columns={"accuracy": "value"})
        look = {"color": colour, "marker": marker, "linestyle": linestyle}
        _move(draw_intervals(panel, curve[x], curve, look).get_children(), shift)


def draw_published(panel: Axes, cells: pd.DataFrame, x: str, colours: Mapping) -> None:
    """The same of published values; without intervals, which would lie on ours."""
    for model, colour, marker, shift in _looks(panel, colours):
        curve = cells[cells["model"] == model].sort_values(x)
        values = 100 * curve["accuracy"].astype(float)
        look = {"color": colour, "marker": marker, "zorder": 1.9, **PUBLISHED_LOOK}
        _move(panel.plot(curve[x].astype(int), values, **look), shift)


def _looks(panel: Axes, colours: Mapping[str, tuple]) -> Iterator[tuple[str, tuple, str, Transform]]:
    """Each model with its colour, its marker, and where it is drawn: a little beside the others, whatever the axes."""
    step = min(STEP_POINTS, SPREAD_POINTS / max(1, len(colours)))
    for index, (model, colour) in enumerate(colours.items()):
        inches = (index - (len(colours) - 1) / 2) * step / POINTS_AN_INCH
        shift = panel.transData + ScaledTranslation(inches, 0, panel.figure.dpi_scale_trans)
        yield model, colour, MARKERS[index % len(MARKERS)], shift


def _move(artists: Iterable[Artist], shift: Transform) -> None:
    """Only afterwards, so that the axes have the limits of the data."""
    for artist in artists:
        artist.set_transform(shift)


def interval_lengths(values: pd.DataFrame) -> list[pd.Series]:
    """How far the 95 % limits are below and above the values, in per cent; the columns are as in `draw_intervals`."""
    below, above = values["value"] - values["ci_low"], values["ci_high"] - values["value"]
    return [100 * below.clip(lower=0), 100 * above.clip(lower=0)]


def rows_of(accuracy: pd.DataFrame, figure: Mapping) -> pd.DataFrame:
    """The rows of a figure's experiments at its sizes."""
    shown = accuracy[accuracy["experiment"].isin(figure["experiments"])]
    return shown[shown["size"].isin(figure["sizes"])] if figure.get("sizes") else shown


def reference_rows(accuracy: pd.DataFrame, figure: Mapping, models: Collection[str]) -> pd.DataFrame:
    """The rows of a figure's reference lines."""
    shown = accuracy["experiment"].isin(list(figure["references"])) & accuracy["model"].isin(list(models))
    return accuracy[shown & (accuracy["n"] > 0)]


def published_rows(published: pd.DataFrame | None, figure: Mapping, models: Collection[str]) -> pd.DataFrame:
    """The published values of a figure's models; none where they are not wanted."""
    if published is None:
        return pd.DataFrame(columns=["model", "experiment", "size", "position", "accuracy", "ci_low", "ci_high"])
    rows = rows_of(published, figure)
    # Drawn without an interval, so that none needs room.
    rows = rows[rows["model"].isin(list(models))]
    return rows.assign(ci_low=rows["accuracy"], ci_high=rows["accuracy"])


def absent_models(cells: pd.DataFrame) -> list[str]:
    """The models of which no cell has a question, because none fits their context, say."""
    return [model for model in dict.fromkeys(cells["model"]) if not cells.loc[cells["model"] == model, "n"].any()]


def name_absent(panel: Axes, cells: pd.DataFrame) -> None:
    """Say which models have no curve in a panel, because no question was scored."""
    absent = absent_models(cells)
    if absent:
        text = f"no question scored:\n{', '.join(absent)}"
        panel.text(0.5, 0.03, text, transform=panel.transAxes, ha="center", va="bottom", color="0.35", fontsize="small")


def draw_references(panel: Axes, accuracy: pd.DataFrame, figure: Mapping, colours: Mapping) -> None:
    """A horizontal line for each model and reference experiment that was run."""
    for style, experiment in zip(cycle(REFERENCE_STYLES, figure["references"]), figure["references"], strict=True):
        for cell in accuracy[(accuracy["experiment"] == experiment) & (accuracy["n"] > 0)].itertuples():
            if cell.model in colours:
                panel.axhline(100 * cell.accuracy, color=colours[cell.model], linestyle=style, linewidth=1.4)


def fit_y_axis(panel: Axes, *tables: pd.DataFrame) -> None:
    """Leave room around all intervals (columns ci_low, ci_high of each table), inside 0 to 100 %, and never zoom in
    below 20 points.
    """
    limits = [100 * table[["ci_low", "ci_high"]].astype(float) for table in tables if len(table)]
    if not limits:
        return
    low, high = min(table["ci_low"].min() for table in limits), max(table["ci_high"].max() for table in limits)
    spare = max(3.0, (20 - (high - low)) / 2)
    bottom, top = max(-2.0, low - spare), min(102.0, high + spare)
    panel.set_ylim(bottom, top)
    panel.set_yticks([tick for tick in panel.get_yticks() if max(0, bottom) <= tick <= min(100, top)])


def describe_n(cells: pd.DataFrame, mark: str = "point", intervals: str = "bars") -> str:
    """How many questions a mark stands for, and what its intervals are; `cells` are those that have any."""
    if cells.empty:
        return "no question was scored"
    fewest, most = int(cells["n"].min()), int(cells["n"].max())
    n = f"n = {most:,}" if fewest == most else f"n = {fewest:,} to {most:,}"
    return f"{n} questions a {mark}; {intervals} are 95 % intervals"


def curve_handles(figure: Mapping, colours: Mapping) -> list[Artist]:
    """Legend entries of the models and, where there are several, of the experiments."""
    handles: list[Artist] = [
        Line2D([], [], color=colour, marker=marker, linestyle="-", label=model)
        for marker, (model, colour) in zip(cycle(MARKERS, colours), colours.items(), strict=True)
    ]
    if len(figure["experiments"]) > 1:
        handles += [
            Line2D([], [], color="0.3", linestyle=CURVE_STYLES[index % len(CURVE_STYLES)], label=experiment)
            for index, experiment in enumerate(figure["experiments"])
        ]
    return handles


def reference_handles(figure: Mapping, present: Collection[str]) -> list[Artist]:
    """Legend entries of the reference lines whose experiments are there."""
    labels = figure["references"].items()
    return [
        Line2D([], [], color="0.3", linestyle=style, label=label)
        for style, (experiment, label) in zip(cycle(REFERENCE_STYLES, labels), labels, strict=True)
        if experiment in present
    ]


def published_handles(published: pd.DataFrame) -> list[Artist]:
    """The legend entry of published values, if there are any."""
    handle = Line2D([], [], color="0.3", marker="o", label="published", **PUBLISHED_LOOK)
    return [handle] if len(published) else []


def add_legend(canvas: Figure, handles: list[Artist], title: str) -> None:
    """The legend below the panels, with as many columns as there is room for; its further lines make the figure
    higher.
    """
    longest = max((len(str(handle.get_label())) for handle in handles), default=0)
    entry = max(LEGEND_ENTRY_INCHES, LEGEND_EDGE_INCHES + CHARACTER_INCHES * longest)
    columns = max(1, min(len(handles), int(canvas.get_figwidth() / entry)))
    lines = ceil(len(handles) / columns)
    canvas.set_figheight(canvas.get_figheight() + LEGEND_LINE_INCHES * max(0, lines - 1))
    legend = canvas.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)
    legend.set_title(title, prop=FontProperties(size="small"))
    legend.get_title().set_color("0.35")


def save_figure(figure: Figure, path: str | Path) -> None:
    """Save as the file's ending says, without the time of saving, so that the same figure has the same bytes."""
    format = Path(path).suffix.removeprefix(".")
    metadata = {"CreationDate": None} if format == "pdf" else {"Software": None}
    with atomic_writer(path) as raw:
        figure.savefig(raw, format=format, dpi=150, metadata=metadata)
