"""Figures as plain data: the rows that one shows, and panels of series of points, for pictures and the report."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter

import pandas as pd

from litm.analysis.pbi import PLACES, is_near
from litm.base.groups import grouped
from litm.base.messages import in_range, ordinal
from litm.base.table_files import plain_rows
from litm.figures.kinds import room_of
from litm.placements import gold_depths, gold_positions

#: Kinds of series: joined points, points alone, published values, a horizontal line, whole bars, their parts, and the
#: curve of another model behind those of a panel. The value of a part is its share of the whole bar at the same x.
CURVE, MARKS, PUBLISHED, REFERENCE, WHOLE, PART = "curve", "marks", "published", "reference", "whole", "part"
BEHIND = "behind"


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
    """Points of one curve, group of marks or line."""

    kind: str
    model: str | None
    """None for a retriever's recall."""
    label: str
    """Distinguishes the series of one model, '' if there is only one."""
    dash: int
    """Index of the line style, from 0, among the series of its kind; of a part, of its colour in `KIND_COLOURS`."""
    points: tuple[Point, ...]
    gaps: tuple[int, ...] = ()
    """Places of the experiment where it has no point, so that no line crosses them."""


@dataclass(frozen=True)
class Panel:
    """Series on the same axes. Titles and tick labels may have several lines."""

    title: str
    ticks: tuple[tuple[int, str], ...]
    """(x, label)."""
    series: tuple[Series, ...]
    absent: tuple[str, ...] = ()
    """Models without a scored question in the panel."""
    beyond: tuple[str, ...] = ()
    """Models whose prompts exceed their training length, with that length."""
    model: str = ""
    """The model whose curves are in colour; '' for all models."""
    chances: tuple[float, ...] = ()
    """Chance levels, each a thin line."""


@dataclass(frozen=True)
class Chart:
    """The panels of a figure, and its models."""

    name: str
    title: str
    x_label: str
    y_label: str
    models: tuple[str, ...]
    panels: tuple[Panel, ...]
    places: Mapping[str, int]
    """Places of the models in the study, which decide their colours."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Texts after a model's name in the legend."""
    note: str = ""
    """A sentence below the legend's title, '' for none."""
    room: float | None = None
    """Inches, the greatest width of the picture, None without a limit."""
    by_model: int = 0
    """Number of panels of each model, which follow one another; 0 if panels show all models."""

    def series(self, *kinds: str) -> Iterator[Series]:
        """All series of these kinds, panel by panel; without kinds, all series."""
        return (trace for panel in self.panels for trace in panel.series if not kinds or trace.kind in kinds)


def make_chart(
    figure: Mapping, panels: Iterable[Panel], models: Sequence[str], everywhere: Iterable[Series] = ()
) -> Chart:
    """A chart with the settings of a figure; everywhere: series that every panel has."""
    series = tuple(everywhere)
    has_recall = any(trace.model is None for trace in series)
    return Chart(
        name=figure.get("name", ""),
        title=figure["title"],
        x_label=figure["x_label"],
        y_label=measure_label(figure, ", recall" if has_recall else ""),
        models=tuple(models),
        panels=tuple(replace(panel, series=panel.series + series) for panel in panels),
        places=figure.get("places") or {},
        facts=figure.get("facts") or {},
        note=figure.get("judged", ""),
        room=room_of(figure),
    )


def measure_label(figure: Mapping, more: str = "") -> str:
    """The label of an axis of accuracies, or of means of a graded metric."""
    return f"{figure.get('measure', 'Accuracy')}{more} (%)"


def panel_title(
    figure: Mapping, size: object, token_counts: pd.DataFrame | None = None, drawn: pd.DataFrame | None = None
) -> str:
    """The title of a size's panel, with the mean tokens of its prompts if they are known. drawn: see `mean_tokens`."""
    return with_length(of_size(figure["panel_title"], str(size)), mean_tokens(figure, token_counts, size, drawn))


def of_size(title: str, size: str) -> str:
    """A title with its number of items: `10 documents`, `1 document`."""
    filled = title.replace("{size}", size)
    return filled.removesuffix("s") if size == "1" and re.fullmatch(r"\{size\} \w+", title) else filled


def points_of(cells: pd.DataFrame, x: str | None, value: str = "accuracy", n: str = "n") -> tuple[Point, ...]:
    """One point per row at the column `x`: the columns `n` and `value`, with its own limits or else the only ones."""
    prefix = f"{value}_" if f"{value}_ci_low" in cells else ""
    low, high = f"{prefix}ci_low", f"{prefix}ci_high"
    return tuple(
        Point(None if x is None else int(row[x]), int(row[n]), float(row[value]), row[low], row[high])
        for row in plain_rows(cells)
    )


