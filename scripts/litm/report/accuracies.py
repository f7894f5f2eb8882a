"""Accuracies with positions as columns, and the overview of models and experiments."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import pandas as pd

from litm.analysis.claims.meanings import word_of
from litm.base.messages import ordinal, percent
from litm.report.words import Lengths, SizeNames, place

#: Counts that a row mentions if they are not 0: words and column.
NOTED = {
    "cut": "n_cut", "empty": "n_empty", "refused": "n_refused", "failed": "n_failed",
    "not recorded": "n_not_recorded", "left out": "n_left_out",
}  # fmt: skip


def accuracy_tables(
    accuracy: pd.DataFrame, titles: Mapping[str, str], names: SizeNames, lengths: Lengths
) -> list[dict]:
    """One table {title, headings, rows} per experiment and size: rows are models, columns are positions.

    A row is {name, cells, n, noted}, a cell {value, limits}; noted: cut, empty and lost answers in words. An experiment
    without positions has one table whose columns are its sizes. An experiment with several gold items per prompt has
    gold items as columns, and rows of model and placement.
    """
    found = []
    for name, cells in accuracy.groupby("experiment", sort=False):
        experiment, title = str(name), titles[str(name)]
        if (cells.groupby(["model", "size"]).size() == 1).all():
            columns = [names(experiment, int(size)) for size in cells["size"]]
            found.append(_table(title, cells.assign(column=columns), several=False))
            continue
        for size, of_size in cells.groupby("size", sort=False):
            what = f"{title}, {names.with_length(experiment, cast(int, size), lengths)}"
            several = of_size["target"].nunique() > 1
            column = of_size["target"] if several else of_size["placement"].map(place)
            found.append(_table(what, of_size.assign(column=column), several))
    return found


def _table(title: str, cells: pd.DataFrame, several: bool) -> dict:
    headings = list(dict.fromkeys(cells["column"]))
    keys = ["model", "placement"] if several else ["model"]
    rows = []
    for key, own in cells.groupby(keys, sort=False):
        model, *placement = cast(tuple[str, ...], key)
        by_column = {row["column"]: row for row in own.to_dict("records")}
        rows.append(
            {
                "name": ", ".join([model, *map(place, placement)]),
                "cells": [_cell(by_column.get(heading)) for heading in headings],
                "n": _range(own["n"]),
                "noted": ", ".join(_noted(own)),
            }
        )
    return {"title": title, "headings": headings, "rows": rows, "has_noted": any(row["noted"] for row in rows)}


def _cell(row: Mapping | None) -> dict:
    if row is None or pd.isna(row["accuracy"]):
        return {"value": "-", "limits": ""}
    return {"value": percent(row["accuracy"]), "limits": f"[{percent(row['ci_low'])}, {percent(row['ci_high'])}]"}


def _range(numbers: pd.Series) -> str:
    return " to ".join(f"{number:,}" for number in dict.fromkeys((int(numbers.min()), int(numbers.max()))))


def _noted(cells: pd.DataFrame) -> Iterator[str]:
    for words, column in NOTED.items():
        count = int(cells[column].fillna(0).sum())
        if count:
            yield f"{count:,} {words}"


def overview_table(
    accuracy: pd.DataFrame,
    position_bias: pd.DataFrame | None,
    titles: Mapping[str, str],
    names: SizeNames,
    lengths: Lengths,
) -> dict:
    """Models by experiments: {models, rows}; a row is {title, what, cells}, a cell {text, word}, both '' if empty.

    text: the accuracy with its interval, or the lowest and the highest accuracy of several positions, with n; word: the
    curve's shape, see `meanings.word_of`.
    """
    models = [str(model) for model in dict.fromkeys(accuracy["model"])]
    words: dict[tuple, str] = {}
    if position_bias is not None:
        for row in position_bias[position_bias["placement"].isna()].to_dict("records"):
            words[row["model"], row["experiment"], row["size"]] = word_of(row)[0]
    rows = []
    for key, cells in accuracy.groupby(["experiment", "size"], sort=False):
        experiment, size = cast(tuple[str, int], key)
        of_model = {str(model): own for model, own in cells.groupby("model")}
        rows.append(
            {
                "title": titles[experiment],
                "what": names.with_length(experiment, size, lengths),
                "cells": [
                    _overview_cell(of_model.get(model), words.get((model, experiment, size), "")) for model in models
                ],
            }
        )
    return {"models": models, "rows": rows}


def _overview_cell(cells: pd.DataFrame | None, word: str) -> dict:
    scored = [] if cells is None else cells[cells["accuracy"].notna()].to_dict("records")
    if not scored:
        return {"text": "", "word": ""}
    n = f"n = {_range(pd.Series([row['n'] for row in scored]))}"
    if len(scored) == 1:
        return {"text": f"{percent(scored[0]['accuracy'])} {_cell(scored[0])['limits']}, {n}", "word": ""}
    low, high = _ends(scored)
    return {"text": f"{low} to {high}, {n}", "word": word}


def _ends(rows: Sequence[Mapping]) -> tuple[str, str]:
    """The lowest and the highest accuracy, each with its position if cells have one gold item."""
    ends = []
    for choose in (min, max):
        row = choose(rows, key=lambda row: row["accuracy"])
        where = "" if pd.isna(row["position"]) else f" ({ordinal(int(row['position']) + 1)})"
        ends.append(percent(row["accuracy"]) + where)
    return ends[0], ends[1]
