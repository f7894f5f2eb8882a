"""Evidence from published accuracies: answers to single questions are unknown, so nothing is paired."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from scipy import special

from litm.analysis.claims.evidence import Cell
from litm.analysis.claims.measures import Measure
from litm.analysis.pbi import limit_of
from litm.analysis.published.values import PublishedAccuracy, first_of_cells
from litm.base.intervals import binomial_interval
from litm.placements import depth_of


@dataclass(frozen=True)
class PublishedEvidence:
    """values: the published accuracy of each cell."""

    values: Mapping[Cell, PublishedAccuracy]

    @property
    def is_published(self) -> bool:
        return True

    @property
    def cells(self) -> Sequence[Cell]:
        return list(self.values)

    def contrast(self, weights: Mapping[Cell, float]) -> Measure:
        """As `Evidence.contrast`, with a normal interval that is conservative because single answers are unknown.

        One right and one wrong answer are added to each cell (Agresti & Caffo 2000). The answers of one model to the
        same question are assumed to be equally correlated in all cells, by r ≥ 0. Then the variance of its part of the
        contrast is (1 - r)·Σ w²s² + r·(Σ ws)², s² = p(1-p)/(n+2). The larger of the two sums is its upper bound and is
        used. Answers of different models correlate too; that would reduce the variance of a difference, and is ignored.
        """
        used = {cell: weight for cell, weight in weights.items() if weight}
        variance = sum(
            self._largest_variance({cell: weight for cell, weight in used.items() if cell.model == model})
            for model in {cell.model for cell in used}
        )
        return self._normal(used, variance)

    def difference_of_means(self, first: Sequence[Cell], other: Sequence[Cell]) -> Measure:
        """As `Evidence.difference_of_means`, for cells of two sizes of one model.

        Answers within a size may correlate more than answers of two sizes, so the variance is bounded by that of two
        independent samples with perfectly correlated answers within each.
        """
        weights = dict.fromkeys(first, 1 / len(first)) | dict.fromkeys(other, -1 / len(other))
        errors = [sum(self._errors({cell: abs(weights[cell]) for cell in cells})) for cells in (first, other)]
        return self._normal(weights, sum(error**2 for error in errors))

    def accuracy(self, cell: Cell) -> Measure:
        """As `Evidence.accuracy`, with the interval of the nearest whole number of right answers."""
        (correct,), n = self.correct([cell])
        return self._measure(self.values[cell].accuracy, [cell], lambda c: binomial_interval(correct, n, c))

    def correct(self, cells: Sequence[Cell]) -> tuple[list[int], int]:
        """As `Evidence.correct`; cells with different numbers of questions are scaled to the fewest."""
        n = min(self.values[cell].n for cell in cells)
        return [round(self.values[cell].accuracy * n) for cell in cells], n

    def limit(self, cells: Sequence[Cell], of: Sequence[Cell]) -> str | None:
        """As `Evidence.limit`."""
        correct, n = self.correct(cells)
        return limit_of([correct[cells.index(cell)] for cell in of], n)

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

    def _largest_variance(self, weights: Mapping[Cell, float]) -> float:
        """The largest variance of one model's part of a contrast, over all correlations of its answers from 0 to 1."""
        errors = self._errors(weights)
        return max(sum(error**2 for error in errors), sum(errors) ** 2)

    def _errors(self, weights: Mapping[Cell, float]) -> list[float]:
        """Weight times standard error of each accuracy."""
        errors = []
        for cell, weight in weights.items():
            accuracy = self._shrunk(cell)
            errors.append(weight * sqrt(accuracy * (1 - accuracy) / (self.values[cell].n + 2)))
        return errors


def published_evidence(values: Iterable[PublishedAccuracy]) -> PublishedEvidence:
    """Evidence from published accuracies; if a cell has several, the first counts (tables before text)."""
    return PublishedEvidence({_cell(value): value for value in first_of_cells(values)})


def _cell(value: PublishedAccuracy) -> Cell:
    depth = None if value.position is None else depth_of(value.position, value.size)
    return Cell(value.model, value.experiment, value.size, value.position, value.placement, depth)
