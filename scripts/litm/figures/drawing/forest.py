"""Picture of the Position Bias Index of curves: a forest plot."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from litm.analysis.pbi import CLASSES, FLAT_WITHIN, INVERTED
from litm.base.messages import ordinal
from litm.figures.drawing import style
from litm.figures.drawing.indexed_curves import IndexedCurve
from litm.placements import gold_depths, gold_positions

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
NO_ROWS = (
    "No curve has a Position Bias Index:\nit takes three positions, and a question that was scored at all of them."
)


@dataclass(frozen=True)
class _Layout:
    line_inches: float
    font_size: float
    marker_size: float


NORMAL, COMPACT = _Layout(0.27, 9.5, 7.0), _Layout(0.15, 7.5, 5.5)


@dataclass(frozen=True)
class _Row:
    """A line of the plot; height: from the top."""

    label: str
    height: float
    curve: IndexedCurve

    @property
    def limits(self) -> tuple[float, float, float] | None:
        """Lower limit, index and upper limit in points."""
        if self.curve.index is None:
            return None
        low, value, high = self.curve.index
        return 100 * low, 100 * value, 100 * high


@dataclass(frozen=True)
class _Group:
    """The lines of one experiment, below its name."""

    name: str
    height: float
    rows: list[_Row]


def draw_forest(
    curves: Sequence[IndexedCurve], x_label: str, places: Mapping[str, int], room: float | None = None
) -> Figure:
    """The index of every curve, in points, with its 95 % interval, its n and its shape in a word, by experiment.

    Each model has one colour and marker, by its place in the study (`places`); the classes of the index are shaded. A
    curve without information is hollow and grey, with the reason at the right. A curve without an index is listed with
    its reason only; without a reason (two positions have no middle) it is left out, and the axis label counts it. If no
    curve has an index, the figure has a sentence instead.
    """
    shown = [curve for curve in curves if curve.index or curve.reason]
    if not any(curve.index for curve in shown):
        return _empty_figure()
    groups = list(_groups(shown))
    rows = [row for group in groups for row in group.rows]
    lines = rows[-1].height + 1
    layout = COMPACT if lines > MANY_LINES else NORMAL
    canvas = style.new_canvas(_width(groups, layout, room), lines * layout.line_inches + 1.8)
    panel = canvas.subplots()
    _draw_bands(panel, *_limits(rows))
    looks = style.model_looks(list(dict.fromkeys(curve.model for curve in curves)), places)
    for row in rows:
        _draw_row(panel, row, looks[row.curve.model], layout)
    for group in groups:
        ends = group.rows[0].height - 0.5, group.rows[-1].height + 0.5
        panel.plot([0, 0], ends, color="0.25", linewidth=1, zorder=1)
        at = (0, group.height)
        panel.annotate(
            group.name, at, (4, 0), xycoords=panel.get_yaxis_transform(), textcoords="offset points",
            va="center", fontsize=layout.font_size, fontweight="bold", zorder=4,
        )  # fmt: skip
    _fit_axes(panel, rows, layout)
    panel.set_xlabel("\n".join([x_label, _explanation(rows, len(curves) - len(shown))]), fontsize=9)
    style.set_title(canvas, TITLE)
    return canvas


def _empty_figure() -> Figure:
    canvas = style.new_canvas(6.4, 1.4)
    style.set_title(canvas, TITLE)
    canvas.text(0.5, 0.35, NO_ROWS, ha="center", va="center", color="0.35", fontsize=9.5)
    return canvas


def _groups(curves: Sequence[IndexedCurve]) -> Iterator[_Group]:
    """Groups in the order of experiments; properties that all curves of a group share are in its name only."""
    height = 0.0
    for experiment, group in groupby(curves, key=lambda curve: curve.experiment):
        members = list(group)
        has_sizes = len({curve.size for curve in members}) > 1
        has_placements = len({curve.placement for curve in members}) > 1
        shared = [
            experiment,
            "" if has_sizes else f"size {members[0].size}",
            "" if has_placements else _place(members[0].placement),
        ]
        rows = []
        for index, curve in enumerate(members, start=1):
            own = [
                curve.model,
                f"size {curve.size}" if has_sizes else "",
                _place(curve.placement) if has_placements else "",
            ]
            rows.append(_Row(", ".join(filter(None, own)), height + index, curve))
        yield _Group(", ".join(filter(None, shared)), height, rows)
        height += len(rows) + 1.5


def _place(placement: str) -> str:
    """Places of a prompt's gold items in words: positions from 1, or depths; '' if the table has none."""
    if depths := gold_depths(placement):
        return f"at depths {', '.join(f'{depth:g}' for depth in depths)}"
    if positions := gold_positions(placement):
        return f"at {', '.join(ordinal(position + 1) for position in positions)}"
    return placement


