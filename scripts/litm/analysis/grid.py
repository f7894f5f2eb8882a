"""Answers as matrices of questions and cells, by position, by model or by source; and files of score rows.

Only questions that were scored everywhere are compared. Missing values of rows are None, never NaN.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TypedDict, cast

import numpy as np
import pandas as pd

from litm.analysis.pbi import CONTRASTS, PLACES, limit_of, place_indices
from litm.analysis.significance import paired_p
from litm.analysis.statistics import Answers, Estimate, Moments, Weights, as_answers, moments, proportion
from litm.base.groups import grouped
from litm.base.messages import UserError
from litm.base.table_files import by_cell, read_parquet
from litm.placements import gold_places
from litm.scoring.doubts import curve_doubt, sound
from litm.scoring.judge_error import Labelled, corrected_accuracy
from litm.tables.table import tables

#: Names of the readings: by the part that the metric reads, by the first line and by the whole answer.
CORRECT, FIRST_LINE, FULL = "correct", "first_line", "full"
#: Their columns of score rows.
READINGS = {CORRECT: "correct", FIRST_LINE: "correct_first_line", FULL: "correct_full"}


@dataclass(frozen=True)
class Files:
    """Files of one kind, in the order of the table's rows."""

    paths: Sequence[str]

    @property
    def path(self) -> str:
        """The single file; `ValueError` if there are several or none."""
        (path,) = self.paths
        return path

    def scores(self) -> Iterator[pd.DataFrame]:
        """Yield the score rows of each sweep."""
        return map(read_parquet, self.paths)

    def by_experiment(self) -> Iterator[pd.DataFrame]:
        """Yield the score rows of each experiment, with all its models."""
        files = grouped(self.paths, lambda path: tuple(read_parquet(path, ["experiment"])["experiment"].unique()))
        return (pd.concat(map(read_parquet, same)) for same in files.values())

    def joined(self, table: str) -> pd.DataFrame:
        """The rows of all CSV files, which have the columns of this table."""
        return pd.concat([tables()[table].read(path) for path in self.paths], ignore_index=True)


#: Columns of a cell: score rows of several models that agree in them are compared question by question.
CELL = ["experiment", "task", "metric", "size", "placement", "position", "depth", "target"]
#: Columns in which the rows of a curve agree.
CURVE = ["model", "experiment", "task", "metric", "size", "items"]
#: Position of a cell without a gold item.
NOWHERE = -1


