"""The paper's statements on cases of its claims, and the claims' later status, from resources/published."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from litm.analysis.published.values import read_rows
from litm.base.messages import UserError

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
    def given(self) -> int:
        """Number of fields given among models, experiment and size."""
        return sum(map(bool, (self.models, self.experiment, self.size)))


@dataclass(frozen=True)
class PublishedStatement(Cases):
    """The paper's statement on cases of a claim; models, experiment and size are given, as the paper knows no other.

    says: whether the claim holds for them by the paper (`supported`) or not (`contradicted`), empty where it does not
    say. statistic, value: a printed number, as a fraction. text: the statement in this workflow's words. source:
    section, figure or table.
    """

    says: str
    statistic: str
    value: float | None
    text: str
    source: str

    def __post_init__(self) -> None:
        if self.says not in SAYS:
            raise UserError(f"says is {self.says!r}; write supported, contradicted, or nothing")
        if self.given < 3:
            raise UserError("models, experiment or size is empty; name those that the statement is about")


@dataclass(frozen=True)
class ClaimStatus:
    """Later status of a claim: `supported`, or `contested` by a work with this finding."""

    claim: str
    status: str
    by: str = ""
    finding: str = ""


@dataclass(frozen=True)
class Explanation(Cases):
    """Reason why the verdict on published accuracies of some cases differs from the paper's statement."""

    text: str


@dataclass(frozen=True)
class Literature:
    """Statements on claims in the literature; statuses: by claim, one per work that contests it."""

    statements: Sequence[PublishedStatement]
    statuses: Mapping[str, Sequence[ClaimStatus]]

    def columns_for(self, row: Mapping) -> dict:
        """Columns of claims.csv from the literature: the paper's statements on a row, and the claim's status."""
        about = [one for one in self.statements if one.has(row)]
        statuses = self.statuses.get(row["claim"], ())
        return {
            "paper_says": next((one.says for one in about if one.says), None),
            "paper_text": "; ".join(f"{one.text} ({one.source})" for one in about) or None,
            "status": statuses[0].status if statuses else None,
            "contested_by": "; ".join(one.by for one in statuses if one.by) or None,
        }

    def numbers(self, claim: str) -> list[PublishedStatement]:
        """Statements on a claim that print a number; it is that of their first model, experiment and size."""
        return [one for one in self.statements if one.claim == claim and one.value is not None]


Some = TypeVar("Some", bound=Cases)


def of_row(cases: Iterable[Some], row: Mapping) -> list[Some]:
    """Cases that match a row of claims.csv, beginning with those that give the most fields."""
    return sorted((one for one in cases if one.has(row)), key=lambda one: -one.given)


NOTHING_SAID = Literature((), {})


def read_literature(statements: str | Path, statuses: str | Path) -> Literature:
    """statements.csv and claims.csv; `UserError` as `values.read_published`."""
    by_claim: dict[str, list[ClaimStatus]] = {}
    for one in read_rows(statuses, ClaimStatus):
        by_claim.setdefault(one.claim, []).append(one)
    return Literature(read_rows(statements, PublishedStatement), by_claim)


def read_explanations(path: str | Path) -> list[Explanation]:
    """disagreements.csv; `UserError` as `values.read_published`."""
    return read_rows(path, Explanation)
