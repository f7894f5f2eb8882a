"""Published numbers of the paper and its authors' repository, and the paper's statements on claims, from
resources/published.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from litm.base.delimited_files import read_named_columns
from litm.base.groups import grouped
from litm.base.messages import UserError
from litm.placements import gold_positions

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from litm.analysis.grid import Files
    from litm.tables.claims import ClaimsRow
    from litm.tables.sizes import PublishedEffectiveLengthRow

#: Data version of values whose source does not state it.
UNKNOWN_VERSION = "unknown"


def _several(text: str) -> list[str]:
    """The values of a cell, which are separated by semicolons."""
    return [value for part in text.split(";") if (value := part.strip())]


#: Readers of a cell's text, by type of the field.
READERS: dict[Any, Callable[[str], Any]] = {
    str: str,
    int: int,
    float: float,
    int | None: lambda text: int(text) if text else None,
    float | None: lambda text: float(text) if text else None,
    tuple[str, ...]: lambda text: tuple(_several(text)),
    tuple[int, ...]: lambda text: tuple(map(int, _several(text))),
}


@dataclass(frozen=True)
class PublishedAccuracy:
    """A published accuracy of one cell."""

    model: str
    """The name in the catalogue."""
    experiment: str
    """The name in the catalogue."""
    size: int
    """Items in the context."""
    placement: str
    """The place of the gold item, as in the names of the example files."""
    position: int | None
    """From 0, None without a gold item."""
    metric: str
    """The metric that judged the answers."""
    n: int
    """Number of questions."""
    accuracy: float
    """A fraction."""
    source: str
    """Its table or section."""
    note: str = ""
    """A remark, such as a source that disagrees."""
    data_version: str = UNKNOWN_VERSION
    """`v1`, `v2` or `released`, as in datasets.schema.yaml, or `UNKNOWN_VERSION`."""

    def __post_init__(self) -> None:
        if not 0 <= self.accuracy <= 1:
            raise UserError(f"accuracy {self.accuracy:g} is not between 0 and 1; write 0.538 for 53.8 %")
        if self.n < 1:
            raise UserError(f"n is {self.n}; it is the number of questions, at least 1")
        if gold_positions(self.placement) != (() if self.position is None else (self.position,)):
            raise UserError(f"position {self.position} is not that of the placement {self.placement}")


@dataclass(frozen=True)
class PublishedTokens:
    """Published lengths of an experiment's prompts in a model's tokens: mean, sample standard deviation, maximum."""

    model: str
    experiment: str
    size: int
    tokens_mean: float
    tokens_sd: float
    tokens_max: int
    source: str
    note: str = ""
    printed_as: str = ""
    """The model's name in this table, "" if it is that of models.csv."""


@dataclass(frozen=True)
class PublishedModel:
    """A model of the paper: its name in the catalogue, its weights' place (or its API's name), its prompt format in the
    authors' scripts as a `prompt_template`, "" for an API, and its name in the paper's tables.
    """

    model: str
    weights: str
    prompt_format: str = ""
    printed_as: str = ""


@dataclass(frozen=True)
class PublishedLength:
    """A published effective length of a model in a benchmark."""

    benchmark: str
    model: str
    """The name in the catalogue, "" for a model that it lacks."""
    printed_as: str
    """The model's name in the benchmark's table."""
    claimed: str
    """The claimed context window, such as 128K tokens."""
    effective: str
    """The effective length as printed, such as 32K tokens, or <4K and >128K for the ends of the lengths."""
    threshold: float
    """The score that the effective length reaches, in per cent."""
    scores: tuple[str, ...]
    """A length and its score in per cent, such as `4K 95.5`."""
    source: str
    note: str = ""


Row = TypeVar("Row", bound="DataclassInstance")


def read_published(path: str | Path) -> list[PublishedAccuracy]:
    """Values of accuracy.csv, in the order of the file.

    Raises `UserError` with file and line for a missing column, a value of the wrong type, an accuracy that is not a
    fraction, and a position that contradicts the placement.
    """
    return read_rows(path, PublishedAccuracy)


def read_published_tokens(path: str | Path) -> list[PublishedTokens]:
    """The values of token_counts.csv, in the order of the file; `UserError` as `read_published`."""
    return read_rows(path, PublishedTokens)


def read_published_models(path: str | Path) -> dict[str, PublishedModel]:
    """The models of models.csv by name, in the order of the file; `UserError` as `read_published`."""
    return {model.model: model for model in read_rows(path, PublishedModel)}


def published_lengths_table(published_lengths: "Files") -> "Iterator[PublishedEffectiveLengthRow]":
    """The rows of effective_length.csv in resources/published."""
    for length in read_rows(published_lengths.path, PublishedLength):
        row: PublishedEffectiveLengthRow = {
            "benchmark": length.benchmark,
            "model": length.model or None,
            "printed_as": length.printed_as,
            "claimed": length.claimed,
            "effective": length.effective,
            "threshold": length.threshold / 100,
            "scores": "; ".join(length.scores),
            "source": length.source,
            "note": length.note,
        }
        yield row