@dataclass(frozen=True)
class Grid:
    """Answers to questions (rows) in cells (columns)."""

    columns: list
    """What tells the cells apart."""
    ids: pd.Index
    """Ids of the questions."""
    answers: Mapping[str, np.ndarray]
    """By reading, 1 right, 0 wrong, between if graded, NaN if not scored."""
    clusters: np.ndarray | None
    """One number per question, None without."""
    strict: np.ndarray | None = None
    """(questions, cells): the verdicts of the strict rule, of judged answers that have labels."""
    labels: np.ndarray | None = None
    """(questions, cells): the labels of these, NaN without one."""

    @cached_property
    def labelled(self) -> Labelled | None:
        """The judged answers of a grid of complete questions with their labels, if these suffice for a correction."""
        if self.labels is None or self.strict is None or not len(self.ids):
            return None
        labelled = Labelled(as_answers(self.answers[CORRECT]), self.strict, self.labels, self.clusters)
        return labelled if labelled.is_complete else None

    @property
    def measured(self) -> Answers:
        """What statistics are computed of: the answers, of a grid of complete questions; if they are judged and have
        labels, with these, which correct accuracies and contrasts.
        """
        return self.matrix if self.labelled is None else self.labelled

    def contrast(self, weights: Weights) -> Moments:
        """A contrast of the columns, see `statistics.moments`."""
        return moments(self.measured, weights, self.clusters)

    def difference_p(self, first: int, second: int) -> float:
        """The p value of two equal columns: exact, unless labels correct them."""
        if self.labelled is None:
            return paired_p(self.matrix[:, [first, second]], self.clusters)
        columns = np.eye(len(self.columns))
        return self.contrast(columns[first] - columns[second]).p_value

    @cached_property
    def accuracies(self) -> list[Estimate]:
        """The accuracy in each cell, of a grid of complete questions; [] without questions."""
        if self.labelled is not None:
            return [Estimate(*corrected_accuracy(self.labelled.at(column))) for column in range(len(self.columns))]
        estimates = (proportion(column, self.clusters) for column in self.matrix.T)
        return [estimate for estimate in estimates if estimate]

    def limit(self, columns: Sequence[int] | np.ndarray | None = None) -> str | None:
        """Why the accuracies in these cells, or in all, cannot show a difference, see `pbi.limit_of`."""
        at = range(len(self.columns)) if columns is None else columns
        right = self.right.sum(axis=0)
        return limit_of([right[i] for i in at], len(self.ids), [self.accuracies[i].limits for i in at])

    @property
    def right(self) -> np.ndarray:
        """(questions, cells): the answers as the metric reads them; their expected values, if they are corrected."""
        return self.matrix if self.labelled is None else self.labelled.expected

    @cached_property
    def scored(self) -> np.ndarray:
        """(questions, cells): whether an answer was scored."""
        return ~np.isnan(self.answers[CORRECT])

    @cached_property
    def matrix(self) -> np.ndarray:
        """The answers as the metric reads them, of a grid of complete questions."""
        return as_answers(self.answers[CORRECT])

    def complete(self, columns: Sequence[int] | None = None) -> "Grid":
        """The questions that were scored in all these cells, or in all, and their answers there."""
        at = list(range(len(self.columns)) if columns is None else columns)
        rows = np.flatnonzero(self.scored[:, at].all(axis=1))
        answers = {reading: grid[rows][:, at] for reading, grid in self.answers.items()}
        codes = None if self.clusters is None else pd.factorize(self.clusters[rows])[0]
        judged = [None if grid is None else grid[rows][:, at] for grid in (self.strict, self.labels)]
        return Grid([self.columns[index] for index in at], self.ids[rows], answers, codes, *judged)

    def at(self, places: Sequence[Sequence[int]]) -> "Grid":
        """The questions that were scored in all columns of these places, and the mean of the columns of each place."""
        answers = {reading: place_means(grid, places) for reading, grid in self.answers.items()}
        # The mean of two answers has no label.
        is_single = all(len(columns) == 1 for columns in places)
        strict, labels = (
            place_means(grid, places) if is_single and grid is not None else None for grid in (self.strict, self.labels)
        )
        columns = [self.columns[columns[0]] for columns in places]
        return replace(self, columns=columns, answers=answers, strict=strict, labels=labels).complete()


class CurveNames(TypedDict):
    """The first columns of tables of curves."""

    model: str
    experiment: str
    task: str
    metric: str
    size: int
    items: int | None
    placement: str | None
    target: str


