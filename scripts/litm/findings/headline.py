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
        curve
        for curve in study.of_kind("curve")
        if curve.strength is not None and curve.experiments[0] in study.experiments
    ]
    unhelped = {finding.sweep: finding for finding in study.of_kind("no_benefit")}
    by_model = [_of_model(of_model, unhelped) for of_model in grouped(curves, lambda curve: curve.models[0]).values()]
    headline = [*sorted(by_model, key=_place), *study.of_kind("advice")]
    return tuple(headline or _most_accurate(study) or study.of_kind("stand_ins"))


def _of_model(curves: Iterable[Finding], unhelped: dict[tuple, Finding]) -> Finding:
    """The finding of a model in the headline: a curve, or that its document does not help if no curve has an effect."""
    curve = min(curves, key=_place)
    warning = unhelped.get(curve.sweep)
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
    stand_ins = {model for finding in study.of_kind("stand_ins") for model in finding.models}
    accuracies = [
        finding
        for finding in study.of_kind("accuracy")
        if finding.numbers["overall"].value is not None
        and finding.models[0] not in stand_ins
        and finding.experiments[0] in study.experiments
    ]
    if not accuracies:
        return []
    cell = accuracies[0].experiments, accuracies[0].size
    first = [finding for finding in accuracies if (finding.experiments, finding.size) == cell]
    best, *others = sorted(first, key=lambda finding: -(finding.numbers["overall"].value or 0.0))
    if not others:
        return [best]
    both = {*best.models, *others[0].models}
    return [
        best,
        *(pair for pair in study.of_kind("pair") if {*pair.models} == both and pair.experiments == best.experiments),
    ]