def first_of_cells(values: Iterable[PublishedAccuracy]) -> list[PublishedAccuracy]:
    """One value per cell: the first in the file, whose order is tables, text, repository."""
    cells = grouped(values, attrgetter("model", "experiment", "size", "placement"))
    return [first for first, *_ in cells.values()]


def read_rows(path: str | Path, kind: type[Row]) -> list[Row]:
    """Rows of a CSV file as dataclasses: one column per field; fields with a default are optional.

    Raises `UserError` with file and line for a missing column, a value of the wrong type, and values that the class
    refuses.
    """
    return [_row(row, kind, f"{path}, line {line}") for line, row in read_named_columns(Path(path))]


def _row(row: Mapping[str, str], kind: type[Row], where: str) -> Row:
    values = {}
    for field in fields(kind):
        if field.name in row:
            try:
                values[field.name] = READERS[field.type](row[field.name])
            except ValueError as error:
                raise UserError(f"{where}: {field.name} is {row[field.name]!r}, which is not a number") from error
        elif field.default is MISSING:
            raise UserError(f"{where}: the column '{field.name}' is missing; there are {', '.join(row)}")
    try:
        return kind(**values)
    except UserError as error:
        raise UserError(f"{where}: {error}") from error


SAYS = ("supported", "contradicted", "")


@dataclass(frozen=True)
class Cases:
    """Cases of a claim: each of these models (as in claims.csv) with each experiment and size; an empty field has any.

    A row of claims.csv without a size is about all sizes of its experiment.
    """

    claim: str
    models: tuple[str, ...]
    experiment: tuple[str, ...]
    size: tuple[int, ...]

    def has(self, row: Mapping) -> bool:
        """Whether a row of claims.csv is one of these cases."""
        size = row.get("size")
        return (
            self.claim == row["claim"]
            and (not self.models or row.get("models") in self.models)
            and (not self.experiment or row.get("experiment") in self.experiment)
            and (not self.size or size is None or size in self.size)
        )

    @property
    def n_named(self) -> int:
        """Number of fields given among models, experiment and size."""
        return sum(map(bool, (self.models, self.experiment, self.size)))


@dataclass(frozen=True)
class PublishedStatement(Cases):
    """The paper's statement on cases of a claim; models, experiment and size are given, as the paper knows no other."""

    says: str
    """Whether the claim holds for them by the paper (`supported`) or not (`contradicted`), empty where it does not say.
    """
    statistic: str
    """The quantity of a printed number."""
    value: float | None
    """The printed number, as a fraction; None without one."""
    text: str
    """The statement in this workflow's words."""
    source: str
    """Section, figure or table."""

    def __post_init__(self) -> None:
        if self.says not in SAYS:
            raise UserError(f"says is {self.says!r}; write supported, contradicted, or nothing")
        if self.n_named < 3:
            raise UserError("models, experiment or size is empty; name those that the statement is about")


@dataclass(frozen=True)
class ClaimStatus:
    """Later status of a claim."""

    claim: str
    """The name of the claim."""
    status: str
    """`supported` or `contested`."""
    by: str = ""
    """The work that contests it."""
    finding: str = ""
    """What that work finds."""


@dataclass(frozen=True)
class Explanation(Cases):
    """Reason why the verdict on published accuracies of some cases differs from the paper's statement."""

    text: str
    """The reason in words."""


@dataclass(frozen=True)
class Literature:
    """Statements on claims in the literature."""

    statements: Sequence[PublishedStatement]
    """The paper's statements."""
    statuses: Mapping[str, Sequence[ClaimStatus]]
    """The later statuses by claim, one per work that contests it."""

    def columns_for(self, row: Mapping) -> "ClaimsRow":
        """Columns of claims.csv from the literature: the paper's statements on a row, and the claim's status."""
        about = [statement for statement in self.statements if statement.has(row)]
        statuses = self.statuses.get(row["claim"], ())
        return {
            "paper_says": next((statement.says for statement in about if statement.says), None),
            "paper_text": "; ".join(f"{statement.text} ({statement.source})" for statement in about) or None,
            "status": statuses[0].status if statuses else None,
            "contested_by": "; ".join(status.by for status in statuses if status.by) or None,
        }

    def numbers(self, claim: str) -> list[PublishedStatement]:
        """Statements on a claim that print a number; it is that of their first model, experiment and size."""
        return [statement for statement in self.statements if statement.claim == claim and statement.value is not None]


Some = TypeVar("Some", bound=Cases)


def of_row(cases: Iterable[Some], row: Mapping) -> list[Some]:
    """Cases that match a row of claims.csv, beginning with those that give the most fields."""
    return sorted((case for case in cases if case.has(row)), key=lambda case: -case.n_named)


NOTHING_SAID = Literature((), {})


def read_literature(statements: str | Path, statuses: str | Path) -> Literature:
    """statements.csv and claims.csv; `UserError` as `read_published`."""
    by_claim = grouped(read_rows(statuses, ClaimStatus), attrgetter("claim"))
    return Literature(read_rows(statements, PublishedStatement), by_claim)


def read_explanations(path: str | Path) -> list[Explanation]:
    """disagreements.csv; `UserError` as `read_published`."""
    return read_rows(path, Explanation)
