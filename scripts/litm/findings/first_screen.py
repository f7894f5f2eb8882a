"""The first screen of console and report: a headline, a table for each question asked, advice, and what to know before
a number is quoted.

It is made from findings alone. It holds numbers and names; `litm.findings.words` has its words, `litm.findings.console`
and the report's templates lay it out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from litm.base.groups import grouped
from litm.findings.curves import CUT, FLOOR, REFUSED, SILENT
from litm.findings.headline import headline_of
from litm.findings.kinds import KINDS
from litm.findings.record import Finding, Number, Strength, StudyFindings
from litm.findings.warnings import concerns, in_groups
from litm.scoring.doubts import is_doubt

IN_DOUBT, DIFFERING, NOT_DIFFERING = "in doubt", "positions differ", "no difference shown"


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
    """Whether its difference from the row above in `overall` is not shown; False for the first row, and for an accuracy
    in doubt, which is not compared."""
    closed_book: Number | None
    oracle: Number | None
    n_references: int | None
    """Questions of closed book and oracle, where they are others than n; else None."""
    start: Number | None
    middle: Number | None
    end: Number | None
    pbi: Number | None
    shape: str
    """A word of `litm.analysis.shapes`, or why there is none: `floor`, `ceiling`, `too few questions`, `in doubt`; of a
    curve without a middle `positions differ` or `no difference shown`; "" for an experiment without positions."""
    strength: Strength | None
    """Of the effect of position."""
    needed: int | None
    """Questions that would show an effect of 5 points with a chance of 80 %, where n do not suffice to tell; else None,
    and where that is not known."""
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


#: Fractions that the scale of curves may end at.
TOPS = (0.25, 0.5, 1.0)


def top_of(rows: Iterable[ModelRow]) -> float:
    """Where the scale of the curves of these rows ends, from 0: the least of `TOPS` that no accuracy exceeds."""
    highest = max((point.accuracy or 0.0 for row in rows for point in row.curve), default=1.0)
    return next(top for top in TOPS if highest <= top)


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
    """One per model and study of remedies, and one per model on remedies in a session."""
    warnings: tuple[WarningGroup, ...]
    """Those with a number first, in its order."""
    pairs: tuple[PairMatrix, ...]


def first_screen(study: StudyFindings) -> FirstScreen:
    """The first screen of a study."""
    references = {reference.sweep: reference for reference in study.of_kind("references")}
    named = (reference.facts[key] for reference in references.values() for key in ("closed_book", "oracle"))
    referred = {name for name in named if name}
    shown = [name for name in study.experiments if name not in referred or _is_asked(name, references)]
    measured = grouped(study.of_kind("curve", "accuracy"), lambda finding: finding.experiments[0])
    pairs = grouped(study.of_kind("pair"), lambda finding: finding.experiments[0])
    names = [name for name in shown if name in measured]
    warnings = _warning_groups(study.findings, [finding for name in names for finding in measured[name]], references)
    return FirstScreen(
        headline_of(study),
        tuple(_question_table(name, measured[name], references, pairs.get(name, []), warnings) for name in names),
        tuple(study.of_kind("advice", "session_remedies")),
        tuple(warnings),
        tuple(_pair_matrix(name, measured[name], pairs[name]) for name in names if name in pairs),
    )


References = Mapping[tuple, Finding]


def _is_asked(name: str, references: References) -> bool:
    """Whether an experiment has references, so that it is no reference alone."""
    return any(experiment == name for _, experiment in references)


def _question_table(
    experiment: str,
    measured: Sequence[Finding],
    references: References,
    pairs: Sequence[Finding],
    warnings: Sequence[WarningGroup],
) -> QuestionTable:
    sizes = grouped(measured, lambda finding: (finding.size or 0, finding.placement))
    tables = []
    for (size, placement), of_size in sizes.items():
        ordered = sorted(of_size, key=lambda finding: -_overall(finding))
        above = [None, *ordered[:-1]]
        rows = [_row(*neighbours, references, pairs, warnings) for neighbours in zip(ordered, above, strict=True)]
        tables.append(SizeTable(size, placement, tuple(rows)))
    return QuestionTable(experiment, measured[0].facts["metric"], tuple(tables))


def _overall(finding: Finding) -> float:
    """Accuracy, by which rows are ordered; those without one are last."""
    value = finding.numbers["overall"].value
    return -1.0 if value is None else value


def _row(
    finding: Finding,
    above: Finding | None,
    references: References,
    pairs: Sequence[Finding],
    warnings: Sequence[WarningGroup],
) -> ModelRow:
    (model,), (experiment,), numbers, facts = finding.models, finding.experiments, finding.numbers, finding.facts
    reference = references.get((model, experiment))
    others = {key: reference.facts[key] for key in ("closed_book", "oracle")} if reference else {}
    touched = [(experiment, finding.size), *((name, None) for name in others.values() if name)]
    beside = {key: reference.numbers[key] for key, name in others.items() if name} if reference else {}
    return ModelRow(
        model=model,
        n=finding.n or 0,
        overall=numbers["overall"],
        is_tied=above is not None
        and numbers["overall"].value is not None
        and not _is_shown_above(above, finding, pairs),
        closed_book=beside.get("closed_book"),
        oracle=beside.get("oracle"),
        n_references=reference.n if beside and reference and reference.n != finding.n else None,
        start=numbers.get("start"),
        middle=numbers.get("middle"),
        end=numbers.get("end"),
        pbi=numbers.get("pbi"),
        shape=_shape(finding) if finding.kind == "curve" else "",
        strength=finding.strength,
        needed=facts["needed"] if finding.strength is Strength.CANNOT_TELL else None,
        curve=tuple(Point(*point) for point in facts.get("points", ())),
        marks=tuple(
            group.number
            for group in warnings
            if any(concerns(warning, model, *cell) for warning in group.findings for cell in touched)
        ),
    )


def _shape(curve: Finding) -> str:
    """The word for a curve, or why it has none."""
    reason = curve.facts["reason"]
    if is_doubt(reason):
        return IN_DOUBT
    if reason in SILENT:
        return FLOOR if reason in (CUT, REFUSED) else reason
    return curve.facts["shape"] or (DIFFERING if curve.facts["is_differing"] else NOT_DIFFERING)


def _is_shown_above(above: Finding, finding: Finding, pairs: Iterable[Finding]) -> bool:
    """Whether the model of the row above is shown to be more accurate in the experiment."""
    both = (*above.models, *finding.models)
    for pair in pairs:
        if {*pair.models} == {*both} and (number := pair.numbers["accuracy"]).is_shown:
            return ((number.value or 0.0) > 0) == (pair.models == both)
    return False


# --- Warnings --------------------------------------------------------------------------------------------------


def _warning_groups(
    findings: Iterable[Finding], measured: Iterable[Finding], references: References
) -> list[WarningGroup]:
    """The warnings by their kinds; those that concern a row of a table first, with their numbers."""
    cells = [(finding.models[0], finding.experiments[0], finding.size) for finding in measured]
    for model, experiment, _ in [*cells]:
        if reference := references.get((model, experiment)):
            names = (reference.facts[key] for key in ("closed_book", "oracle"))
            cells += [(model, name, None) for name in names if name]
    warnings = [finding for finding in findings if KINDS[finding.kind].is_warning]
    groups = in_groups(warnings)
    touching = [alike for alike in groups if any(concerns(warning, *cell) for warning in alike for cell in cells)]
    numbered = [(place, alike) for place, alike in enumerate(touching, start=1)]
    ordered = [*numbered, *((0, alike) for alike in groups if alike not in touching)]
    return [WarningGroup(number, alike[0].kind, alike) for number, alike in ordered]


# --- Pairs -----------------------------------------------------------------------------------------------------


def _pair_matrix(experiment: str, measured: Iterable[Finding], pairs: Sequence[Finding]) -> PairMatrix:
    """Differences in accuracy; models by their mean accuracy over the sizes, the best first."""
    compared = {model for pair in pairs for model in pair.models}
    means = {
        model: sum(map(_overall, of_model)) / len(of_model)
        for model, of_model in grouped(measured, lambda finding: finding.models[0]).items()
        if model in compared
    }
    models = sorted(means, key=lambda model: -means[model])
    numbers: dict[tuple[str, ...], Number] = {}
    for pair in pairs:
        number = pair.numbers["accuracy"]
        numbers[pair.models], numbers[pair.models[::-1]] = number, _reversed(number)
    return PairMatrix(experiment, tuple(models), tuple(tuple(numbers.get((a, b)) for b in models) for a in models))


def _reversed(number: Number) -> Number:
    """The same difference, b minus a."""
    value, low, high = (None if limit is None else -limit for limit in (number.value, number.high, number.low))
    return Number(value, low, high, number.p)
