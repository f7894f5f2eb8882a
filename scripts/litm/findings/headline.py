"""What the headline of a study says: the findings that it joins."""

from collections.abc import Iterable

from litm.base.groups import grouped
from litm.findings.record import Finding, Strength, StudyFindings

#: Findings of a model, the most important first.
ORDER = (Strength.SHOWN, Strength.CANNOT_TELL, Strength.NOT_SHOWN, Strength.UNINFORMATIVE)


def headline_of(study: StudyFindings) -> tuple[Finding, ...]:
    """The findings of the headline, the most important first: for each model the largest effect of position, or that it
    has none, or why that is not known; then each advice; without both, the most accurate model of the first experiment
    and its difference from the second; nothing but the stand-ins in a study of these.
    """
    curves = [
        one for one in study.of_kind("curve") if one.strength is not None and one.experiments[0] in study.experiments
    ]
    unhelped = {(*one.models, *one.experiments): one for one in study.of_kind("no_benefit")}
    told = [_of_model(of_model, unhelped) for of_model in grouped(curves, lambda one: one.models[0]).values()]
    headline = [*sorted(told, key=_place), *study.of_kind("advice")]
    return tuple(headline or _most_accurate(study) or study.of_kind("stand_ins"))


def _of_model(curves: Iterable[Finding], unhelped: dict[tuple, Finding]) -> Finding:
    """What is told of a model; that a document does not help it takes the place of a curve without a shown effect."""
    curve = min(curves, key=_place)
    warning = unhelped.get((*curve.models, *curve.experiments))
    return curve if warning is None or curve.strength is Strength.SHOWN else warning


def _place(finding: Finding) -> tuple[int, int, float]:
    """Shown effects first, the largest first; among the others, the one that needs the most questions first."""
    assert finding.strength is not None
    is_of_curve = finding.kind == "curve"
    size = (
        abs(finding.numbers[finding.facts["effect"]].value or 0.0) if is_of_curve and finding.facts["effect"] else 0.0
    )
    needed = (finding.facts["needed"] or 0.0) if is_of_curve else 0.0
    return ORDER.index(finding.strength), 0 if is_of_curve else 1, -(size or needed)


def _most_accurate(study: StudyFindings) -> list[Finding]:
    """The most accurate model of the first experiment that has any, and its difference from the next one."""
    stand_ins = {model for one in study.of_kind("stand_ins") for model in one.models}
    accuracies = [
        one
        for one in study.of_kind("accuracy")
        if one.numbers["overall"].value is not None
        and one.models[0] not in stand_ins
        and one.experiments[0] in study.experiments
    ]
    if not accuracies:
        return []
    first = [
        one for one in accuracies if (one.experiments, one.size) == (accuracies[0].experiments, accuracies[0].size)
    ]
    best, *others = sorted(first, key=lambda one: -(one.numbers["overall"].value or 0.0))
    if not others:
        return [best]
    both = {*best.models, *others[0].models}
    return [
        best,
        *(one for one in study.of_kind("pair") if {*one.models} == both and one.experiments == best.experiments),
    ]
