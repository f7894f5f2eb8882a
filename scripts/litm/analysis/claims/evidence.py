"""Evidence for claims: accuracies of cells and their contrasts, with intervals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from litm.analysis.claims.measures import Measure
from litm.analysis.pbi import middle_index


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

    cells: tuple[Cell, ...]

    @property
    def model(self) -> str:
        return self.cells[0].model

    @property
    def experiment(self) -> str:
        return self.cells[0].experiment

    @property
    def size(self) -> int:
        return self.cells[0].size

    @property
    def three(self) -> tuple[Cell, Cell, Cell] | None:
        """Start, middle and end, as in position_bias.csv; None with fewer than three positions."""
        middle = middle_index([cell.depth or 0 for cell in self.cells])
        return None if middle is None else (self.cells[0], self.cells[middle], self.cells[-1])


class Evidence(Protocol):
    """Scores of questions, or published accuracies."""

    @property
    def is_published(self) -> bool:
        """Whether it has published accuracies only, without answers to single questions."""

    @property
    def cells(self) -> Sequence[Cell]:
        """All cells, in the order of the config or the file."""

    def contrast(self, weights: Mapping[Cell, float]) -> Measure | None:
        """Sum of weight times accuracy; weights sum to 0. None if no question was scored in all these cells."""

    def difference_of_means(self, first: Sequence[Cell], other: Sequence[Cell]) -> Measure | None:
        """Mean accuracy of some cells minus that of others, which may have other questions; None as in `contrast`."""

    def accuracy(self, cell: Cell) -> Measure | None:
        """Accuracy of a cell; None if nothing was scored."""

    def correct(self, cells: Sequence[Cell]) -> tuple[list[int], int]:
        """Right answers in each cell, and the number of questions, which is equal in all cells."""

    def limit(self, cells: Sequence[Cell], of: Sequence[Cell]) -> str | None:
        """Why `of` these cells cannot show a difference, on the questions scored in all: see `pbi.limit_of`."""

    def prompt_tokens(self, cells: Sequence[Cell]) -> float | None:
        """Mean prompt tokens of these cells; None if unknown."""

    def recall(self, experiment: str) -> Mapping[int, tuple[float, int]]:
        """Recall of an open-domain experiment's retriever and the number of questions, by number of passages."""


def curves(evidence: Evidence) -> Iterator[Curve]:
    """Every curve of two positions or more, in the order of the cells."""
    groups: dict[tuple, list[Cell]] = {}
    for cell in evidence.cells:
        if cell.position is not None:
            groups.setdefault((cell.model, cell.experiment, cell.size), []).append(cell)
    for group in groups.values():
        if len(group) > 1:
            yield Curve(tuple(sorted(group)))
