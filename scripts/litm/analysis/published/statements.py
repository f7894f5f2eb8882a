"""The paper's statements on cases of its claims, and the claims' later status, from resources/published."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from litm.analysis.published.values import read_rows
from litm.base.errors import UserError

SAYS = ("supported", "contradicted", "")


@dataclass(frozen=True)
class Cases:
    """Cases of a claim, by models (as in claims.csv), experiment and size; a field that is not given matches any."""

    claim: str
    models: str
    experiment: str
    size: int | None

    def has(self, row: Mapping) -> bool:
        """Whether a row of claims.csv is one of these cases."""
        return (
            self.claim == row["claim"]
            and self.models in ("", row.get("models"))
            and self.experiment in ("", row.get("experiment"))
            and self.size in (None, row.get("size"))
        )

    @property
    def given(self) -> int:
        """Number of fields given among models, experiment and size."""
        return bool(self.models) + bool(self.experiment) + (self.size is not None)


@dataclass(frozen=True)
class PublishedStatement(Cases):
    """The paper's statement on cases of a claim.

    says: whether the claim holds for them by the paper (`supported`) or not (`contradicted`), empty for a number alone.
    statistic, value: a printed number, as a fraction. text: the statement in this workflow's words. source: section,
    figure or table.
    """

    says: str
    statistic: str
    value: float | None
    text: str
    source: str

    def __post_init__(self) -> None:
        if self.says not in SAYS:
            raise UserError(f"says is {self.says!r}; write supported, contradicted, or nothing")


@dataclass(frozen=True)
class ClaimStatus:
    """Later status of a claim: `supported` or `contested`, by whom, and their finding."""

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
    """Statements on claims in the literature; statuses: by claim."""

    statements: Sequence[PublishedStatement]
    statuses: Mapping[str, ClaimStatus]

    def columns_for(self, row: Mapping) -> dict:
        """Columns of claims.csv from the literature: the paper's statement on a row, and the claim's status.

        Among several statements, the one that gives most fields of the case counts; numbers alone are added to it.
        """
        about = of_row(self.statements, row)
        said = [statement for statement in about if statement.says][:1]
        numbers = [statement for statement in about if not statement.says and statement.given]
        status = self.statuses.get(row["claim"])
        return {
            "paper_says": said[0].says if said else None,
            "paper_text": "; ".join(f"{one.text} ({one.source})" for one in [*said, *numbers]) or None,
            "status": status.status if status else None,
            "contested_by": (status.by or None) if status else None,
        }

    def numbers(self, claim: str) -> list[PublishedStatement]:
        """Statements on a claim that print a number of one case."""
        return [one for one in self.statements if one.claim == claim and one.value is not None and one.models]


Some = TypeVar("Some", bound=Cases)


def of_row(cases: Iterable[Some], row: Mapping) -> list[Some]:
    """Cases that match a row of claims.csv, beginning with those that give the most fields."""
    return sorted((one for one in cases if one.has(row)), key=lambda one: -one.given)


NOTHING_SAID = Literature((), {})


def read_literature(statements: str | Path, statuses: str | Path) -> Literature:
    """statements.csv and claims.csv; `UserError` as `values.read_published`."""
    return Literature(
        read_rows(statements, PublishedStatement), {one.claim: one for one in read_rows(statuses, ClaimStatus)}
    )


def read_explanations(path: str | Path) -> list[Explanation]:
    """disagreements.csv; `UserError` as `values.read_published`."""
    return read_rows(path, Explanation)
