"""What the paper says of the cases of its claims, and what became of the claims, kept in resources/published."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from litm.analysis.published.values import read_rows
from litm.base.errors import UserError

SAYS = ("supported", "contradicted", "")


@dataclass(frozen=True)
class Cases:
    """Cases of a claim: those that have its models (as in claims.csv), experiment and size, where these are given."""

    claim: str
    models: str
    experiment: str
    size: int | None

    def has(self, row: Mapping) -> bool:
        """Whether a row of claims.csv is one of them."""
        return (
            self.claim == row["claim"]
            and self.models in ("", row.get("models"))
            and self.experiment in ("", row.get("experiment"))
            and self.size in (None, row.get("size"))
        )

    @property
    def given(self) -> int:
        """How many of models, experiment and size are given."""
        return bool(self.models) + bool(self.experiment) + (self.size is not None)


@dataclass(frozen=True)
class PublishedStatement(Cases):
    """What the paper says of cases of a claim.

    says: whether by the paper the claim holds of them (`supported`) or not (`contradicted`),
    empty for a number alone; statistic, value: a number that is printed, as a fraction; text: what is said, in our
    words; source: the section, figure or table.
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
    """What became of a claim since: `supported` or `contested`, by whom, and what they found."""

    claim: str
    status: str
    by: str = ""
    finding: str = ""


@dataclass(frozen=True)
class Explanation(Cases):
    """Why the verdict on the published accuracies of some cases is not what the paper says."""

    text: str


@dataclass(frozen=True)
class Literature:
    """What is said of claims elsewhere; statuses: by claim."""

    statements: Sequence[PublishedStatement]
    statuses: Mapping[str, ClaimStatus]

    def beside(self, row: Mapping) -> dict:
        """The columns of claims.csv that stand beside a row: what the paper says of it, and the claim's status.

        Of several statements the one that gives most of the case counts; numbers alone are added to it.
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
        """The statements about a claim that print a number of one case."""
        return [one for one in self.statements if one.claim == claim and one.value is not None and one.models]


Some = TypeVar("Some", bound=Cases)


def of_row(cases: Iterable[Some], row: Mapping) -> list[Some]:
    """Those that have the row of claims.csv, from the ones that give most of the case to those that give least."""
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
