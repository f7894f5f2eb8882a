"""Score rows of the same questions as matrices: by position, by model, or by experiment.

Only questions that were scored everywhere are compared. Missing values are None, never NaN.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from litm.analysis.clusters import cluster_codes, contrast_interval, sign_test_p
from litm.analysis.statistics import Estimate, paired_difference
from litm.base.messages import UserError

#: Columns of a cell: score rows of several models that agree in them are compared question by question.
CELL = ["experiment", "task", "metric", "size", "placement", "position", "depth", "target"]
#: Columns of a paired difference, see `difference_columns`.
DIFFERENCE = ["difference", "ci_low", "ci_high", "n_right_only_a", "n_right_only_b", "p_value"]


@dataclass(frozen=True)
class CompleteCases:
    """One sweep at one size: its names, its positions in order, and its complete cases."""

    names: dict[str, object]
    positions: list[int]
    depths: list[float]
    #: (questions, positions), 1 if right.
    matrix: np.ndarray
    n_incomplete: int
    #: Number of each question's cluster; None without clusters.
    clusters: np.ndarray | None
    all_empty: bool
    all_too_long: bool


def curves(scores: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the rows of each size of one sweep with positions to compare, in the order of the rows.

    Gold items that one prompt asks for are one curve; with several placements, each placement is one.
    """
    with_position = scores[scores["position"].notna()]
    several = with_position["target"].nunique() > 1
    for _, group in with_position.groupby(["size", "placement"] if several else ["size"], sort=False):
        if group["position"].nunique() > 1:
            yield group


def complete_cases(scores: pd.DataFrame) -> CompleteCases:
    """The questions that were scored at every position of one (model, experiment, size).

    A question is incomplete if it lacks a position, was excluded, or has no verdict at some position. Rows without a
    position (closed book) are left out. Targets may differ if each has its own positions; if one prompt asks for all,
    their placement is among the names. Raises `UserError` without rows, for rows of several sweeps, and for a question
    that occurs twice at a position.
    """
    scores = scores[scores["position"].notna()]
    if scores.empty:
        raise UserError("no score rows with a position: there are no positions to compare")
    names = {name: _only(scores, name) for name in ("model", "experiment", "task", "metric", "size", "items")}
    together = scores["placement"].nunique() == 1 and scores["position"].nunique() > 1
    names["placement"] = scores["placement"].iloc[0] if together else None
    names["target"] = ", ".join(dict.fromkeys(scores.sort_values("position", kind="stable")["target"]))
    positions, grid = verdict_grid(scores, "position", f"{names['model']}, {names['experiment']}, size {names['size']}")
    depths = dict(zip(scores["position"], scores["depth"], strict=True))
    complete = ~np.isnan(grid).any(axis=1)
    return CompleteCases(
        names=names,
        positions=positions,
        depths=[float(depths[position]) for position in positions],
        matrix=grid[complete].astype(np.int64),
        n_incomplete=int((~complete).sum()),
        clusters=cluster_codes(scores, pd.Index(pd.factorize(scores["id"])[1])[complete]),
        all_empty=bool(scores["empty"].all()),
        all_too_long=bool(scores["excluded"].all()),
    )


def difference_columns(only_a: int, only_b: int, n: int) -> dict:
    """Values of the columns `DIFFERENCE`; only_a, only_b: questions of n that are right on one side only."""
    result = paired_difference(only_a, only_b, n)
    counts = {"n_right_only_a": only_a, "n_right_only_b": only_b}
    return {**interval_columns("difference", result.estimate, is_only=True), **counts, "p_value": result.p_value}


def clustered_difference_columns(pair: np.ndarray, clusters: np.ndarray) -> dict:
    """The same for questions in clusters; pair: (questions, 2), 1 if side a, or b, is right."""
    only_a, only_b = pair[:, 0] > pair[:, 1], pair[:, 1] > pair[:, 0]
    return {
        **interval_columns("difference", contrast_interval(pair, [1, -1], clusters), is_only=True),
        "n_right_only_a": int(only_a.sum()),
        "n_right_only_b": int(only_b.sum()),
        "p_value": sign_test_p(only_a, only_b, clusters),
    }


def interval_columns(name: str, estimate: Estimate | None, is_only: bool = False) -> dict:
    """An estimate as the columns of `table.with_interval`, all None without an estimate."""
    values = (estimate.value, estimate.low, estimate.high) if estimate else (None,) * 3
    prefix = "" if is_only else f"{name}_"
    return dict(zip((name, f"{prefix}ci_low", f"{prefix}ci_high"), values, strict=True))


def verdict_grid(scores: pd.DataFrame, column: str, where: str) -> tuple[list, np.ndarray]:
    """The column's values, and (questions, values): 1 right, 0 wrong, NaN if not scored.

    Values ascend, except names of models, which keep the order of the rows, as in the config.
    """
    row, ids = pd.factorize(scores["id"])
    at, values = pd.factorize(scores[column], sort=column != "model")
    cells = row * len(values) + at
    twice = pd.Series(cells).duplicated().to_numpy()
    if twice.any():
        id_, value = divmod(int(cells[twice][0]), len(values))
        raise UserError(
            f"{where}: question {ids[id_]} occurs twice at {column} {values[value]} ({int(twice.sum())} such rows): "
            "give every question an id of its own, and compare one target at a time"
        )
    verdicts = scores["correct"].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    verdicts[scores["excluded"].to_numpy(dtype=bool)] = np.nan
    grid = np.full(len(ids) * len(values), np.nan)
    grid[cells] = verdicts
    return [_plain(value) for value in values], grid.reshape(len(ids), len(values))


def _only(scores: pd.DataFrame, name: str) -> object:
    values = list(scores[name].unique())
    if len(values) > 1:
        raise UserError(f"score rows of more than one {name} ({values[0]}, {values[1]}): compare them one by one")
    return _plain(values[0])


def names_of(columns: list[str], values: tuple) -> dict[str, object]:
    """Column names with their values; a missing position or depth is None."""
    return {name: None if pd.isna(value) else _plain(value) for name, value in zip(columns, values, strict=True)}


def _plain(value: object) -> object:
    """A numpy number as a Python number, which JSON can write."""
    return value.item() if isinstance(value, np.generic) else value


def generator_for(seed: int, *names: object) -> np.random.Generator:
    """The random generator of one item, from the config's seed and the item's name."""
    return np.random.default_rng(list("/".join(map(str, (seed, "position_bias", *names))).encode()))