def curves(figure: Mapping, cells: pd.DataFrame, x: str) -> tuple[Series, ...]:
    """One curve over the column x per experiment and model with a scored question."""
    several = len(figure["experiments"]) > 1
    return tuple(
        Series(
            CURVE, str(model), experiment if several else "", dash,
            points_of(curve.sort_values(x), x), gaps_of(curve[x], cells_of_experiment[x]),
        )
        for dash, experiment in enumerate(figure["experiments"])
        for cells_of_experiment in [cells[cells["experiment"] == experiment]]
        for model, curve in scored(cells_of_experiment).groupby("model", sort=False)
    )  # fmt: skip


def gaps_of(places: Iterable[int], every: Iterable[int]) -> tuple[int, ...]:
    """Every place that is not among these."""
    return tuple(sorted({*map(int, every)} - {*map(int, places)}))


def published_curves(
    figure: Mapping, published: pd.DataFrame | None, models: Sequence[str], panel: pd.DataFrame, x: str
) -> tuple[Series, ...]:
    """Published values of these models in the range of a panel, without intervals, which would hide measured ones.

    panel: the cells of the panel; x: the column of its horizontal axis.
    """
    if published is None:
        return ()
    theirs = shown_cells(figure, published)
    is_in_panel = theirs["size"].isin(panel["size"]) & theirs[x].between(panel[x].min(), panel[x].max())
    theirs = theirs[is_in_panel & theirs["model"].isin(list(models))]
    return tuple(
        replace(
            curve, kind=PUBLISHED, label="published", gaps=(),
            points=tuple(replace(p, low=None, high=None) for p in curve.points),
        )
        for curve in curves(figure, theirs, x)
    )  # fmt: skip


def references(figure: Mapping, accuracy: pd.DataFrame, models: Sequence[str]) -> Iterator[Series]:
    """One horizontal line per reference experiment and model with a scored question."""
    for dash, (experiment, label) in enumerate(figure["references"].items()):
        cells = scored(accuracy[accuracy["experiment"] == experiment])
        for model, cell in zip(cells["model"], points_of(cells, None), strict=True):
            if model in models:
                yield Series(REFERENCE, model, label, dash, (cell,))


def recalls(recall: pd.DataFrame | None, sizes: Sequence[int]) -> Iterator[Series]:
    """The recall of each search in the range of the sizes, under a distinct name."""
    if recall is None or not sizes:
        return
    shown = recall[recall["k"].between(min(sizes), max(sizes))]
    searches = list(shown.groupby(["retriever", "corpus", "questions"], sort=False))
    are_unique = len({key[0] for key, _ in searches}) == len(searches)
    for dash, ((retriever, corpus, questions), curve) in enumerate(searches, start=1):
        name = retriever if are_unique else f"{retriever} in {corpus} for {questions}"
        yield Series(CURVE, None, f"recall of {name}", dash, points_of(curve.sort_values("k"), "k", "recall"))


def recall_of(retrieval: pd.DataFrame, searches: Iterable[Sequence[str]]) -> pd.DataFrame:
    """The rows of the retrieval table of these searches (questions, corpus, retriever), in their order."""
    names = retrieval[["questions", "corpus", "retriever"]]
    return pd.concat([retrieval[(names == list(search)).all(axis=1)] for search in searches])


@dataclass(frozen=True)
class Rows:
    """Rows of tables that a figure reads; `inputs` of its kind names the fields that are set."""

    accuracy: pd.DataFrame = None  # type: ignore[assignment]
    """Rows of accuracy.csv."""
    scores: Iterable[pd.DataFrame] = ()
    """Score rows, one table per sweep."""
    recall: pd.DataFrame | None = None
    """Recall tables of the figure's retrievers."""
    published: pd.DataFrame | None = None
    """Published accuracies, with the columns of the accuracy table."""
    position_bias: pd.DataFrame = None  # type: ignore[assignment]
    """Rows of position_bias.csv; the fields below are of the tables of their names."""
    condition_differences: pd.DataFrame = None  # type: ignore[assignment]
    advice: pd.DataFrame = None  # type: ignore[assignment]
    log_probability: pd.DataFrame = None  # type: ignore[assignment]
    token_counts: pd.DataFrame | None = None
    """Rows of token_counts.csv, None if no tokens were counted."""
    two_facts: pd.DataFrame = None  # type: ignore[assignment]
    """Rows of two_facts.csv."""
    wrong_answers: pd.DataFrame | None = None
    """None if the study has no such table."""


def shown_cells(figure: Mapping, cells: pd.DataFrame, side: str = "") -> pd.DataFrame:
    """The rows of a figure's experiments, models and sizes; side: the end of these columns' names."""
    shown = cells[f"experiment{side}"].isin(list(figure["experiments"]))
    for key, column in (("models", "model"), ("sizes", "size")):
        if figure.get(key):
            shown &= cells[f"{column}{side}"].isin(list(figure[key]))
    return cells[shown]


