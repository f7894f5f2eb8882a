"""The forest plot of the Position Bias Index of every curve with its interval."""

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from litm.analysis.pbi import CLASSES, FLAT_WITHIN, INVERTED
from litm.figures import style
from litm.figures.chart import Rows, index_of, indexed_curves, places_in_words
from litm.figures.kinds import KINDS, room_of
from litm.figures.looks import Look, model_looks

#: Points: the range that is always shown, and the widest range.
ALWAYS, EVER = (-20.0, 40.0), (-100.0, 100.0)
#: Colours of the classes from inverted (bluish) to strong.
BAND_COLOURS = ("#eaf1f9", "1.0", "0.97", "0.94", "0.91")
NO_INFORMATION_COLOUR = "0.5"
AXIS_INCHES, CHARACTER_INCHES, MARGIN_INCHES = 6.4, 0.078, 0.9
#: Inches: shortest axis if the figure's width is given; on a shorter one the words above it would touch.
SHORT_AXIS_INCHES = 3.4
#: Number of lines above which lines are drawn closer together.
MANY_LINES = 40
TITLE = "Position Bias Index"
NO_ROWS = "No curve has a Position Bias Index:\nit takes a question that was scored near start, middle and end."


#: Inches of a line, and points of its text and its marker: with few lines, and with many.
NORMAL, COMPACT = (0.27, 9.5, 7.0), (0.155, style.LEAST_POINTS, 5.5)


class _Row(NamedTuple):
    """A line of the plot: a row of position_bias.csv."""

    label: str
    height: float
    """From the top."""
    curve: Mapping
    limits: Sequence[float]
    """Lower limit, index and upper limit in points."""
    word: str
    """The text after n, the reason for no information or the curve's word."""


def draw_forest(figure: Mapping, rows: Rows) -> Figure:
    """The index of every curve, in points, with its 95 % interval, its n and its shape in a word, by experiment.

    Each model has one colour and marker, by its place in the study; the classes of the index are shaded. A curve
    without information is hollow and grey, with the reason at the right. A curve without an index is listed with its
    reason only; without a reason (two positions have no middle) it is left out, and the axis label counts it. If no
    curve has an index, the figure has a sentence instead.
    """
    curves = indexed_curves(rows.position_bias)
    shown = [curve for curve in curves if index_of(curve) or curve["reason"]]
    if not any(map(index_of, shown)):
        return style.empty_canvas(TITLE, NO_ROWS)
    groups = _groups(shown)
    lines = [row for rows_of in groups.values() for row in rows_of]
    height = lines[-1].height + 1
    line_inches, font_size, marker_size = COMPACT if height > MANY_LINES else NORMAL
    canvas = style.new_canvas(_width(lines, font_size, room_of(figure)), height * line_inches + 1.8, TITLE)
    panel = canvas.subplots()
    _draw_bands(panel, lines)
    looks = model_looks([curve["model"] for curve in curves], figure.get("places") or {})
    for row in lines:
        _draw_row(panel, row, looks[row.curve["model"]], font_size, marker_size)
    for name, rows_of in groups.items():
        first, last = rows_of[0].height, rows_of[-1].height
        panel.plot([0, 0], (first - 0.5, last + 0.5), color="0.25", linewidth=1, zorder=1)
        panel.annotate(
            name, (0, first - 1), (4, 0), xycoords=panel.get_yaxis_transform(), textcoords="offset points",
            va="center", fontsize=font_size, fontweight="bold", zorder=4,
        )  # fmt: skip
    panel.set_ylim(lines[-1].height + 0.7, -0.7)
    panel.set_yticks([row.height for row in lines], [row.label for row in lines], fontsize=font_size)
    panel.tick_params(axis="x", labelsize=9)
    panel.grid(False)
    panel.annotate(
        "n   shape", (1, 1), (6, 3), xycoords="axes fraction", textcoords="offset points",
        va="bottom", color="0.35", fontsize=style.LEAST_POINTS,
    )  # fmt: skip
    notes = [KINDS["pbi_forest"].x_label, *_explanation(lines, len(curves) - len(shown))]
    panel.set_xlabel("\n".join(notes), fontsize=9)
    return canvas