@dataclass(frozen=True, kw_only=True)
class CurveGrid(Grid):
    """The answers of one model, experiment and size; the columns are positions, `NOWHERE` without a gold item."""

    names: CurveNames
    """The columns of a table that name the curve."""
    depths: list[float]
    """The depths of the positions, 0 to 1."""
    all_empty: bool
    """Whether all answers are empty."""
    all_too_long: bool
    """Whether all questions are too long at some position."""
    doubt: str | None
    """Why the curve is in doubt, see `doubts.curve_doubt`; None if it is not."""

    @property
    def positions(self) -> list[int]:
        return self.columns

    @property
    def size(self) -> int:
        return self.names["size"]

    @cached_property
    def cases(self) -> Grid:
        """The questions that were scored at every position."""
        return self.complete()

    @cached_property
    def missing_information(self) -> str | None:
        """The reason why positions cannot be distinguished, or None if they can.

        Floor: at every position the interval of the accuracy (`clustered_interval`) reaches down to 2 %. Ceiling: at
        every position it reaches up to 98 %. Such a curve cannot show an effect, so its PBI near 0 does not mean a flat
        curve. It is no reason that no question differs between positions: between floor and ceiling this is a flat
        curve, and the intervals give its precision.
        """
        n = len(self.cases.ids)
        if not n:
            return "no question fits the context" if self.all_too_long else "no question was scored at every position"
        if self.all_empty:
            return "all answers are empty"
        if self.doubt:
            return self.doubt
        return "too few questions" if n == 1 else self.cases.limit()

    @property
    def places(self) -> dict[str, tuple[int, ...]]:
        """Columns of start, middle and end, as far as the positions allow; {} for a single position."""
        return place_indices(self.depths)

    @property
    def has_middle(self) -> bool:
        """Whether it has positions near start, middle and end."""
        return len(self.places) == len(PLACES)

    @property
    def three(self) -> np.ndarray | None:
        """The answers at start, middle and end to the complete questions; None without these, or without a middle."""
        if not self.has_middle or self.cases.ids.empty:
            return None
        return place_means(self.cases.answers[CORRECT], self.places.values())

    def weights(self, contrast: str) -> np.ndarray | None:
        """The weight of each position in one of `pbi.CONTRASTS`; None if it needs a place that is missing."""
        used = {place: weight for place, weight in zip(PLACES, CONTRASTS[contrast], strict=True) if weight}
        if not used.keys() <= self.places.keys():
            return None
        return place_means(np.eye(len(self.positions)), (self.places[place] for place in used)) @ list(used.values())


#: Grids by model, experiment and size.
Grids = dict[tuple[str, str, int], CurveGrid]


def place_means(answers: np.ndarray, places: Iterable[Sequence[int]]) -> np.ndarray:
    """(questions, places): the mean of the columns of each place, such as of two positions in the middle; of the
    identity, the weights of the columns in these means.
    """
    return np.column_stack([answers[:, [*columns]].mean(axis=1) for columns in places])


def place_weights(places: Iterable[Sequence[int]], weights: Iterable[float]) -> np.ndarray:
    """The weight of each column of these places in turn, of a contrast of the places."""
    return np.concatenate(
        [np.full(len(columns), weight / len(columns)) for columns, weight in zip(places, weights, strict=True)]
    )


def joined(*grids: Grid) -> Grid:
    """The cells of several grids side by side, on their common questions; the clusters are the first grid's that has
    any.
    """
    ids = reduce(lambda common, grid: common.intersection(grid.ids, sort=False), grids[1:], grids[0].ids)
    rows = [grid.ids.get_indexer(ids) for grid in grids]
    clusters = [grid.clusters[at] for grid, at in zip(grids, rows, strict=True) if grid.clusters is not None]
    return Grid(
        columns=[column for grid in grids for column in grid.columns],
        ids=ids,
        answers={
            reading: np.hstack([grid.answers[reading][at] for grid, at in zip(grids, rows, strict=True)])
            for reading in grids[0].answers
        },
        clusters=pd.factorize(clusters[0])[0] if clusters else None,
        strict=_beside([grid.strict for grid in grids], rows),
        labels=_beside([grid.labels for grid in grids], rows),
    )


def _beside(matrices: Sequence[np.ndarray | None], rows: Sequence[np.ndarray]) -> np.ndarray | None:
    """Rows of matrices side by side; None if one is missing."""
    there = [matrix[at] for matrix, at in zip(matrices, rows, strict=True) if matrix is not None]
    return np.hstack(there) if len(there) == len(matrices) else None


