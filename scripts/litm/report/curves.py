"""The interactive figures: what the browser draws, as plain data made of the tables.

A chart is {name, title, x_label, y: [low, high], panels}; a panel {title, ticks: [[x, label], ...], series}; a series
{model (None for a retriever), label, kind: 'curve', 'bars' or 'reference', dash, points}. A point is
[x, n, accuracy, ci_low, ci_high], fractions with six decimals as in the table; the one point of a reference has no x.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, floor

import pandas as pd

from litm.config.figures import BY_POSITION, BY_SIZE, BY_TARGET
from litm.wording import ordinal

CURVE, MARKS, REFERENCE = "curve", "marks", "reference"
#: The vertical axis shows at least this much.
LEAST_HEIGHT = 0.2


def chart(figure: Mapping, accuracy: pd.DataFrame, retrieval: pd.DataFrame | None) -> dict | None:
    """The chart of a figure; None for a kind of figure that has no interactive form.

    figure: settings of a figure, with `recall`, the (questions, corpus, retriever) whose recall is drawn; accuracy:
    rows of `accuracy.accuracy_table`; retrieval: rows of `recall.recall_rows`.
    """
    makers = {BY_POSITION: _by_position, BY_SIZE: _by_size, BY_TARGET: _by_target}
    if figure["kind"] not in makers:
        return None
    scored = accuracy[accuracy["n"] > 0]
    cells = scored[scored["experiment"].isin(figure["experiments"])]
    panels = list(makers[figure["kind"]](figure, cells))
    references = list(_references(figure, scored, set(cells["model"])))
    recall = [] if retrieval is None else list(_recall(figure["recall"], retrieval, cells["size"]))
    for panel in panels:
        panel["series"] += [*recall, *references]
    if not panels:
        return None
    return {
        "name": figure["name"],
        "title": figure["title"],
        "x_label": figure["x_label"],
        "y": _heights(point for panel in panels for series in panel["series"] for point in series["points"]),
        "panels": panels,
    }


def _by_position(figure: Mapping, cells: pd.DataFrame) -> Iterator[dict]:
    """A panel for each size, with a curve for each experiment and model."""
    cells = cells[cells["position"].notna() & (cells["size"] > 1)]
    for size, of_size in cells.groupby("size"):
        positions = sorted({int(position) for position in of_size["position"]})
        yield {
            "title": _panel_title(figure, size),
            "ticks": [[position, ordinal(position + 1)] for position in positions],
            "series": list(_curves(figure, of_size, "position")),
        }


def _by_size(figure: Mapping, cells: pd.DataFrame) -> Iterator[dict]:
    """One panel, with a curve for each experiment and model."""
    sizes = sorted({int(size) for size in cells["size"]})
    if sizes:
        ticks = [[size, str(size)] for size in sizes]
        yield {"title": "", "ticks": ticks, "series": list(_curves(figure, cells, "size"))}


def _by_target(figure: Mapping, cells: pd.DataFrame) -> Iterator[dict]:
    """A panel for each experiment, size and placement, with a mark for each target and model."""
    cells = cells[cells["position"].notna()]
    for experiment in figure["experiments"]:
        of_experiment = cells[cells["experiment"] == experiment]
        for (size, _), group in of_experiment.groupby(["size", "placement"], sort=False):
            targets = group.sort_values("position").drop_duplicates("target")
            places = {name: index for index, name in enumerate(targets["target"])}
            ticks = [
                [index, f"{name}, {ordinal(int(position) + 1)}"]
                for index, (name, position) in enumerate(zip(targets["target"], targets["position"], strict=True))
            ]
            title = _panel_title(figure, size)
            yield {
                "title": f"{experiment}: {title}" if len(figure["experiments"]) > 1 else title,
                "ticks": ticks,
                "series": [
                    _series(model, "", MARKS, 0, marks.assign(x=marks["target"].map(places)), "x")
                    for model, marks in group.groupby("model", sort=False)
                ],
            }


def _panel_title(figure: Mapping, size: object) -> str:
    return figure["panel_title"].replace("{size}", str(size))


def _curves(figure: Mapping, cells: pd.DataFrame, x: str) -> Iterator[dict]:
    several = len(figure["experiments"]) > 1
    for dash, experiment in enumerate(figure["experiments"]):
        for model, curve in cells[cells["experiment"] == experiment].groupby("model", sort=False):
            yield _series(model, experiment if several else "", CURVE, dash, curve.sort_values(x), x)


def _series(model: str | None, label: str, kind: str, dash: int, cells: pd.DataFrame, x: str) -> dict:
    return {"model": model, "label": label, "kind": kind, "dash": dash, "points": _points(cells, x)}


def _points(cells: pd.DataFrame, x: str, value: str = "accuracy") -> list[list]:
    return [
        [int(row[x]), int(row["n"]), *(round(float(row[name]), 6) for name in (value, "ci_low", "ci_high"))]
        for row in cells.to_dict("records")
    ]


def _references(figure: Mapping, scored: pd.DataFrame, models: set[str]) -> Iterator[dict]:
    """A horizontal line for each reference experiment and model that has a curve."""
    for dash, (experiment, label) in enumerate(figure["references"].items()):
        for row in scored[(scored["experiment"] == experiment) & scored["model"].isin(models)].to_dict("records"):
            point = [None, int(row["n"]), *(round(float(row[k]), 6) for k in ("accuracy", "ci_low", "ci_high"))]
            yield {"model": row["model"], "label": label, "kind": REFERENCE, "dash": dash, "points": [point]}


def _recall(searches: Iterable[Sequence[str]], retrieval: pd.DataFrame, sizes: pd.Series) -> Iterator[dict]:
    """The recall of each search at the sizes there are."""
    for dash, (questions, corpus, retriever) in enumerate(searches, start=1):
        search = retrieval[
            (retrieval["questions"] == questions)
            & (retrieval["corpus"] == corpus)
            & (retrieval["retriever"] == retriever)
            & retrieval["k"].between(sizes.min(), sizes.max())
        ]
        points = _points(search.sort_values("k"), "k", "recall")
        yield {"model": None, "label": f"recall of {retriever}", "kind": CURVE, "dash": dash, "points": points}


def _heights(points: Iterable[Sequence[float]]) -> list[float]:
    """Lower and upper end of the vertical axis: all intervals, to the next ten points, and never too close."""
    limits = [limit for point in points for limit in point[3:]]
    low, high = floor(10 * min(limits)) / 10, ceil(10 * max(limits)) / 10
    if high - low < LEAST_HEIGHT:
        low, high = max(0.0, high - LEAST_HEIGHT), max(high, LEAST_HEIGHT)
    return [low, high]