def _groups(curves: Sequence[Mapping]) -> dict[str, list[_Row]]:
    """The lines of each experiment, below its name; properties that all its curves share are in its name only."""
    groups, height = {}, 0.0
    for experiment, group in groupby(curves, key=itemgetter("experiment")):
        members = list(group)
        places = [f"at {places_in_words(curve['placement'])}" if curve["placement"] else "" for curve in members]
        parts = [(f"size {curve['size']}", place) for curve, place in zip(members, places, strict=True)]
        differ = [len(set(values)) > 1 for values in zip(*parts, strict=True)]
        name = [experiment, *("" if is_shared else part for is_shared, part in zip(differ, parts[0], strict=True))]
        rows = []
        for index, (curve, part) in enumerate(zip(members, parts, strict=True), start=1):
            label = [
                curve["model"],
                *(text if differs_here else "" for differs_here, text in zip(differ, part, strict=True)),
            ]
            limits, word = [100 * end for end in index_of(curve)], curve["reason"] or curve["shape"] or ""
            rows.append(_Row(", ".join(filter(None, label)), height + index, curve, limits, word))
        groups[", ".join(filter(None, name))] = rows
        height += len(rows) + 1.5
    return groups


def _draw_bands(panel: Axes, rows: Sequence[_Row]) -> None:
    """Shade the classes of the index and name them at the top; the axis has the classes around 0, and all intervals
    with some room.
    """
    ends = [end for row in rows for end in row.limits]
    low, high = max(EVER[0], min(ALWAYS[0], min(ends) - 3)), min(EVER[1], max(ALWAYS[1], max(ends) + 3))
    upward = CLASSES[::-1]
    names = [INVERTED, "flat", *(name for _, name in upward)]
    edges = [low, -100 * FLAT_WITHIN, *(100 * bound for bound, _ in upward), high]
    for (start, right), name, colour in zip(pairwise(edges), names, BAND_COLOURS, strict=True):
        panel.axvspan(start, right, color=colour, linewidth=0, zorder=0)
        panel.annotate(
            name, ((start + right) / 2, 1), (0, 3), xycoords=panel.get_xaxis_transform(), textcoords="offset points",
            ha="center", va="bottom", color="0.35", fontsize=style.LEAST_POINTS,
        )  # fmt: skip
    panel.set_xlim(low, high)


def _draw_row(panel: Axes, row: _Row, look: Look, font_size: float, marker_size: float) -> None:
    reason = row.curve["reason"]
    ink: tuple | str = NO_INFORMATION_COLOUR if reason else look.colour
    if row.limits:
        low, value, high = row.limits
        panel.plot(
            [low, high], [row.height] * 2, color=ink, linewidth=1.1, clip_on=False,
            marker="|", markersize=marker_size, markeredgewidth=1.2, zorder=2,
        )  # fmt: skip
        panel.plot(
            [value], [row.height], color=ink, marker=look.marker, markersize=marker_size,
            markerfacecolor="white" if reason else ink, markeredgewidth=1.2 if reason else 0.8,
            linestyle="", clip_on=False, zorder=3,
        )  # fmt: skip
    aside = "   ".join(filter(None, [f"{row.curve['n']:,}", row.word]))
    panel.annotate(
        aside, (1, row.height), (6, 0), xycoords=panel.get_yaxis_transform(), textcoords="offset points",
        va="center_baseline", fontsize=font_size, color="0.35" if reason else "0.15", annotation_clip=False,
    )  # fmt: skip


def _width(rows: Sequence[_Row], font_size: float, room: float | None) -> float:
    """Inches: width of the axis plus the longest label at its left and the longest word or reason at its right.

    room: inches, the given width; the axis is then shorter, as far as its words allow.
    """
    label_width, right = max(len(row.label) for row in rows), max(len(row.word) + 8 for row in rows)
    around = MARGIN_INCHES + (label_width + right) * CHARACTER_INCHES * font_size / NORMAL[1]
    return AXIS_INCHES + around if room is None else max(SHORT_AXIS_INCHES + around, min(room, AXIS_INCHES + around))


def _explanation(rows: Sequence[_Row], left_out: int) -> list[str]:
    asides = []
    if any(row.curve["reason"] and row.limits for row in rows):
        asides.append("hollow: no information, for the reason at the right")
    if left_out:
        asides.append(f"left out: {left_out} without a middle position")
    notes = ["bars are 95 % intervals; n: questions scored at every position"]
    if any(row.curve["shape"] for row in rows):
        notes.append("shape: corrected over all curves of the study, which the bars are not")
    return notes + (["; ".join(asides)] if asides else [])
