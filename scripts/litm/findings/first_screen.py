"""The first screen of console and report: a headline, a table for each question asked, advice, and what to know before
a number is quoted.

It is made from findings alone. It holds numbers and names; `litm.findings.words` has its words, `litm.findings.console`
and the report's templates lay it out.
"""

from dataclasses import dataclass

from litm.findings.record import Finding, Number, Strength


@dataclass(frozen=True)
class Point:
    """A point of a curve."""

    position: int
    """From 0."""
    depth: float | None
    """The position as a fraction of the context."""
    accuracy: float | None
    """A fraction; None without answers."""
    low: float | None = None
    """Lower 95 % limit of the accuracy."""
    high: float | None = None
    """Upper 95 % limit."""


@dataclass(frozen=True)
class ModelRow:
    """A model's row in the table of one experiment and size."""

    model: str
    n: int
    """Questions scored at every position; of an experiment without positions, questions counted."""
    overall: Number
    """Accuracy over all positions; the rows are ordered by it."""
    is_tied: bool
    """Whether its difference from the row above in `overall` is not shown; False for the first row."""
    closed_book: Number | None
    oracle: Number | None
    start: Number | None
    middle: Number | None
    end: Number | None
    pbi: Number | None
    shape: str
    """A word of `litm.analysis.shapes`, or why there is none: `floor`, `ceiling`, `too few questions`, `in doubt`; ""
    for an experiment without positions."""
    strength: Strength | None
    """Of the effect of position."""
    needed: int | None
    """Questions that would show an effect of 5 points with a chance of 80 %; None where that is known not to matter."""
    curve: tuple[Point, ...]
    """Accuracy at each position, ascending; empty for an experiment without positions."""
    marks: tuple[int, ...]
    """Numbers of the warnings, from 1, that concern a number of this row."""


@dataclass(frozen=True)
class SizeTable:
    """The rows of one size of an experiment."""

    size: int
    placement: str | None
    """As in `Finding`; a placement has a table of its own."""
    rows: tuple[ModelRow, ...]


@dataclass(frozen=True)
class QuestionTable:
    """The table of one experiment: one question that the study asks."""

    experiment: str
    metric: str
    """A name of `litm.scoring.metrics.METRICS`."""
    sizes: tuple[SizeTable, ...]


@dataclass(frozen=True)
class WarningGroup:
    """Warnings of one kind."""

    number: int
    """From 1, for marks; 0 for one that touches no number of a table."""
    kind: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class PairMatrix:
    """Differences of all pairs of models in one experiment, over all positions and sizes."""

    experiment: str
    models: tuple[str, ...]
    cells: tuple[tuple[Number | None, ...], ...]
    """Row minus column, None on the diagonal and where a pair has no common question."""


@dataclass(frozen=True)
class FirstScreen:
    """The first screen."""

    headline: tuple[Finding, ...]
    """The findings that the headline sentence joins, the most important first."""
    tables: tuple[QuestionTable, ...]
    advice: tuple[Finding, ...]
    """One per model and study of remedies."""
    warnings: tuple[WarningGroup, ...]
    """Those with a number first, in its order."""
    pairs: tuple[PairMatrix, ...]
