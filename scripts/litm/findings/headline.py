"""What the headline of a study says: the findings that it joins."""

from collections.abc import Iterable
from dataclasses import replace
from statistics import NormalDist

from litm.base.groups import grouped
from litm.findings.record import SHOWN, Finding, Number, Strength, StudyFindings

#: Findings of a model, the most important first.
ORDER = (Strength.SHOWN, Strength.CANNOT_TELL, Strength.NOT_SHOWN, Strength.UNINFORMATIVE)


def headline_of(study: StudyFindings) -> tuple[Finding, ...]:
    """The findings of the headline, the most important first: for each model the largest effect of position, with
    limits that hold for all curves at once, or that it has none, or why that is not known; then each advice that names
    a condition; without both, the most accurate model of the first experiment and its difference from the second;
    nothing but the stand-ins in a study of these.
    """
    curves = [
        curve
        for curve in study.of_kind("curve")
        if curve.strength is not None and curve.experiments[0] in study.experiments
    ]
    unhelped = {finding.sweep: finding for finding in study.of_kind("no_benefit")}
    by_model = [_of_model(of_model, unhelped) for of_model in grouped(curves, lambda curve: curve.models[0]).values()]
    with_limits = [_with_common_limits(finding, len(curves)) for finding in by_model]
    advice = [finding for finding in study.of_kind("advice") if finding.facts["condition"]]
    headline = [*sorted(with_limits, key=_place), *advice]
    return tuple(headline or _most_accurate(study) or study.of_kind("stand_ins"))


def _of_model(curves: Iterable[Finding], unhelped: dict[tuple, Finding]) -> Finding:
    """The finding of a model in the headline: a curve, or that its document does not help if no curve has an effect."""
    curve = min(curves, key=_place)
    warning = unhelped.get(curve.sweep)
    return curve if warning is None or curve.strength is Strength.SHOWN else warning


def _with_common_limits(finding: Finding, n_curves: int) -> Finding:
    """The finding with limits of its effect that hold for all curves at once, because the largest effect is chosen.

    Bonferroni's: half-widths of the 95 % interval times the ratio of normal quantiles; and 0 is the limit of an effect
    that is shown (Strassburger and Bretz 2008, Stat. Med. 27, 4914-4927: intervals compatible with Holm's procedure).
    """
    if finding.strength is not Strength.SHOWN:
        return finding
    name = finding.facts["effect"]
    value, low, high, p = finding.numbers[name]
    if value is None or low is None or high is None:
        return finding
    wider = NormalDist().inv_cdf(1 - SHOWN / (2 * n_curves)) / NormalDist().inv_cdf(1 - SHOWN / 2)
    least, most = (0.0, 1.0) if value > 0 else (-1.0, 0.0)
    number = Number(value, max(least, value - wider * (value - low)), min(most, value + wider * (high - value)), p)
    return replace(finding, numbers={**finding.numbers, name: number})


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