def read_grid(scores: pd.DataFrame, column: str) -> Grid:
    """The answers by the values of a column, in each reading that the rows have.

    Values ascend, except names of models, which keep the order of the rows, as in the config. Raises `UserError` for a
    question that occurs twice at a value.
    """
    row, ids = pd.factorize(scores["id"])
    at, values = pd.factorize(scores[column], sort=column != "model")
    cells = row * len(values) + at
    twice = pd.Series(cells).duplicated().to_numpy()
    if twice.any():
        first = scores[twice].iloc[0]
        raise UserError(
            f"{first['model']}, {first['experiment']}, size {first['size']}: question {first['id']} occurs twice at "
            f"{column} {first[column]} ({int(twice.sum())} such rows): give every question an id of its own, and "
            "compare one target at a time"
        )

    def placed(name: str) -> np.ndarray:
        verdicts = scores[name].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
        verdicts[scores["excluded"].to_numpy(dtype=bool)] = np.nan
        grid = np.full(len(ids) * len(values), np.nan)
        grid[cells] = verdicts
        return grid.reshape(len(ids), len(values))

    answers = {reading: placed(name) for reading, name in READINGS.items() if name in scores}
    judged = [placed("correct_strict"), placed("label")] if "label" in scores else []
    return Grid(pd.Index(values).tolist(), pd.Index(ids), answers, cluster_codes(scores, pd.Index(ids)), *judged)


def read_curve(scores: pd.DataFrame) -> CurveGrid:
    """The answers of one model, experiment and size by position.

    Targets may differ if each has its own positions; if one prompt asks for all, their placement is among the names.
    Raises `UserError` without rows, for rows of several sweeps, and for a question that occurs twice at a position.
    """
    if scores.empty:
        raise UserError("no score rows with a position: there are no positions to compare")
    (names, _), *others = by_cell(scores, CURVE)
    for name in CURVE if others else ():
        if (other := others[0][0][name]) != names[name]:
            raise UserError(f"score rows of more than one {name} ({names[name]}, {other}): compare them one by one")
    together = scores["placement"].nunique() == 1 and scores["position"].nunique() > 1
    names["placement"] = scores["placement"].iloc[0] if together else None
    names["target"] = ", ".join(dict.fromkeys(scores.sort_values("position", kind="stable")["target"]))
    placed = scores.assign(position=scores["position"].fillna(NOWHERE).astype("int64"))
    grid = read_grid(placed, "position")
    depths = dict(zip(placed["position"], placed["depth"], strict=True))
    return CurveGrid(
        **vars(grid),
        names=cast(CurveNames, names),
        depths=[0.0 if pd.isna(depths[position]) else float(depths[position]) for position in grid.columns],
        all_empty=bool(scores["empty"].all()),
        all_too_long=bool(scores["excluded"].all()),
        doubt=curve_doubt(scores),
    )


def read_grids(sweeps: Iterable[pd.DataFrame]) -> Grids:
    """The grids of sweeps, one sweep at a time, without sizes in doubt, which are not compared."""
    grids = (
        read_curve(sweep[sweep["size"] == size]) for sweep in map(sound, sweeps) for size in sweep["size"].unique()
    )
    return {(curve.names["model"], curve.names["experiment"], curve.size): curve for curve in grids}


def sweep_of(scores: pd.DataFrame) -> tuple[str, str]:
    """The model and the experiment of the rows of one sweep."""
    return str(scores["model"].iloc[0]), str(scores["experiment"].iloc[0])


