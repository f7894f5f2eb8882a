"""Charts of the page: JSON of the figures for the browser, and the rows of the Position Bias Index.

A chart is {name, title, x_label, y_label, y: [low, high], panels}, with {note} if it has models beside the study's; a
panel {title, ticks: [[x, label], ...], series}; a series {model (None for a retriever), label, kind, dash, points},
with {gaps} if it has any, see `litm.figures.chart`. A point is [x, n, value, low, high], fractions with six decimals as
in the table; unknown limits are None, and the one point of a reference has x None.
"""

from collections.abc import Mapping, Sequence
from math import ceil, floor

import pandas as pd

from litm.base.messages import interval_of, percent
from litm.figures.chart import (
    CURVE,
    MARKS,
    PART,
    WHOLE,
    Chart,
    Panel,
    Point,
    Rows,
    index_of,
    indexed_curves,
    places_in_words,
    recall_of,
    with_beside,
    without_doubt,
)
from litm.figures.kinds import KINDS
from litm.figures.looks import COLOURS
from litm.report.sizes import SizeNames

#: Paths of the marks of models, as charts.js has them, which a test compares.
MARK_PATHS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
    "M-3.6 -3.6h7.2v7.2h-7.2z",
    "M0 -4.8L4.5 3.4H-4.5z",
    "M0 -5L5 0L0 5L-5 0z",
    "M0 4.8L4.5 -3.4H-4.5z",
    "M-1.6 -4.8h3.2v3.2h3.2v3.2h-3.2v3.2h-3.2v-3.2h-3.2v-3.2h3.2z",
    "M-4.6 -2.3L-2.3 -4.6L0 -2.3L2.3 -4.6L4.6 -2.3L2.3 0L4.6 2.3L2.3 4.6L0 2.3L-2.3 4.6L-4.6 2.3L-2.3 0z",
    "M-4.8 0L3.4 -4.5V4.5z",
    "M4.8 0L-3.4 -4.5V4.5z",
)
#: Fraction: the least height of the vertical axis.
LEAST_HEIGHT = 0.2
#: Fraction: the scale of the Position Bias Index ends at a multiple of it that no interval exceeds.
STEP = 0.25


def chart(figure: Mapping, tables: Mapping[str, pd.DataFrame]) -> dict | None:
    """The chart of a figure; None if nothing was scored, or if its kind needs more than the report's tables.

    figure: settings of a figure, with `recall`: (questions, corpus, retriever) of each recall curve. tables: by name,
    `accuracy` and, where they exist, `beside_accuracy`, `retrieval`, `published_comparison`, `token_counts` and
    `wrong_answers`.
    """
    rows = Rows(
        without_doubt(with_beside(figure, tables["accuracy"], tables.get("beside_accuracy"))),
        recall=recall_of(tables["retrieval"], figure["recall"]) if figure["recall"] else None,
        published=_published(figure, tables),
        token_counts=tables.get("token_counts"),
        wrong_answers=tables.get("wrong_answers"),
    )
    kind = KINDS[figure["kind"]]
    drawn = kind.chart(figure, rows) if kind.in_report else None
    panels = [panel for panel in drawn.panels if _has_own(panel)] if drawn else []
    if not drawn or not panels:
        return None
    return {
        **{key: getattr(drawn, key) for key in ("name", "title", "x_label", "y_label")},
        **({"note": drawn.note} if figure.get("beside") or figure.get("judged") else {}),
        "y": _heights(drawn),
        "panels": [_panel(panel) for panel in panels],
    }


def _has_own(panel: Panel) -> bool:
    """Whether a panel has scores of a model; reference lines and recall are in all panels."""
    return any(series.kind in (CURVE, MARKS, PART) and series.model is not None for series in panel.series)