def _limits(rows: list[_Row]) -> tuple[float, float]:
    """The range of the axis: the classes around 0, and all intervals with some room."""
    ends = [end for row in rows for end in row.limits or ()]
    low, high = min(ALWAYS[0], min(ends) - 3), max(ALWAYS[1], max(ends) + 3)
    return max(EVER[0], low), min(EVER[1], high)


def _draw_bands(panel: Axes, low: float, high: float) -> None:
    """Shade the classes of the index and name them at the top."""
    upward = CLASSES[::-1]
    names = [INVERTED, "flat", *(name for _, name in upward)]
    edges = [low, -100 * FLAT_WITHIN, *(100 * bound for bound, _ in upward), high]
    for (left, right), name, colour in zip(pairwise(edges), names, BAND_COLOURS, strict=True):
        panel.axvspan(left, right, color=colour, linewidth=0, zorder=0)
        panel.annotate(
            name, ((left + right) / 2, 1), (0, 3), xycoords=panel.get_xaxis_transform(), textcoords="offset points",
            ha="center", va="bottom", color="0.35", fontsize=7.5,
        )  # fmt: skip
    panel.set_xlim(low, high)


def _draw_row(panel: Axes, row: _Row, look: style.Look, layout: _Layout) -> None:
    reason = row.curve.reason
    ink: tuple | str = NO_INFORMATION_COLOUR if reason else look.colour
    if row.limits:
        low, value, high = row.limits
        panel.plot(
            [low, high], [row.height] * 2, color=ink, linewidth=1.1, clip_on=False,
            marker="|", markersize=layout.marker_size, markeredgewidth=1.2, zorder=2,
        )  # fmt: skip
        panel.plot(
            [value], [row.height], color=ink, marker=look.marker, markersize=layout.marker_size,
            markerfacecolor="white" if reason else ink, markeredgewidth=1.2 if reason else 0.8,
            linestyle="", clip_on=False, zorder=3,
        )  # fmt: skip
    aside = "   ".join(filter(None, [f"{row.curve.n:,}", _word(row.curve)]))
    panel.annotate(
        aside, (1, row.height), (6, 0), xycoords=panel.get_yaxis_transform(), textcoords="offset points",
        va="center_baseline", fontsize=layout.font_size, color="0.35" if reason else "0.15", annotation_clip=False,
    )  # fmt: skip


def _word(curve: IndexedCurve) -> str:
    """The text after n: the reason for no information, or the curve's word."""
    return curve.reason or curve.shape


def _fit_axes(panel: Axes, rows: list[_Row], layout: _Layout) -> None:
    panel.set_ylim(rows[-1].height + 0.7, -0.7)
    panel.set_yticks([row.height for row in rows], [row.label for row in rows], fontsize=layout.font_size)
    panel.tick_params(axis="x", labelsize=9)
    panel.grid(False)
    panel.annotate(
        "n   shape", (1, 1), (6, 3), xycoords="axes fraction", textcoords="offset points",
        va="bottom", color="0.35", fontsize=7.5,
    )  # fmt: skip


def _width(groups: list[_Group], layout: _Layout, room: float | None) -> float:
    """Inches: width of the axis plus the longest label at its left and the longest word or reason at its right.

    room: inches, the given width; the axis is then shorter, as far as its words allow.
    """
    rows = [row for group in groups for row in group.rows]
    left, right = max(len(row.label) for row in rows), max(len(_word(row.curve)) + 8 for row in rows)
    around = MARGIN_INCHES + (left + right) * CHARACTER_INCHES * layout.font_size / NORMAL.font_size
    return AXIS_INCHES + around if room is None else max(SHORT_AXIS_INCHES + around, min(room, AXIS_INCHES + around))


def _explanation(rows: list[_Row], left_out: int) -> str:
    asides = []
    if any(row.curve.reason and row.limits for row in rows):
        asides.append("hollow: no information, for the reason at the right")
    if left_out:
        asides.append(f"left out: {left_out} without a middle position")
    lines = ["bars are 95 % intervals; n: questions scored at every position", "; ".join(asides)]
    if any(row.curve.shape for row in rows):
        lines.insert(1, "shape: corrected over all curves of an experiment, which the bars are not")
    return "\n".join(filter(None, lines))
