"""A finding: what a study shows, as names and numbers.

Modules of this folder make findings from rows of the tables; `litm.findings.words` says them. results/findings.json has
all of them.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class Strength(StrEnum):
    """How sure a finding is."""

    SHOWN = "shown"
    """The effect is shown: its p value, corrected for all comparisons of its kind, is below 0.05."""
    NOT_SHOWN = "not shown"
    """The questions suffice to show an effect of 5 points with a chance of 80 %, and none is shown; or all positions
    are shown to be within 5 points of each other."""
    CANNOT_TELL = "cannot tell"
    """No effect is shown, and the questions do not suffice to show one of 5 points."""
    UNINFORMATIVE = "uninformative"
    """The answers say nothing on the effect, however many they are: floor, ceiling, or answers in doubt."""


class Number(NamedTuple):
    """A number of a finding; a fraction where it is an accuracy or a difference of accuracies."""

    value: float | None
    low: float | None = None
    """Lower 95 % limit."""
    high: float | None = None
    """Upper 95 % limit."""
    p: float | None = None
    """p value, corrected for all comparisons of its kind."""


class Kind(NamedTuple):
    """A kind of finding."""

    doc: str
    """What a finding of this kind says."""
    numbers: Mapping[str, str] = {}
    """What each of its numbers is."""
    facts: Mapping[str, str] = {}
    """What each of its facts is."""
    is_warning: bool = False
    """Whether a reader has to know it before quoting a number."""


@dataclass(frozen=True)
class Finding:
    """A finding."""

    kind: str
    """A name of `litm.findings.kinds.KINDS`."""
    models: tuple[str, ...] = ()
    """The models that it concerns, in the order of the study."""
    experiments: tuple[str, ...] = ()
    """The experiments that it concerns, in the order of the study."""
    size: int | None = None
    """The size that it concerns; None for all sizes."""
    placement: str | None = None
    """The placement of a curve whose prompts have several gold items."""
    n: int | None = None
    """Number of questions, or of answers where the finding counts answers."""
    strength: Strength | None = None
    """None for a finding that states no effect."""
    numbers: Mapping[str, Number] = field(default_factory=dict)
    """As its kind declares."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Values of closed lists, names and counts, as its kind declares: JSON values."""
    remedy: str | None = None
    """A name of `litm.findings.words.REMEDIES`: what to do."""

    def to_json(self) -> dict[str, Any]:
        """The finding as a JSON object, without what is absent."""
        record = asdict(self) | {"numbers": {name: number._asdict() for name, number in self.numbers.items()}}
        return {name: value for name, value in record.items() if value not in (None, (), {})}
