"""Accuracy of several gold items that one prompt asks for: bars by target, one panel for each size and placement."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from litm.figures import style
from litm.wording import ordinal

#: Of a panel: without its bars, and for a bar or the gap between two groups; at least; and of the whole figure at most.
PANEL_EDGE_INCHES, BAR_INCHES, PANEL_MINIMUM_INCHES, MAXIMUM_INCHES = 0.6, 0.11, 2.7, 11.0
PANEL_HEIGHT_INCHES = 2.9
NOTE_CHARACTERS_AN_INCH, NOTE_LINE_POINTS = 12, 11
#: Bars of more models than there are colours differ in their hatching.
HATCHES = ("", "////", "....")
COLOURS = 10


@dataclass(frozen=True)
class _Panel:
    title: str
    cells: pd.DataFrame


@dataclass(frozen=True)
class _Sizes:
    """Rows and columns of panels, characters of a line of a note; the rest in inches."""

    rows: int
    columns: int
    note_characters: int
    width: float
    height: float


def target_bars(accuracy: pd.DataFrame, figure: Mapping) -> Figure:
    """Accuracy (%) of each gold item of prompts that have several, with 95 % intervals; a bar for each model.

    accuracy: rows of `accuracy.accuracy_table`, one for each target; figure: settings as in `position_curve`. There is
    a panel for each experiment, size and placement, in rows where they are many, and in it a group of bars for each
    target in the order of their positions. A panel names the models of which no question was scored.
    """
    cells = accuracy[accuracy["experiment"].isin(figure["experiments"]) & accuracy["position"].notna()]
    looks = _looks(cells["model"])
    shown = list(_panels(cells, figure))
    handles = _handles(looks) + style.reference_handles(figure, set(accuracy["experiment"]))
    size = _sizes(shown, len(looks))
    canvas = style.new_canvas(size.width, size.height)
    axes = canvas.subplots(size.rows, size.columns, sharey=True, squeeze=False)
    for first, row in zip(range(0, len(shown), size.columns), axes, strict=True):
        contents = shown[first : first + size.columns]
        notes = [_note(panel.cells, size.note_characters) for panel in contents]
        _draw_row(row, contents, notes, looks)
    for index, panel in enumerate(axes.flatten()):
        if index >= len(shown):
            panel.remove()
            continue
        _draw_references(panel, accuracy, figure, looks)
        if index + size.columns >= len(shown):
            panel.set_xlabel(figure["x_label"])
    _fit_y_axis(axes[0, 0], accuracy[accuracy["n"] > 0])
    style.set_title(canvas, figure["title"])
    note = style.describe_n(cells[cells["n"] > 0], "bar", "whiskers")
    style.add_legend(canvas, handles, note)
    return canvas


def _sizes(shown: list[_Panel], models: int) -> _Sizes:
    """Room for every bar and every title, and for as many panels in a row as the width allows."""
    targets = max(panel.cells["target"].nunique() for panel in shown)
    title = style.CHARACTER_INCHES * max(len(line) for panel in shown for line in panel.title.splitlines())
    panel = max(PANEL_MINIMUM_INCHES, title, PANEL_EDGE_INCHES + BAR_INCHES * targets * (models + 1))
    rows = ceil(len(shown) / max(1, int(MAXIMUM_INCHES / panel)))
    columns = ceil(len(shown) / rows)
    width = max(style.MINIMUM_INCHES, columns * panel + 0.4)
    note_characters = int(width / columns * NOTE_CHARACTERS_AN_INCH)
    return _Sizes(rows, columns, note_characters, width, rows * PANEL_HEIGHT_INCHES + 1.2)


def _panels(cells: pd.DataFrame, figure: Mapping) -> Iterator[_Panel]:
    """The cells of each experiment, size and placement, under a title that tells them apart."""
    for experiment in figure["experiments"]:
        of_experiment = cells[cells["experiment"] == experiment]
        for size, of_size in of_experiment.groupby("size"):
            placements = {
                tuple(sorted({int(position) for position in group["position"]})): group
                for _, group in of_size.groupby("placement")
            }
            for positions, group in sorted(placements.items(), key=lambda item: item[0]):
                lines = [experiment] if len(figure["experiments"]) > 1 else []
                lines.append(figure["panel_title"].replace("{size}", str(size)))
                if len(placements) > 1:
                    lines.append(", ".join(ordinal(position + 1) for position in positions))
                yield _Panel("\n".join(lines), group)


def _looks(models: pd.Series) -> dict[str, dict]:
    """Colour and hatching of each model's bars."""
    looks = {}
    for index, (model, colour) in enumerate(style.model_colours(models).items()):
        hatch = HATCHES[index // COLOURS % len(HATCHES)]
        looks[model] = {"facecolor": colour, "edgecolor": colour, "hatch": hatch, "hatchcolor": "white"}
    return looks


def _draw_row(axes: Sequence[Axes], contents: list[_Panel], notes: list[str], looks: Mapping[str, Mapping]) -> None:
    """A row of panels, with as much room between panels and titles as the longest note needs that is there."""
    above = [bool(content.cells["n"].any()) for content in contents]
    lines = max(len(note.splitlines()) if is_above else 0 for note, is_above in zip(notes, above, strict=True))
    for panel, content, note, is_above in zip(axes, contents, notes, above, strict=False):
        _draw_bars(panel, content.cells, looks)
        _add_note(panel, note, is_above)
        panel.set_title(content.title, pad=6 + NOTE_LINE_POINTS * lines)
    axes[0].set_ylabel("Accuracy (%)")


def _draw_references(panel: Axes, accuracy: pd.DataFrame, figure: Mapping, looks: Mapping[str, Mapping]) -> None:
    """The reference lines, with white edges: a line has the colour of the bars that it crosses."""
    others = set(panel.get_lines())
    style.draw_references(panel, accuracy, figure, {model: look["facecolor"] for model, look in looks.items()})
    for line in panel.get_lines():
        if line not in others:
            line.set_path_effects([withStroke(linewidth=3, foreground="white")])


def _draw_bars(panel: Axes, cells: pd.DataFrame, looks: Mapping[str, Mapping]) -> None:
    targets = cells.sort_values("position", kind="stable").drop_duplicates("target")
    groups = {target: index for index, target in enumerate(targets["target"])}
    width = 0.84 / max(len(looks), 2)
    for index, (model, look) in enumerate(looks.items()):
        bars = cells[(cells["model"] == model) & (cells["n"] > 0)].rename(columns={"accuracy": "value"})
        bars = bars.astype({"value": float, "ci_low": float, "ci_high": float})
        panel.bar(
            bars["target"].map(groups).astype(float) + (index - (len(looks) - 1) / 2) * width,
            100 * bars["value"],
            0.9 * width,
            yerr=style.interval_lengths(bars),
            error_kw={"elinewidth": 1, "capsize": 3 if len(looks) < 5 else 1.5, "ecolor": "0.15"},
            linewidth=1,
            **look,
        )
    labels = [
        f"{target}\n{ordinal(int(position) + 1)}"
        for target, position in zip(targets["target"], targets["position"], strict=True)
    ]
    panel.set_xticks(range(len(groups)), labels)
    panel.set_xlim(-0.6, len(groups) - 0.4)
    panel.grid(False, axis="x")


def _note(cells: pd.DataFrame, characters: int) -> str:
    """Which models have no bars in a panel, '' if all have."""
    absent = style.absent_models(cells)
    return textwrap.fill(f"no question scored: {', '.join(absent)}", characters) if absent else ""


def _add_note(panel: Axes, note: str, above: bool) -> None:
    """Write where no bar can be: between the panel and its title, or in the middle of a panel that has no bars."""
    at, offset, vertical = ((0.5, 1), (0, 3), "bottom") if above else ((0.5, 0.5), (0, 0), "center")
    if note:
        panel.annotate(
            note, at, offset, xycoords="axes fraction", textcoords="offset points",
            ha="center", va=vertical, color="0.35", fontsize="small",
        )  # fmt: skip
    if note and not above:
        panel.grid(False)


def _fit_y_axis(panel: Axes, accuracy: pd.DataFrame) -> None:
    """From 0, because a bar's length is its value, to above the highest interval, and never less than 20 points.

    A little below 0 is shown, so that the edge of a bar of no height is seen in its colour.
    """
    high = 100 * accuracy["ci_high"].max() if len(accuracy) else 100.0
    top = min(102.0, max(20.0, high + 3))
    panel.set_ylim(-0.01 * top, top)
    panel.set_yticks(range(0, int(top) + 1, 20 if top > 50 else 5))


def _handles(looks: Mapping[str, Mapping]) -> list[Artist]:
    return [Patch(label=model, linewidth=1, **look) for model, look in looks.items()]
