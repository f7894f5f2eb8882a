"""All findings of a study."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

from litm.findings.curves import (
    Row,
    accuracy_findings,
    curve_findings,
    differs,
    doubtful_sweeps,
    no_information_findings,
    silent_sweeps,
    study_finding,
    sweep_of,
)
from litm.findings.kinds import KINDS
from litm.findings.pairs import pair_findings
from litm.findings.probability import probability_findings
from litm.findings.record import Finding, StudyFindings
from litm.findings.references import no_benefit_findings, reference_findings, silenced, unhelped
from litm.findings.session_remedies import session_findings
from litm.findings.sizes import size_findings
from litm.findings.warnings import warnings_of

NOTHING: Mapping[Any, Any] = {}


def findings_of(
    rows: Callable[[str], Sequence[Row]],
    experiments: Sequence[Mapping[str, Any]],
    *,
    models: Sequence[str] = (),
    plain: Collection[str] | None = None,
    stand_ins: Collection[str] = (),
    manifests: Sequence[Mapping[str, Any]] = (),
    clusters: Mapping[str, Collection[Hashable]] = NOTHING,
    filled: Mapping[str, Mapping[int, float]] = NOTHING,
    advice: Iterable[Finding] = (),
) -> StudyFindings:
    """The findings of a study, in the order of their kinds.

    rows: of a table by its name, as `plain_rows` gives them, none without it; experiments: settings of each, in the
    order of the study; models: in its order, by default that of accuracy.csv; plain: experiments that differ by no
    remedy, by default all; stand_ins: models that are none: nothing is concluded from their answers; manifests,
    clusters, filled: see `warnings_of`; advice: of each model and study of remedies.
    """
    accuracy, bias = rows("accuracy"), rows("position_bias")
    names = [settings["name"] for settings in experiments]
    fields = {settings["name"]: settings["cluster"] for settings in experiments if settings.get("cluster")}
    doubtful, differing = doubtful_sweeps(accuracy, bias), {sweep_of(row) for row in bias if differs(row)}
    curves = [*curve_findings(accuracy, bias, rows("wrong_answers"), stand_ins)]
    references = [*reference_findings(rows("utilisation"), accuracy, experiments, doubtful, stand_ins)]
    no_benefit = [*no_benefit_findings(references, accuracy, differing, fields, doubtful, stand_ins)]
    without_benefit = unhelped(no_benefit)
    silent = (without_benefit - differing) | silent_sweeps(bias) | doubtful
    answered = [model for model in stand_ins if any(row["model"] == model for row in accuracy)]
    makers: tuple[Iterable[Finding], ...] = (
        [study_finding(accuracy, bias, rows("published_comparison"))],
        [Finding("stand_ins", tuple(answered))] if answered else [],
        curves,
        accuracy_findings(accuracy, bias),
        size_findings(rows("effective_length"), stand_ins),
        references,
        no_benefit,
        no_information_findings(curves, without_benefit, fields),
        session_findings(rows("session_remedies"), stand_ins),
        pair_findings(rows("model_pairs"), accuracy, stand_ins, silent),
        probability_findings(rows("log_probability_effects"), curves, stand_ins),
        _heard(advice, without_benefit, differing, experiments, stand_ins),
        warnings_of(rows, manifests, experiments, stand_ins=stand_ins, clusters=clusters, filled=filled),
    )
    order = [*KINDS]
    findings = sorted((finding for made in makers for finding in made), key=lambda finding: order.index(finding.kind))
    shown = tuple(name for name in names if plain is None or name in plain)
    return StudyFindings(tuple(models or dict.fromkeys(row["model"] for row in accuracy)), shown, tuple(findings))


def _heard(
    advice: Iterable[Finding],
    without_benefit: set[tuple],
    differing: set[tuple],
    experiments: Iterable[Mapping[str, Any]],
    stand_ins: Collection[str],
) -> list[Finding]:
    """The advice without that of stand-ins, and of models that answer the same questions as well without documents,
    unless positions differ.
    """
    books = {settings["name"]: settings.get("closed_book") for settings in experiments}
    silent = silenced(without_benefit - differing, books) - silenced(without_benefit & differing, books)
    return [finding for finding in advice if finding.models[0] not in stand_ins and finding.sweep not in silent]
