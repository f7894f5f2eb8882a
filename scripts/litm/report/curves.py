"""The interactive figures: what the browser draws, as plain data made of the tables.

A chart is {name, title, x_label, y: [low, high], panels}; a panel {title, ticks: [[x, label], ...], series}; a series
{model (None for a retriever), label, kind, dash, points}, where dash tells experiments apart. A point is
[x, n, accuracy, ci_low, ci_high], fractions with six decimals as in the table; limits that are not known are None, and
the one point of a reference has no x.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, floor
from typing import Any

import pandas as pd

from litm.config.figures import BY_POSITION, BY_SIZE, BY_TARGET
from litm.wording import ordinal

#: Kinds of series: joined points, points alone, published values, a horizontal line.
CURVE, MARKS, PUBLISHED, REFERENCE = "curve", "marks", "published", "reference"
#: The vertical axis shows at least this much.
LEAST_HEIGHT = 0.2


def chart(figure: Mapping, tables: Mapping[str, pd.DataFrame]) -> dict | None:
    """The chart of a figure; None where nothing was scored, and for a kind of figure that has no interactive form.

    figure: settings of a figure, with `recall`, the (questions, corpus, retriever) whose recall is drawn; tables: by
    name, `accuracy` and, if there are any, `retrieval` and `published_comparison`.
    """
    makers = {BY_POSITION: _by_position, BY_SIZE: _by_size, BY_TARGET: _by_target}
    if figure["kind"] not in makers:
        return None
    scored = tables["accuracy"][tables["accuracy"]["n"] > 0]
    cells = _cells_of(figure, scored)
    panels = list(makers[figure["kind"]](figure, cells, _published_cells(figure, tables)))
    if not panels:
        return None
    everywhere = [*_recall(figure["recall"], tables, cells["size"]), *_references(figure, scored, set(cells["model"]))]
    for panel in panels:
        panel["series"] += everywhere
    return {
        "name": figure["name"],
        "title": figure["title"],
        "x_label": figure["x_label"],
        "y": _heights(point for panel in panels for series in panel["series"] for point in series["points"]),
        "panels": panels,
    }


def _cells_of(figure: Mapping, table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a figure's experiments, models and sizes."""
    shown = table["experiment"].isin(figure["experiments"])
    for key, column in (("models", "model"), ("sizes", "size")):
        if figure.get(key):
            shown &= table[column].isin(figure[key])
    return table[shown]