def _published(figure: Mapping, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame | None:
    """Published values that a figure shows, with the columns of the accuracy table."""
    if not figure.get("published") or "published_comparison" not in tables:
        return None
    cells = ["model", "experiment", "size", "position"]
    columns = {"n_published": "n", "accuracy_published": "accuracy"}
    table = tables["published_comparison"][[*cells, *columns]].rename(columns=columns)
    # A cell may have a value from each of the paper's tables, its text and its repository.
    return table.drop_duplicates(cells).assign(ci_low=None, ci_high=None)


def _panel(panel: Panel) -> dict:
    return {
        "title": panel.title.replace("\n", ", "),
        "ticks": [[x, label.replace("\n", ", ")] for x, label in panel.ticks],
        "series": [
            {
                **{key: getattr(trace, key) for key in ("model", "label", "kind", "dash")},
                "points": [[point.x, point.n, *_fractions(point)] for point in trace.points],
                **({"gaps": list(trace.gaps)} if trace.gaps else {}),
            }
            for trace in panel.series
        ],
    }


def _fractions(point: Point) -> list[float | None]:
    return [None if number is None else round(number, 6) for number in (point.value, point.low, point.high)]


def _heights(drawn: Chart) -> list[float]:
    """Ends of the vertical axis: around all values and limits, multiples of 0.1, at least `LEAST_HEIGHT` apart. With
    bars it begins at 0, because a bar's length is its value.
    """
    points = [point for series in drawn.series() if series.kind != PART for point in series.points]
    heights = [height for point in points for height in _fractions(point) if height is not None]
    low, high = floor(10 * min(heights)) / 10, ceil(10 * max(heights)) / 10
    if any(True for _ in drawn.series(WHOLE)):
        low = 0.0
    if high - low < LEAST_HEIGHT:
        low, high = max(0.0, high - LEAST_HEIGHT), max(high, LEAST_HEIGHT)
    return [low, high]


def forest(position_bias: pd.DataFrame | None, models: Sequence[str], names: SizeNames) -> dict | None:
    """{ticks: (place, label) on the scale, rows}, or None if no curve has a Position Bias Index.

    A row is {experiment, model, colour, mark, what (size and placement), n, text, words, left, dot, right}.
    words: the class, if the whole interval lies in it, and the shape. left, dot, right and the places of ticks: per
    cent of the scale's width, from its left end. colour: index of the page's colours, by the model's place in `models`;
    mark: the path of its mark.
    Rows are in the order of experiments, then models. Curves without an index, or with one that carries no information,
    are left out.
    """
    curves = [] if position_bias is None else indexed_curves(position_bias)
    rows = [curve for curve in curves if index_of(curve) and curve["pbi_class"]]
    if not rows:
        return None
    limit = STEP * max(1, ceil(max(abs(end) for curve in rows for end in index_of(curve)) / STEP))
    # Five ticks from -limit to limit: per cent of the width, and points.
    ticks = [(50 + 25 * step, f"{50 * step * limit:+g}" if step else "0") for step in range(-2, 3)]
    return {"ticks": ticks, "rows": [_forest_row(curve, limit, models, names) for curve in rows]}


def _forest_row(curve: Mapping, limit: float, models: Sequence[str], names: SizeNames) -> dict:
    low_at, dot, right = (round(50 + 50 * number / limit, 2) for number in index_of(curve))
    what = [names(curve["experiment"], curve["size"]), places_in_words(curve["placement"] or "")]
    return {
        "experiment": curve["experiment"],
        "model": curve["model"],
        "colour": models.index(curve["model"]) % len(COLOURS),
        "mark": MARK_PATHS[models.index(curve["model"]) % len(MARK_PATHS)],
        "what": ", ".join(filter(None, what)),
        "n": f"{curve['n']:,}",
        "text": f"{percent(curve['pbi'])} {interval_of(curve, 'pbi')}",
        "words": "; ".join(filter(None, [curve["pbi_class"] if curve["class_certain"] else None, curve["shape"]])),
        "left": low_at,
        "dot": dot,
        "right": right,
    }