def curves(scores: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the rows of each size of one sweep with positions to compare, in the order of the rows.

    Gold items that one prompt asks for are one curve; with several placements, each placement is one.
    """
    with_position = scores[scores["position"].notna()]
    # One of several gold items may be asked for alone.
    placed_together = any(len(gold_places(placement)) > 1 for placement in with_position["placement"].unique())
    several = placed_together or with_position["target"].nunique() > 1
    for _, group in with_position.groupby(["size", "placement"] if several else ["size"], sort=False):
        if group["position"].nunique() > 1:
            yield group


def cluster_codes(scores: pd.DataFrame, ids: pd.Index) -> np.ndarray | None:
    """The number of each question's cluster, from score rows; None without clusters."""
    if "cluster" not in scores:
        return None
    of_id = scores.drop_duplicates("id").set_index("id")["cluster"].reindex(ids)
    return np.asarray(pd.factorize(of_id)[0])


class Limits(TypedDict):
    """The 95 % limits of a row with one interval."""

    ci_low: float | None
    ci_high: float | None


class Tested(Limits):
    """The same with a test."""

    p_value: float | None


class PairedDifference(Tested):
    """The paired difference of two columns of a grid."""

    accuracy_a: float
    accuracy_b: float
    difference: float
    n_right_only_a: int
    n_right_only_b: int


def difference_columns(pair: Grid) -> PairedDifference:
    """Columns of the paired difference between the two columns of a grid, over the questions that have both answers.

    There must be at least one such question.
    """
    a, b = pair.right.T
    difference = pair.contrast([1, -1]).estimate()
    return {
        "accuracy_a": float(a.sum()) / len(a),
        "accuracy_b": float(b.sum()) / len(b),
        "difference": difference.value,
        **limits(difference),
        "n_right_only_a": int((pair.matrix[:, 0] > pair.matrix[:, 1]).sum()),
        "n_right_only_b": int((pair.matrix[:, 1] > pair.matrix[:, 0]).sum()),
        "p_value": pair.difference_p(0, 1),
    }


def interval_columns(name: str, estimate: Estimate | None) -> dict:
    """An estimate as the columns of a value with limits, all None without an estimate; the table checks the name."""
    values = (estimate.value, estimate.low, estimate.high) if estimate else (None,) * 3
    return dict(zip((name, f"{name}_ci_low", f"{name}_ci_high"), values, strict=True))


def limits(estimate: Estimate | None) -> Limits:
    """The limits of the only interval of a row, None without an estimate."""
    low, high = estimate.limits if estimate else (None, None)
    return {"ci_low": low, "ci_high": high}


def tested(contrast: Moments | None) -> tuple[float | None, Tested]:
    """A contrast, and its limits, the only interval of a row, with its p value; None without one."""
    if contrast is None:
        return None, {**limits(None), "p_value": None}
    estimate = contrast.estimate()
    return estimate.value, {**limits(estimate), "p_value": contrast.p_value}


def generator_for(seed: int, *names: object) -> np.random.Generator:
    """The random generator of one item, from the config's seed and the item's name."""
    return np.random.default_rng(list("/".join(map(str, (seed, "position_bias", *names))).encode()))


#: Columns that figures by size read.
MEAN_COLUMNS = ["model", "experiment", "size", "n", "accuracy", "ci_low", "ci_high"]
MEAN_FLOATS = dict.fromkeys(["accuracy", "ci_low", "ci_high"], "Float64")


def position_means(scores: pd.DataFrame) -> pd.DataFrame:
    """One row with `MEAN_COLUMNS` per (model, experiment, size) of a sweep's scores, over the questions scored at every
    position.

    n: number of these questions, without which the accuracy is missing; ci_low, ci_high: 95 % limits over the
    questions, see `intervals.clustered_interval`.
    """
    rows = []
    for group in curves(scores):
        curve = read_curve(group)
        mean = proportion(curve.cases.matrix, curve.cases.clusters)
        rows.append({**curve.names, "n": len(curve.cases.ids), "accuracy": mean and mean.value, **limits(mean)})
    return pd.DataFrame(rows, columns=MEAN_COLUMNS).astype(MEAN_FLOATS)


def means_of_cells(accuracy: pd.DataFrame) -> pd.DataFrame:
    """The same from rows of the accuracy table, without single answers.

    The interval is the widest that the cells' intervals allow: the means of their limits, as if each question were
    right everywhere or nowhere. n: the smallest of a cell.
    """
    cells = accuracy[accuracy["position"].notna() & (accuracy["size"] > 1) & (accuracy["n"] > 0)]
    means = cells.groupby(["model", "experiment", "size"], sort=False, as_index=False).agg(
        {"n": "min", "accuracy": "mean", "ci_low": "mean", "ci_high": "mean"}
    )
    return means[MEAN_COLUMNS].astype(MEAN_FLOATS)