def _published_cells(figure: Mapping, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The published values of a figure, with the columns of the accuracy table, and without intervals."""
    columns = {"published_n": "n", "published": "accuracy"}
    names = ["model", "experiment", "size", "position", *columns]
    if not figure.get("published") or "published_comparison" not in tables:
        return pd.DataFrame(columns=names).rename(columns=columns)
    cells = _cells_of(figure, tables["published_comparison"][names].rename(columns=columns))
    # Tables, text and repository may each have a value of one cell.
    cells = cells.drop_duplicates(["model", "experiment", "size", "position"])
    return cells.assign(ci_low=None, ci_high=None)


def _by_position(figure: Mapping, cells: pd.DataFrame, published: pd.DataFrame) -> Iterator[dict]:
    """A panel for each size, with a curve for each experiment and model."""
    cells = cells[cells["position"].notna() & (cells["size"] > 1)]
    for size, of_size in cells.groupby("size"):
        positions = sorted({int(position) for position in of_size["position"]})
        theirs = published[(published["size"] == size) & published["position"].isin(positions)]
        yield {
            "title": _panel_title(figure, size),
            "ticks": [[position, ordinal(position + 1)] for position in positions],
            "series": [
                *_curves(figure, of_size, "position"),
                *({**one, "kind": PUBLISHED, "label": "published"} for one in _curves(figure, theirs, "position")),
            ],
        }


def _by_size(figure: Mapping, cells: pd.DataFrame, published: pd.DataFrame) -> Iterator[dict]:
    """One panel, with a curve for each experiment and model."""
    sizes = sorted({int(size) for size in cells["size"]})
    if sizes:
        ticks = [[size, str(size)] for size in sizes]
        yield {"title": "", "ticks": ticks, "series": list(_curves(figure, cells, "size"))}


def _by_target(figure: Mapping, cells: pd.DataFrame, published: pd.DataFrame) -> Iterator[dict]:
    """A panel for each experiment, size and placement, with a mark for each target and model."""
    cells = cells[cells["position"].notna()]
    for experiment in figure["experiments"]:
        of_experiment = cells[cells["experiment"] == experiment]
        for (size, _), group in of_experiment.groupby(["size", "placement"], sort=False):
            title = _panel_title(figure, size)
            yield {
                "title": f"{experiment}: {title}" if len(figure["experiments"]) > 1 else title,
                **_targets(group),
            }


def _targets(cells: pd.DataFrame) -> dict:
    """Ticks and series of a panel with the targets of one prompt."""
    targets = cells.sort_values("position").drop_duplicates("target")
    places = {name: index for index, name in enumerate(targets["target"])}
    words = zip(targets["target"], targets["position"], strict=True)
    marks = cells.assign(x=cells["target"].map(places)).groupby("model", sort=False)
    return {
        "ticks": [[index, f"{name}, {ordinal(int(position) + 1)}"] for index, (name, position) in enumerate(words)],
        "series": [_series(model, "", MARKS, 0, of_model, "x") for model, of_model in marks],
    }


def _panel_title(figure: Mapping, size: object) -> str:
    return figure["panel_title"].replace("{size}", str(size))


def _curves(figure: Mapping, cells: pd.DataFrame, x: str) -> Iterator[dict]:
    several = len(figure["experiments"]) > 1
    for dash, experiment in enumerate(figure["experiments"]):
        for model, curve in cells[cells["experiment"] == experiment].groupby("model", sort=False):
            yield _series(model, experiment if several else "", CURVE, dash, curve.sort_values(x), x)


def _series(model: Any, label: str, kind: str, dash: int, cells: pd.DataFrame, x: str) -> dict:
    return {"model": model, "label": label, "kind": kind, "dash": dash, "points": _points(cells, x)}


def _points(cells: pd.DataFrame, x: str, value: str = "accuracy") -> list[list]:
    return [[int(row[x]), *_numbers(row, value)] for row in cells.to_dict("records")]


def _numbers(row: Mapping, value: str = "accuracy") -> list:
    """n, the value and its limits; limits that are not known are None."""
    limits = [None if pd.isna(row[name]) else round(float(row[name]), 6) for name in ("ci_low", "ci_high")]
    return [int(row["n"]), round(float(row[value]), 6), *limits]


def _references(figure: Mapping, scored: pd.DataFrame, models: set[str]) -> Iterator[dict]:
    """A horizontal line for each reference experiment and model that has a curve."""
    for dash, (experiment, label) in enumerate(figure["references"].items()):
        for row in scored[(scored["experiment"] == experiment) & scored["model"].isin(models)].to_dict("records"):
            points = [[None, *_numbers(row)]]
            yield {"model": row["model"], "label": label, "kind": REFERENCE, "dash": dash, "points": points}


def _recall(searches: Sequence, tables: Mapping[str, pd.DataFrame], sizes: pd.Series) -> Iterator[dict]:
    """The recall of each search in the range of the sizes there are."""
    for dash, names in enumerate(searches, start=1):
        found = tables["retrieval"]
        for column, name in zip(("questions", "corpus", "retriever"), names, strict=True):
            found = found[found[column] == name]
        points = _points(found[found["k"].between(sizes.min(), sizes.max())].sort_values("k"), "k", "recall")
        yield {"model": None, "label": f"recall of {names[2]}", "kind": CURVE, "dash": dash, "points": points}


def _heights(points: Iterable[Sequence]) -> list[float]:
    """Lower and upper end of the vertical axis: all values and limits, to the next ten points, and never too close."""
    heights = [height for point in points for height in point[2:] if height is not None]
    low, high = floor(10 * min(heights)) / 10, ceil(10 * max(heights)) / 10
    if high - low < LEAST_HEIGHT:
        low, high = max(0.0, high - LEAST_HEIGHT), max(high, LEAST_HEIGHT)
    return [low, high]
