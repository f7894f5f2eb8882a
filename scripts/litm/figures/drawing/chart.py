"""Figures as plain data: panels of series of points, from which pictures and the report are drawn."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from litm.base.records import plain_rows
from litm.figures.drawing.page import room_of
from litm.figures.drawing.prompt_lengths import length_in_words, with_length
from litm.figures.drawing.rows import absent_models, mean_tokens, models_in, scored, shown_cells

if TYPE_CHECKING:
    import pandas as pd

#: Kinds of series: joined points, points alone, published values, a horizontal line, whole bars, and their parts. The
#: value of a part is its share of the whole bar at the same x.
CURVE, MARKS, PUBLISHED, REFERENCE, WHOLE, PART = "curve", "marks", "published", "reference", "whole", "part"


@dataclass(frozen=True)
class Point:
    """A value with its n and its 95 % limits (None if unknown); x is None for a horizontal line."""

    x: int | None
    n: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Series:
    """Points of one curve, group of marks or line.

    model: None for a retriever's recall; label: distinguishes the series of one model, '' if there is only one; dash:
    index of the line style, from 0, among the series of its kind; of a part, of its colour in `KIND_COLOURS`.
    """

    kind: str
    model: str | None
    label: str
    dash: int
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Panel:
    """Series on the same axes. Titles and tick labels may have several lines.

    ticks: (x, label); absent: models without a scored question in the panel; beyond: models whose prompts exceed their
    training length, with that length.
    """

    title: str
    ticks: tuple[tuple[int, str], ...]
    series: tuple[Series, ...]
    absent: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chart:
    """The panels of a figure, and its models.

    places: places of the models in the study, which decide their colours; facts: texts after a model's name in the
    legend; note: a sentence below the legend's title, '' for none; room: inches, the greatest width of the picture,
    None without a limit.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    models: tuple[str, ...]
    panels: tuple[Panel, ...]
    places: Mapping[str, int]
    facts: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    room: float | None = None

    def series(self, *kinds: str) -> Iterator[Series]:
        """All series of these kinds, panel by panel; without kinds, all series."""
        return (one for panel in self.panels for one in panel.series if not kinds or one.kind in kinds)


def make_chart(
    figure: Mapping, panels: Iterable[Panel], models: Sequence[str], everywhere: Iterable[Series] = ()
) -> Chart:
    """A chart with the settings of a figure; everywhere: series that every panel has."""
    series = tuple(everywhere)
    has_recall = any(one.model is None for one in series)
    return Chart(
        name=figure.get("name", ""),
        title=figure["title"],
        x_label=figure["x_label"],
        y_label="Accuracy, recall (%)" if has_recall else "Accuracy (%)",
        models=tuple(models),
        panels=tuple(replace(panel, series=panel.series + series) for panel in panels),
        places=figure.get("places") or {},
        facts=figure.get("facts") or {},
        room=room_of(figure),
    )


def panel_title(figure: Mapping, size: object, token_counts: "pd.DataFrame | None" = None) -> str:
    """The title of a size's panel, with the mean tokens of its prompts if they are known."""
    return with_length(figure["panel_title"].replace("{size}", str(size)), mean_tokens(figure, token_counts, size))


def points_of(cells: "pd.DataFrame", x: str | None, value: str = "accuracy") -> tuple[Point, ...]:
    """One point per row: n, the column `value`, `ci_low` and `ci_high`, at the column `x`."""
    return tuple(
        Point(
            x=None if x is None else int(row[x]),
            n=int(row["n"]),
            value=float(row[value]),
            low=None if row["ci_low"] is None else float(row["ci_low"]),
            high=None if row["ci_high"] is None else float(row["ci_high"]),
        )
        for row in plain_rows(cells)
    )


def curves(figure: Mapping, cells: "pd.DataFrame", x: str) -> tuple[Series, ...]:
    """One curve over the column x per experiment and model with a scored question."""
    several = len(figure["experiments"]) > 1
    return tuple(
        Series(CURVE, str(model), experiment if several else "", dash, points_of(curve.sort_values(x), x))
        for dash, experiment in enumerate(figure["experiments"])
        for model, curve in scored(cells[cells["experiment"] == experiment]).groupby("model", sort=False)
    )


def published_curves(
    figure: Mapping, published: "pd.DataFrame | None", models: Sequence[str], panel: "pd.DataFrame", x: str
) -> tuple[Series, ...]:
    """Published values of these models in the range of a panel, without intervals, which would hide measured ones.

    panel: the cells of the panel; x: the column of its horizontal axis.
    """
    if published is None:
        return ()
    theirs = shown_cells(figure, published)
    is_in_panel = theirs["size"].isin(panel["size"]) & theirs[x].between(panel[x].min(), panel[x].max())
    theirs = theirs[is_in_panel & theirs["model"].isin(list(models))]
    return tuple(_as_published(one) for one in curves(figure, theirs, x))


def _as_published(series: Series) -> Series:
    points = tuple(replace(point, low=None, high=None) for point in series.points)
    return replace(series, kind=PUBLISHED, label="published", points=points)


def references(figure: Mapping, accuracy: "pd.DataFrame", models: Sequence[str]) -> Iterator[Series]:
    """One horizontal line per reference experiment and model with a scored question."""
    for dash, (experiment, label) in enumerate(figure["references"].items()):
        cells = scored(accuracy[accuracy["experiment"] == experiment])
        for model, cell in zip(cells["model"], points_of(cells, None), strict=True):
            if model in models:
                yield Series(REFERENCE, model, label, dash, (cell,))


def recalls(recall: "pd.DataFrame | None", sizes: Sequence[int]) -> Iterator[Series]:
    """The recall of each search in the range of the sizes, under a distinct name."""
    if recall is None or not sizes:
        return
    shown = recall[recall["k"].between(min(sizes), max(sizes))]
    searches = list(shown.groupby(["retriever", "corpus", "questions"], sort=False))
    are_unique = len({key[0] for key, _ in searches}) == len(searches)
    for dash, ((retriever, corpus, questions), curve) in enumerate(searches, start=1):
        name = retriever if are_unique else f"{retriever} in {corpus} for {questions}"
        yield Series(CURVE, None, f"recall of {name}", dash, points_of(curve.sort_values("k"), "k", "recall"))


def chart_by_size(
    figure: Mapping,
    cells: "pd.DataFrame",
    accuracy: "pd.DataFrame",
    published: "pd.DataFrame | None",
    recall: "pd.DataFrame | None" = None,
    token_counts: "pd.DataFrame | None" = None,
) -> Chart:
    """One panel with the accuracy of `cells` over the sizes.

    cells, published: one row per model, experiment and size; accuracy: rows of the reference experiments. The note has
    the length of each size's prompts, if it is known.
    """
    sizes = sorted({int(size) for size in scored(cells)["size"]})
    models = models_in(cells)
    series = curves(figure, cells, "size") + published_curves(figure, published, models, cells, "size")
    panel = Panel("", tuple((size, str(size)) for size in sizes), series, absent_models(cells))
    everywhere = [*recalls(recall, sizes), *references(figure, accuracy, models)]
    lengths = [(size, length_in_words(mean_tokens(figure, token_counts, size))) for size in sizes]
    told = ", ".join(f"{length} at {size}" for size, length in lengths if length)
    return replace(make_chart(figure, [panel], models, everywhere), note=f"mean prompt: {told}" if told else "")
