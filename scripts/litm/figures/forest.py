"""The Position Bias Index of every curve with its interval: a forest plot."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from litm.analysis.pbi import CLASSES, FLAT, INVERTED
from litm.figures import style
from litm.placements import gold_depths, gold_positions
from litm.wording import ordinal

#: The range that is always shown, and the one that is never left, in points.
ALWAYS, EVER = (-20.0, 40.0), (-100.0, 100.0)
#: From inverted, which is bluish, to strong.
BAND_COLOURS = ("#eaf1f9", "1.0", "0.97", "0.94", "0.91")
NO_INFORMATION_COLOUR = "0.5"
AXIS_INCHES, CHARACTER_INCHES, MARGIN_INCHES = 6.4, 0.078, 0.9
#: More lines than this are drawn closer together.
MANY_LINES = 40
TITLE = "Position Bias Index"
X_LABEL = "Position Bias Index (percentage points): mean of start and end, minus middle"
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
    """A line of the plot; estimate: the index between its limits, in points; height: counted from the top."""

    label: str
    model: str
    height: float
    estimate: tuple[float, float, float] | None
    n: int
    reason: str


@dataclass(frozen=True)
class _Group:
    """The lines of one experiment, below its name."""

    name: str
    height: float
    rows: list[_Row]


def bias_forest(position_bias: pd.DataFrame) -> Figure:
    """The Position Bias Index, in points, of every row of position_bias.csv, with its 95 % interval and its n.

    position_bias: the columns of `position_bias.POSITION_BIAS_COLUMNS` (and `placement`, if it is there). Rows are in
    the order of the table, by experiment; a model has one colour and marker throughout; the suite's classes are
    shaded. A row of verdict no_information is hollow and grey, with its reason at the right. Of the rows without an
    index those with a reason are listed with it alone; those without one (two positions have no middle) are left out,
    and the axis label says how many. If no row has an index, the figure says that instead.
    """
    has_index, has_reason = position_bias["pbi"].notna(), position_bias["reason"].notna()
    shown = position_bias[has_index | has_reason]
    if not has_index.any():
        return _empty_figure()
    groups = list(_groups(shown))
    rows = [row for group in groups for row in group.rows]
    lines = rows[-1].height + 1
    layout = COMPACT if lines > MANY_LINES else NORMAL
    canvas = style.new_canvas(_width(groups, layout), lines * layout.line_inches + 1.8)
    panel = canvas.subplots()
    _draw_bands(panel, *_limits(rows))
    colours = style.model_colours(position_bias["model"])
    markers = dict(zip(colours, style.cycle(style.MARKERS, colours), strict=True))
    for row in rows:
        _draw_row(panel, row, colours[row.model], markers[row.model], layout)
    for group in groups:
        ends = group.rows[0].height - 0.5, group.rows[-1].height + 0.5
        panel.plot([0, 0], ends, color="0.25", linewidth=1, zorder=1)
        at = (0, group.height)
        panel.annotate(
            group.name, at, (4, 0), xycoords=panel.get_yaxis_transform(), textcoords="offset points",
            va="center", fontsize=layout.font_size, fontweight="bold", zorder=4,
        )  # fmt: skip
    _fit_axes(panel, rows, layout)
    panel.set_xlabel("\n".join([X_LABEL, _explanation(rows, len(position_bias) - len(shown))]), fontsize=9)
    style.set_title(canvas, TITLE)
    return canvas


def _empty_figure() -> Figure:
    canvas = style.new_canvas(6.4, 1.4)
    style.set_title(canvas, TITLE)
    canvas.text(0.5, 0.35, NO_ROWS, ha="center", va="center", color="0.35", fontsize=9.5)
    return canvas


def _groups(shown: pd.DataFrame) -> Iterator[_Group]:
    """The experiments in the order of the table; what all rows of one have in common is in its name, not in theirs."""
    height = 0.0
    placements = shown["placement"].fillna("").astype(str) if "placement" in shown else pd.Series("", shown.index)
    for experiment, table in shown.assign(placement=placements).groupby("experiment", sort=False):
        sizes, places = table["size"].nunique(), table["placement"].nunique()
        first = table.iloc[0]
        shared = [str(experiment)]
        shared += [f"size {int(first['size'])}"] if sizes == 1 else []
        shared += [_place(first["placement"])] if places == 1 else []
        rows = []
        for index, (_, row) in enumerate(table.iterrows(), start=1):
            own = [row["model"], f"size {int(row['size'])}" if sizes > 1 else ""]
            own += [_place(row["placement"])] if places > 1 else []
            rows.append(_row(row, ", ".join(filter(None, own)), height + index))
        yield _Group(", ".join(filter(None, shared)), height, rows)
        height += len(rows) + 1.5


def _place(placement: str) -> str:
    """Where the gold items of a prompt are, in words: positions from 1, or depths; '' if the table does not say."""
    if depths := gold_depths(placement):
        return f"at depths {', '.join(f'{depth:g}' for depth in depths)}"
    if positions := gold_positions(placement):
        return f"at {', '.join(ordinal(position + 1) for position in positions)}"
    return placement


def _row(row: pd.Series, label: str, height: float) -> _Row:
    estimate = None
    if pd.notna(row["pbi"]):
        low, value, high = (100 * float(row[name]) for name in ("pbi_ci_low", "pbi", "pbi_ci_high"))
        estimate = low, value, high
    reason = "" if pd.isna(row["reason"]) else str(row["reason"])
    return _Row(label, row["model"], height, estimate, int(row["n_complete"]), reason)


def _limits(rows: list[_Row]) -> tuple[float, float]:
    """The range of the axis: always with the classes around 0, and with room around every interval."""
    ends = [end for row in rows for end in row.estimate or ()]
    low, high = min(ALWAYS[0], min(ends) - 3), max(ALWAYS[1], max(ends) + 3)
    return max(EVER[0], low), min(EVER[1], high)


def _draw_bands(panel: Axes, low: float, high: float) -> None:
    """Shade the classes of the index and name them at the top."""
    upward = CLASSES[::-1]
    names = [INVERTED, "flat", *(name for _, name in upward)]
    edges = [low, -100 * FLAT, *(100 * bound for bound, _ in upward), high]
    for (left, right), name, colour in zip(pairwise(edges), names, BAND_COLOURS, strict=True):
        panel.axvspan(left, right, color=colour, linewidth=0, zorder=0)
        panel.annotate(
            name, ((left + right) / 2, 1), (0, 3), xycoords=panel.get_xaxis_transform(), textcoords="offset points",
            ha="center", va="bottom", color="0.35", fontsize=7.5,
        )  # fmt: skip
    panel.set_xlim(low, high)


def _draw_row(panel: Axes, row: _Row, colour: tuple, marker: str, layout: _Layout) -> None:
    ink: tuple | str = NO_INFORMATION_COLOUR if row.reason else colour
    if row.estimate:
        low, value, high = row.estimate
        panel.plot(
            [low, high], [row.height] * 2, color=ink, linewidth=1.1, clip_on=False,
            marker="|", markersize=layout.marker_size, markeredgewidth=1.2, zorder=2,
        )  # fmt: skip
        panel.plot(
            [value], [row.height], color=ink, marker=marker, markersize=layout.marker_size,
            markerfacecolor="white" if row.reason else ink, markeredgewidth=1.2 if row.reason else 0.8,
            linestyle="", clip_on=False, zorder=3,
        )  # fmt: skip
    aside = f"{row.n:,}" + (f"   {row.reason}" if row.reason else "")
    panel.annotate(
        aside, (1, row.height), (6, 0), xycoords=panel.get_yaxis_transform(), textcoords="offset points",
        va="center_baseline", fontsize=layout.font_size, color="0.35" if row.reason else "0.15", annotation_clip=False,
    )  # fmt: skip


def _fit_axes(panel: Axes, rows: list[_Row], layout: _Layout) -> None:
    panel.set_ylim(rows[-1].height + 0.7, -0.7)
    panel.set_yticks([row.height for row in rows], [row.label for row in rows], fontsize=layout.font_size)
    panel.tick_params(axis="x", labelsize=9)
    panel.grid(False)
    panel.annotate(
        "n", (1, 1), (6, 3), xycoords="axes fraction", textcoords="offset points",
        va="bottom", color="0.35", fontsize=7.5,
    )  # fmt: skip


def _width(groups: list[_Group], layout: _Layout) -> float:
    """Inches: the axis, and the longest label at its left and the longest reason at its right."""
    rows = [row for group in groups for row in group.rows]
    left, right = max(len(row.label) for row in rows), max(len(row.reason) + 8 for row in rows)
    return AXIS_INCHES + MARGIN_INCHES + (left + right) * CHARACTER_INCHES * layout.font_size / NORMAL.font_size


def _explanation(rows: list[_Row], left_out: int) -> str:
    asides = []
    if any(row.reason and row.estimate for row in rows):
        asides.append("hollow: no information, for the reason at the right")
    if left_out:
        asides.append(f"left out: {left_out} without a middle position")
    lines = ["bars are 95 % intervals; n: questions scored at every position", "; ".join(asides)]
    return "\n".join(filter(None, lines))