def mean_tokens(
    figure: Mapping, token_counts: pd.DataFrame | None, size: object, drawn: pd.DataFrame | None = None
) -> dict[str, float]:
    """Mean tokens of a prompt of this size, by model, over the figure's experiments and their placements.

    token_counts: rows of token_counts.csv, which lacks models without counted tokens; None without any. drawn: cells
    whose models alone count, if any of them is counted.
    """
    if token_counts is None:
        return {}
    rows = shown_cells(figure, token_counts)
    rows = rows[(rows["size"] == size) & rows["tokens_mean"].notna()]
    if drawn is not None and (is_drawn := rows["model"].isin(scored(drawn[drawn["size"] == size])["model"])).any():
        rows = rows[is_drawn]
    return {str(model): float(mean) for model, mean in rows.groupby("model", sort=False)["tokens_mean"].mean().items()}


def positioned(figure: Mapping, cells: pd.DataFrame) -> pd.DataFrame:
    """The rows of a figure with a position among several."""
    cells = shown_cells(figure, cells)
    return cells[cells["position"].notna() & (cells["size"] > 1)]


def scored(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells with a scored question."""
    return cells[cells["n"] > 0]


def with_beside(figure: Mapping, accuracy: pd.DataFrame, beside: pd.DataFrame | None) -> pd.DataFrame:
    """Accuracies, with those of the models beside that a figure shows. beside: rows of beside_accuracy.csv."""
    if beside is None or not figure.get("beside"):
        return accuracy
    return pd.concat([accuracy, beside[beside["model"].isin([*figure["beside"]])]], ignore_index=True)


def without_doubt(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Accuracies, those in doubt (`doubt` in accuracy.csv) as if nothing was scored: no figure draws them."""
    return accuracy.assign(n=accuracy["n"].where(accuracy["doubt"].isna(), 0)) if "doubt" in accuracy else accuracy


def models_in(cells: pd.DataFrame) -> list[str]:
    """Models in the order of their first rows."""
    return list(dict.fromkeys(cells["model"]))


def absent_models(cells: pd.DataFrame) -> tuple[str, ...]:
    """Models without a scored question in any cell, for example because no prompt fits their context window."""
    present = set(scored(cells)["model"])
    return tuple(model for model in models_in(cells) if model not in present)


def length_in_words(means: Mapping[str, float], about: str = "~") -> str:
    """~2,900 tokens, or ~2,600 to 3,100 tokens if the models' tokenizers differ by more; '' if nothing is known.

    Numbers have two significant digits.
    """
    return f"{about}{in_range(float(f'{mean:.1e}') for mean in means.values())} tokens" if means else ""


def with_length(title: str, means: Mapping[str, float]) -> str:
    """The title of a size with the length of its prompts, unless it mentions tokens itself."""
    length = "" if "token" in title else length_in_words(means)
    return f"{title}, {length}" if length else title


def longer_than_trained(means: Mapping[str, float], training_lengths: Mapping[str, int]) -> tuple[str, ...]:
    """Models whose prompts exceed their training length, with that length in tokens."""
    return tuple(
        f"{model} ({training_lengths[model]:,})"
        for model, mean in means.items()
        if mean > training_lengths.get(model, mean)
    )


def ordinals(positions: Iterable[int]) -> str:
    """Positions from 0 in words: `1st, 150th, 300th`."""
    return ", ".join(ordinal(int(position) + 1) for position in positions)


def places_in_words(placement: str) -> str:
    """Places of a prompt's gold items: `5th`, `1st, 150th, 300th`, `depth 0.5`, or the placement in words."""
    if depths := gold_depths(placement):
        return f"depth{'s' if len(depths) > 1 else ''} {', '.join(f'{depth:g}' for depth in depths)}"
    return ordinals(gold_positions(placement)) or placement.replace("_", " ")


def target_labels(cells: pd.DataFrame) -> pd.Series:
    """What gold items of one prompt are called: their names, or `1st item` and so on for items called start, middle and
    end that are elsewhere in the context.
    """
    number = cells["target"].map({name: place for place, name in enumerate(PLACES)})
    named = zip(cells["target"], cells["depth"], strict=True)
    is_elsewhere = any(name in PLACES and pd.notna(depth) and not is_near(name, depth) for name, depth in named)
    return number.map(lambda position: f"{ordinal(int(position) + 1)} item") if is_elsewhere else cells["target"]


def indexed_curves(position_bias: pd.DataFrame) -> list[dict]:
    """Rows of position_bias.csv grouped by experiment; experiments and rows in the order of the table."""
    by_experiment = grouped(plain_rows(position_bias), itemgetter("experiment"))
    return [row for rows in by_experiment.values() for row in rows]


def index_of(curve: Mapping) -> tuple[float, ...]:
    """Lower limit, index and upper limit of a row of position_bias.csv as fractions; () without an index."""
    return () if curve["pbi"] is None else tuple(curve[f"pbi{end}"] for end in ("_ci_low", "", "_ci_high"))
