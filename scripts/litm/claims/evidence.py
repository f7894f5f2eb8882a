"""Evidence for claims, from scores or from published accuracies: quantities with intervals at any confidence."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import sqrt
from operator import attrgetter
from typing import Any, ClassVar, TypeVar

import numpy as np
import pandas as pd
from scipy import special

from litm.analysis.grid import Grid, joined, read_grid
from litm.analysis.pbi import PLACES, limit_of, place_indices
from litm.analysis.published import PublishedAccuracy, first_of_cells
from litm.analysis.statistics import Estimate, Moments, moments, separate_difference
from litm.base.groups import grouped
from litm.base.intervals import binomial_interval, clustered_interval
from litm.base.table_files import by_cell
from litm.placements import depth_of, gold_places
from litm.scoring.doubts import sound
from litm.scoring.judge_error import corrected_accuracy
from litm.scoring.wrong_answers import OTHER_ITEM


@dataclass(frozen=True)
class Measure:
    """A value, its number of questions, and its two-sided interval as a function of the confidence."""

    value: float
    n: int
    interval: Callable[[float], tuple[float, float]]
    sources: tuple[str, ...] = ()
    """Where it is printed, if it was not measured here."""
    is_paired: bool = True
    """Whether answers are compared question by question."""

    def estimate(self, confidence: float = 0.95) -> Estimate:
        """The value with this interval."""
        return Estimate(self.value, *self.interval(confidence))


def measure_of(contrast: Moments | None, n: int) -> Measure | None:
    """A contrast of n questions, with the limits that show small ones; None without one."""
    if contrast is None:
        return None
    return Measure(float(contrast.value), n, lambda level: contrast.estimate(level, of_small=True).limits)


def largest(measures: Sequence[Measure]) -> Measure:
    """The largest of several quantities.

    The lower limit is the largest of their lower limits, corrected by Bonferroni's inequality, because any of them may
    be it. The upper limit is the largest of their upper limits, uncorrected, because it fails only if the limit of the
    truly largest quantity fails.
    """
    return negated(lowest([negated(measure) for measure in measures]))


def lowest(measures: Sequence[Measure]) -> Measure:
    """The lowest of several quantities, with limits as in `largest`, the other way round."""

    def interval(confidence: float) -> tuple[float, float]:
        corrected = 1 - (1 - confidence) / len(measures)
        lows = [measure.interval(confidence)[0] for measure in measures]
        highs = [measure.interval(corrected)[1] for measure in measures]
        return min(lows), min(highs)

    return _combined(min(measure.value for measure in measures), measures, interval)


def negated(measure: Measure) -> Measure:
    """The same quantity with the other sign."""
    return scaled(measure, -1)


def scaled(measure: Measure, factor: float) -> Measure:
    """A quantity times a factor."""

    def interval(confidence: float) -> tuple[float, float]:
        low, high = sorted(factor * limit for limit in measure.interval(confidence))
        return low, high

    return _combined(factor * measure.value, [measure], interval)


def minus(first: Measure, second: Measure) -> Measure:
    """The difference of two quantities with the limits of `separate_difference`."""

    def interval(confidence: float) -> tuple[float, float]:
        return separate_difference(first.estimate(confidence), second.estimate(confidence)).limits

    return _combined(first.value - second.value, [first, second], interval)


def _combined(value: float, parts: Sequence[Measure], interval: Callable[[float], tuple[float, float]]) -> Measure:
    sources = tuple(dict.fromkeys(source for part in parts for source in part.sources))
    is_paired = all(part.is_paired for part in parts)
    return Measure(value, min(part.n for part in parts), interval, sources, is_paired)


ENCODER_DECODER = "encoder_decoder"


@dataclass(frozen=True)
class Relations:
    """What the config says of models and experiments, by name, as `conditions.read_relations` gives it."""

    models: Mapping[str, Mapping[str, Any]]
    """The keys `about` of their entries."""
    experiments: Mapping[str, Mapping[str, Any]]
    """Its `task`, and where it has them its `closed_book` and the experiment that it is a version of with the question
    before the context too (`query_aware_of`).
    """
    recorded: Sequence[str] = ()
    """Models whose responses were made elsewhere."""

    @property
    def base_models(self) -> set[str]:
        """Models that others were tuned from."""
        return {about["tuned_from"] for about in self.models.values() if about.get("tuned_from")}


@dataclass(frozen=True, order=True)
class Cell:
    """A measured cell with one gold item, or none; position and depth as in accuracy.csv."""

    model: str
    experiment: str
    size: int
    position: int | None
    placement: str
    depth: float | None


@dataclass(frozen=True)
class Curve:
    """Cells with a gold item of one model, experiment and size, in the order of positions."""

    model: str
    experiment: str
    size: int
    cells: tuple[Cell, ...]

    @property
    def depths(self) -> list[float]:
        """The depths of its positions."""
        return [cell.depth or 0 for cell in self.cells]

    @property
    def has_middle(self) -> bool:
        """Whether it has positions near start, middle and end."""
        return len(place_indices(self.depths)) == len(PLACES)

    @property
    def places(self) -> tuple[tuple[Cell, ...], ...]:
        """Cells of start, middle and end of a curve with a middle, as in position_bias.csv."""
        return tuple(tuple(self.cells[index] for index in at) for at in place_indices(self.depths).values())

    @property
    def middle(self) -> dict[Cell, float]:
        """The weights of the cells in the accuracy in the middle."""
        return {cell: 1 / len(self.places[1]) for cell in self.places[1]}


#: Columns that identify a cell among score rows.
CELL = ("model", "experiment", "size", "position", "placement", "depth")


Some = TypeVar("Some", Cell, Curve)


def by_sweep(measured: Iterable[Some], is_by_size: bool = True) -> list[list[Some]]:
    """Cells or curves of each model and experiment, by size."""
    groups = grouped(measured, attrgetter("model", "experiment"))
    return [
        sorted(group, key=lambda sweep_curve: sweep_curve.size) if is_by_size else group for group in groups.values()
    ]


def _difference_weights(first: Sequence[Cell], other: Sequence[Cell]) -> dict[Cell, float]:
    """The weights of the mean of some cells minus that of others."""
    sides = ((1, first), (-1, other))
    return {cell: sign * count / len(cells) for sign, cells in sides for cell, count in Counter(cells).items()}


@dataclass(eq=False)
class ScoredEvidence:
    """Evidence from scored questions."""

    #: Whether it has published accuracies only, without answers to single questions.
    is_published: ClassVar[bool] = False
    answers: Mapping[Cell, Grid]
    """The answers of each cell, in one column, to its scored questions."""
    lengths: Mapping[Cell, float | None]
    """Mean prompt tokens by cell."""
    recalls: Mapping[str, Mapping[int, tuple[float, int]]] = field(default_factory=dict)
    """Recall and n, by experiment and number of passages."""
    wrong: Mapping[Cell, Grid] = field(default_factory=dict)
    """Of each cell with wrong answers, in one column whether each of these was taken from another item."""
    #: Results of `_grid`, because several claims use the same cells.
    _joined: dict[tuple[Cell, ...], Grid] = field(default_factory=dict, init=False, repr=False)

    @property
    def cells(self) -> Sequence[Cell]:
        """All cells, in the order of the config or the file."""
        return list(self.answers)

    def contrast(self, weights: Mapping[Cell, float]) -> Measure | None:
        """Sum of weight times accuracy; weights sum to 0. None if no question was scored in all these cells.

        It is of the complete cases, with the interval of `statistics.contrast_interval`.
        """
        grid, values = self._grid(list(weights)), np.array(list(weights.values()))
        if grid.ids.empty:
            return None
        used = values != 0
        if grid.labelled is not None:
            return measure_of(grid.contrast(values), len(grid.ids))
        return measure_of(moments(grid.matrix[:, used], values[used].tolist(), grid.clusters), len(grid.ids))

    def difference_of_means(self, first: Sequence[Cell], other: Sequence[Cell]) -> Measure | None:
        """Mean accuracy of some cells minus that of others, which may have other questions; None as in `contrast`.

        A cell that occurs twice has twice the weight. By `contrast` if both sides share at least half of the questions.
        Otherwise (sizes may have different questions) the two means are independent.
        """
        mean, other_mean = self._mean(first), self._mean(other)
        if mean is None or other_mean is None:
            return None
        if len(self._grid([*first, *other]).ids) >= min(mean.n, other_mean.n) / 2:
            return self.contrast(_difference_weights(first, other))
        return replace(minus(mean, other_mean), is_paired=False)

    def accuracy(self, cell: Cell) -> Measure | None:
        """Accuracy of a cell; None if nothing was scored."""
        return self._mean([cell])

    def _mean(self, cells: Sequence[Cell]) -> Measure | None:
        """Mean accuracy of cells on their common questions, with the interval of `intervals.clustered_interval`, or of
        `judge_error.corrected_accuracy`.
        """
        counts = Counter(cells)
        grid, times = self._grid([*counts]), np.array([*counts.values()])
        if grid.ids.empty:
            return None
        if (labelled := grid.labelled) is not None:
            limits = partial(corrected_accuracy, labelled, times / times.sum())
            return Measure(limits()[0], len(grid.ids), lambda confidence: limits(confidence=confidence)[1:])
        right, clusters = np.repeat(grid.matrix, times, axis=1), grid.clusters
        return Measure(
            float(right.mean()), len(right), lambda confidence: clustered_interval(right, clusters, confidence)
        )

    def copied(self, cells: Sequence[Cell]) -> Measure | None:
        """Share of the wrong answers in these cells that were taken from another item, by questions if these are wrong
        in several cells; None without any.
        """
        grids = [self.wrong[cell] for cell in cells if cell in self.wrong]
        if not grids:
            return None
        ids = np.concatenate([grid.ids for grid in grids])
        copied = np.concatenate([grid.matrix[:, 0] for grid in grids])
        # Answers of one question in several cells, or of one cluster, depend on one another.
        of_cluster = [grid.ids if grid.clusters is None else grid.clusters for grid in grids]
        codes = pd.factorize(np.concatenate(of_cluster))[0]
        clusters = codes if len({*codes}) < len(ids) else None
        return Measure(float(copied.mean()), len(ids), lambda level: clustered_interval(copied, clusters, level))

    def correct(self, cells: Sequence[Cell]) -> tuple[list[float], int]:
        """Right answers in each cell, and the number of questions, which is equal in all cells."""
        right = self._grid(cells).right
        return right.sum(axis=0).tolist(), len(right)

    def limit(self, cells: Sequence[Cell], judged: Sequence[Cell]) -> str | None:
        """Why the judged ones of these cells cannot show a difference, on the questions scored in all of them."""
        return self._grid(cells).limit([cells.index(cell) for cell in judged])

    def prompt_tokens(self, cells: Sequence[Cell]) -> float | None:
        """Mean prompt tokens of these cells; None if unknown."""
        lengths = [length for cell in cells if (length := self.lengths[cell]) is not None]
        return float(np.mean(lengths)) if lengths else None

    def recall(self, experiment: str) -> Mapping[int, tuple[float, int]]:
        """Recall of an open-domain experiment's retriever and the number of questions, by number of passages."""
        return self.recalls.get(experiment, {})

    def _grid(self, cells: Sequence[Cell]) -> Grid:
        """The answers to the questions scored in all cells."""
        key = tuple(cells)
        if key not in self._joined:
            self._joined[key] = joined(*(self.answers[cell] for cell in cells))
        return self._joined[key]


