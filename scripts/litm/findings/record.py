"""A finding: what a study shows, as names and numbers.

Modules of this folder make findings from rows of the tables; `litm.findings.words` says them. results/findings.json has
all of them.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

#: Of results/findings.json; raised when a name changes or goes.
VERSION = 1
#: The tables that findings are made from, as far as a study has them.
FROM_TABLES = (
    "accuracy", "position_bias", "utilisation", "wrong_answers", "published_comparison", "model_pairs",
    "effective_length", "log_probability_effects", "reading_sensitivity", "gold_passages", "answer_checks", "judge",
    "written_questions", "session_remedies",
)  # fmt: skip
#: The largest corrected p value of an effect that is shown; `litm.analysis.significance.SIGNIFICANT` needs numpy.
SHOWN = 0.05


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

    @property
    def is_shown(self) -> bool:
        """Whether it is shown to differ from 0."""
        return self.p is not None and self.p < SHOWN

    @classmethod
    def of_row(cls, row: Mapping, name: str, limits: str | None = None, p: str = "") -> "Number":
        """A column of a table's row, with its 95 % limits (`{limits}_ci_low`) and its p value, as far as there are any.

        limits: the name that the columns of the limits begin with, its own by default; "" for `ci_low`.
        """
        begin = name if limits is None else limits
        low, high = (row.get(f"{begin}_{end}" if begin else end) for end in ("ci_low", "ci_high"))
        return cls(row.get(name), low, high, row.get(p) if p else None)


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

    @property
    def sweep(self) -> tuple[str, ...]:
        """(model, experiment) of a finding on a model in an experiment."""
        return (*self.models, *self.experiments)

    def to_json(self) -> dict[str, Any]:
        """The finding as a JSON object, without what is absent."""
        numbers = {
            name: {key: value for key, value in number._asdict().items() if key == "value" or value is not None}
            for name, number in self.numbers.items()
        }
        record = asdict(self) | {"numbers": numbers}
        return {name: value for name, value in record.items() if value not in (None, (), {})}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Finding":
        """The finding in a JSON object of `to_json`."""
        strength = record.get("strength")
        made = {
            "models": tuple(record.get("models", ())),
            "experiments": tuple(record.get("experiments", ())),
            "strength": strength and Strength(strength),
            "numbers": {name: Number(**number) for name, number in record.get("numbers", {}).items()},
        }
        return cls(**{**record, **made})


@dataclass(frozen=True)
class StudyFindings:
    """All findings of a study, as results/findings.json has them."""

    models: tuple[str, ...]
    """The models, in the order of the config."""
    experiments: tuple[str, ...]
    """The experiments that differ by no remedy, in the order of the config, references among them."""
    findings: tuple[Finding, ...]
    """In the order of their kinds, then of models and experiments."""

    def of_kind(self, *kinds: str) -> list[Finding]:
        """The findings of these kinds."""
        return [finding for finding in self.findings if finding.kind in kinds]

    def to_json(self) -> dict[str, Any]:
        """The contents of results/findings.json."""
        findings = [finding.to_json() for finding in self.findings]
        return {
            "version": VERSION,
            "models": list(self.models),
            "experiments": list(self.experiments),
            "findings": findings,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "StudyFindings":
        """The findings in the contents of results/findings.json."""
        findings = tuple(map(Finding.from_json, record["findings"]))
        return cls(tuple(record["models"]), tuple(record["experiments"]), findings)
