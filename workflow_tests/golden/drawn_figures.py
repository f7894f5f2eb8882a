"""What a figure shows, as text: its words and its data as drawn, without fonts and pixels."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from planned_jobs import cut


def figure_lines(figure: Figure) -> list[str]:
    """A line for each text, line, group of bars and image of a figure, in the order of drawing."""
    lines = [f"{len(figure.axes)} panels"]
    lines += [f"text of the figure: {_words(text)}" for text in figure.texts if text.get_text()]
    for legend in figure.legends:
        lines.append(f"legend of the figure: {', '.join(_words(text) for text in legend.get_texts())}")
    for number, axes in enumerate(figure.axes):
        lines += [f"{number}: {cut(line, 240)}" for line in _axes_lines(axes)]
    return lines


def _axes_lines(axes: Axes) -> Iterator[str]:
    titles = [axes.get_title(), axes.get_title(loc="left"), axes.get_title(loc="right")]
    yield f"title {[title for title in titles if title]}, x {axes.get_xlabel()!r}, y {axes.get_ylabel()!r}"
    scales = f"{axes.get_xscale()} {axes.get_yscale()}"
    yield f"limits x {_numbers(axes.get_xlim())}, y {_numbers(axes.get_ylim())}, {scales}"
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        ticks = [tick.get_text() for tick in axis.get_ticklabels() if tick.get_text()]
        yield f"ticks {name} {_numbers(axis.get_ticklocs())} {ticks}"
    if legend := axes.get_legend():
        yield f"legend {[_words(text) for text in legend.get_texts()]}"
    artists = [_drawn(artist) for artist in axes.get_children() if artist is not axes.patch]
    # Artists of one kind and look that follow one another are one line.
    for kind, group in groupby(artists, itemgetter(0)):
        if kind and (values := [one for _, one in group if one]):
            yield f"{kind} {' '.join(values)}"


def _drawn(artist: Artist) -> tuple[str, str]:
    """The kind of an artist with its look, and its data; "" for spines, axes and other parts without data."""
    match artist:
        case Line2D():
            look = f"line {artist.get_linestyle()} {artist.get_marker()} {to_hex(artist.get_color())}"
            return look, f"{_numbers(artist.get_xdata())} {_numbers(artist.get_ydata())}"
        case Text():
            return "text", f"{_words(artist)} {_numbers(artist.get_position())}" if artist.get_text() else ""
        case Rectangle():
            look = f"bar {to_hex(artist.get_facecolor(), keep_alpha=True)} {artist.get_hatch() or ''}"
            return look, _numbers([*artist.get_xy(), artist.get_width(), artist.get_height()])
        case AxesImage() | Collection():
            array = artist.get_array()
            values = "" if array is None else _numbers(np.ma.filled(array.astype(float), np.nan))
            if isinstance(artist, Collection):
                paths = " ".join(_numbers(path.vertices) for path in artist.get_paths())
                values = f"{_numbers(artist.get_offsets())} {paths} {values}"
            return type(artist).__name__, values
    return "", ""


def _words(text: Text) -> str:
    return repr(text.get_text())


def _numbers(values: object) -> str:
    """Numbers with five digits, which do not depend on the processor."""
    found = []
    for value in np.ravel(np.asarray(values, dtype=object)):
        try:
            found.append("" if value is None or np.isnan(float(value)) else f"{float(value):.5g}")
        except (TypeError, ValueError):
            found.append(str(value))
    return "[" + " ".join("0" if one == "-0" else one for one in found) + "]"