def scored_evidence(
    scores: Iterable[pd.DataFrame], recalls: Mapping[str, Mapping[int, tuple[float, int]]] | None = None
) -> ScoredEvidence:
    """Evidence from score rows of any sweeps, one sweep at a time: all rows together may be too many for the memory.

    Cells with several gold items per prompt are left out, because the paper moves one, and so are sizes in doubt, whose
    accuracies support no claim and no word. Raises `UserError` for a question that occurs twice in a cell.
    """
    answers, lengths, wrong = {}, {}, {}
    for sweep in scores:
        for names, rows in by_cell(sound(sweep), CELL):
            cell, tokens = Cell(**names), rows["prompt_tokens"].dropna()
            if len(gold_places(cell.placement)) <= 1:
                answers[cell] = read_grid(rows, "placement").complete()
                lengths[cell] = float(tokens.mean()) if len(tokens) else None
                missed = rows[rows["correct"].eq(0) & rows["wrong_kind"].notna()] if "wrong_kind" in rows else rows[:0]
                if len(missed):
                    copied = missed.assign(correct=missed["wrong_kind"] == OTHER_ITEM)
                    wrong[cell] = read_grid(copied, "placement").complete()
    return ScoredEvidence(answers, lengths, recalls or {}, wrong)


@dataclass(frozen=True)
class PublishedEvidence:
    """Evidence from published accuracies."""

    is_published: ClassVar[bool] = True
    values: Mapping[Cell, PublishedAccuracy]
    """The published accuracy of each cell."""

    @property
    def cells(self) -> Sequence[Cell]:
        return list(self.values)

    def contrast(self, weights: Mapping[Cell, float]) -> Measure:
        """As of `ScoredEvidence`, with a normal interval that is conservative because single answers are unknown.

        One right and one wrong answer are added to each cell (Agresti & Caffo 2000). The answers of one model to the
        same question are assumed to be equally correlated in all cells, by r ≥ 0. Then the variance of its part of the
        contrast is (1 - r)·Σ w²s² + r·(Σ ws)², s² = p(1-p)/(n+2). The larger of the two sums is its upper bound and is
        used. Answers of different models correlate too; that would reduce the variance of a difference, and is ignored.
        """
        used = {cell: weight for cell, weight in weights.items() if weight}
        by_model: dict[str, list[float]] = {}
        for cell, error in zip(used, self._errors(used), strict=True):
            by_model.setdefault(cell.model, []).append(error)
        return self._normal(
            used,
            sum(
                max(sum(weight**2 for weight in weights_of_model), sum(weights_of_model) ** 2)
                for weights_of_model in by_model.values()
            ),
        )

    def difference_of_means(self, first: Sequence[Cell], other: Sequence[Cell]) -> Measure:
        """As of `ScoredEvidence`, for cells of two sizes of one model.

        Answers within a size may correlate more than answers of two sizes, so the variance is bounded by that of two
        independent samples with perfectly correlated answers within each.
        """
        weights = _difference_weights(first, other)
        errors = [sum(self._errors({cell: abs(weights[cell]) for cell in cells})) for cells in (first, other)]
        return self._normal(weights, sum(error**2 for error in errors))

    def accuracy(self, cell: Cell) -> Measure:
        """As of `ScoredEvidence`, with the interval of the nearest whole number of right answers."""
        (correct,), n = self.correct([cell])
        return self._measure(self.values[cell].accuracy, [cell], lambda c: binomial_interval(correct, n, c))

    def correct(self, cells: Sequence[Cell]) -> tuple[list[float], int]:
        """As of `ScoredEvidence`; cells with different numbers of questions are scaled to the fewest."""
        n = min(self.values[cell].n for cell in cells)
        return [round(self.values[cell].accuracy * n) for cell in cells], n

    def limit(self, cells: Sequence[Cell], judged: Sequence[Cell]) -> str | None:
        """As of `ScoredEvidence`, by `pbi.limit_of`."""
        correct, n = self.correct(cells)
        return limit_of([correct[cells.index(cell)] for cell in judged], n)

    def copied(self, cells: Sequence[Cell]) -> None:
        return None

    def prompt_tokens(self, cells: Sequence[Cell]) -> None:
        return None

    def recall(self, experiment: str) -> Mapping[int, tuple[float, int]]:
        return {}

    def _normal(self, weights: Mapping[Cell, float], variance: float) -> Measure:
        """A weighted sum of accuracies with a normal interval around the sum of the shrunk accuracies."""
        centre = sum(weight * self._shrunk(cell) for cell, weight in weights.items())
        value = sum(weight * self.values[cell].accuracy for cell, weight in weights.items())

        def interval(confidence: float) -> tuple[float, float]:
            half = float(special.ndtri((1 + confidence) / 2)) * sqrt(variance)
            return min(value, centre - half), max(value, centre + half)

        return self._measure(value, list(weights), interval)

    def _measure(self, value, cells, interval) -> Measure:
        sources = tuple(dict.fromkeys(self.values[cell].source for cell in cells))
        return Measure(value, min(self.values[cell].n for cell in cells), interval, sources, is_paired=False)

    def _shrunk(self, cell: Cell) -> float:
        published = self.values[cell]
        return (published.accuracy * published.n + 1) / (published.n + 2)

    def _errors(self, weights: Mapping[Cell, float]) -> list[float]:
        """Weight times standard error of each accuracy."""
        shrunk = {cell: self._shrunk(cell) for cell in weights}
        return [weights[cell] * sqrt(p * (1 - p) / (self.values[cell].n + 2)) for cell, p in shrunk.items()]


def published_evidence(values: Iterable[PublishedAccuracy]) -> PublishedEvidence:
    """Evidence from published accuracies; if a cell has several, the first counts (tables before text)."""
    cells = {}
    for value in first_of_cells(values):
        depth = None if value.position is None else depth_of(value.position, value.size)
        cells[Cell(value.model, value.experiment, value.size, value.position, value.placement, depth)] = value
    return PublishedEvidence(cells)


#: Scores of questions, or published accuracies.
Evidence = ScoredEvidence | PublishedEvidence


def curves(evidence: Evidence) -> Iterator[Curve]:
    """Every curve of two positions or more, in the order of the cells."""
    placed = (cell for cell in evidence.cells if cell.position is not None)
    groups = grouped(placed, attrgetter("model", "experiment", "size"))
    return (Curve(*names, tuple(sorted(group))) for names, group in groups.items() if len(group) > 1)
