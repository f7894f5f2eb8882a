"""Figures of the page: their pictures, and the charts that the browser draws."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from litm.report.charts import chart
from litm.scoring.wrong_answers import KINDS
from litm.tables.table import tables as all_tables

#: Pixels of a picture from which on it takes the page's whole width.
WIDE_PIXELS = 1_700


@dataclass(frozen=True)
class Figures:
    """The figures that there is something to draw for."""

    curves: Sequence[Mapping]
    """See `_figure`."""
    wrong: Sequence[Mapping]
    """Those of wrong answers."""
    kinds: Sequence[tuple[str, str]]
    """Kinds of wrong answers that occur, and what they are, in the order in which they are looked for."""
    charts: Mapping
    """{models, charts}: for the browser."""


def figures(
    settings: Sequence[Mapping],
    pictures: Mapping[str, bytes],
    tables: Mapping[str, pd.DataFrame],
    models: Sequence[str],
) -> Figures:
    """The figures of a page.

    settings: of each, with `recall`, see `charts.chart`. pictures: PNG files by figure name, empty if there is nothing
    to draw. models: in the order of the study, which decides their colours.
    """
    drawn = [_figure(figure, pictures[figure["name"]], tables) for figure in settings if pictures[figure["name"]]]
    return Figures(
        curves=[figure for figure in drawn if not figure["is_wrong"]],
        wrong=[figure for figure in drawn if figure["is_wrong"]],
        kinds=_kinds(tables.get("wrong_answers")),
        charts={"models": list(models), "charts": [figure["chart"] for figure in drawn if figure["chart"]]},
    )


def _figure(settings: Mapping, png: bytes, tables: Mapping[str, pd.DataFrame]) -> dict:
    """Title, picture and, where the figure's kind has one, chart of a figure."""
    drawn, width = chart(settings, tables), png_width(png)
    return {
        "title": settings["title"],
        "is_wrong": settings["kind"] == "wrong_answers",
        "png": base64.b64encode(png).decode(),
        "width": width,
        "chart": drawn,
        "note": drawn.get("note", "") if drawn else "",
        "is_wide": len(drawn["panels"]) > 1 if drawn else width > WIDE_PIXELS,
    }


def png_width(png: bytes) -> int:
    """Width of a PNG picture in pixels, from its header."""
    return int.from_bytes(png[16:20], "big")


def _kinds(table: pd.DataFrame | None) -> list[tuple[str, str]]:
    occurring = [] if table is None else [kind for kind in KINDS if (table[f"share_{kind}"] > 0).any()]
    return [(all_tables()["wrong_answers"].columns[f"share_{kind}"].heading, KINDS[kind]) for kind in occurring]
