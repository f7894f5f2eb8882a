"""Warnings: what a reader has to know before quoting a number.

`litm.findings.warning_words` says them.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import product

from litm.base.groups import grouped
from litm.findings import answer_warnings, question_warnings
from litm.findings.answer_warnings import (
    NOTHING,
    Row,
    announced_findings,
    cut_findings,
    doubt_findings,
    empty_findings,
    inside_findings,
    judge_findings,
    lacking_findings,
    limits_of,
    position_findings,
    reading_findings,
    reasoning_findings,
    recorded_findings,
    refused_findings,
    stops_of,
)
from litm.findings.question_warnings import (
    check_findings,
    cluster_findings,
    filled_findings,
    gold_findings,
    written_before_findings,
    written_findings,
)
from litm.findings.record import Finding, Kind

#: The kinds of warnings, in the order in which a reader has to know of them: first those of answers that say nothing.
WARNING_KINDS: Mapping[str, Kind] = {**answer_warnings.KINDS, **question_warnings.KINDS}


def warnings_of(
    rows: Callable[[str], Sequence[Row]],
    manifests: Sequence[Row] = (),
    experiments: Sequence[Row] = (),
    *,
    stand_ins: Collection[str] = (),
    clusters: Mapping[str, Collection[Hashable]] = NOTHING,
    filled: Mapping[str, Mapping[int, float]] = NOTHING,
) -> list[Finding]:
    """The warnings of a study, in the order of their kinds.

    rows: of a table by its name, none without it; manifests: of the sweeps; experiments: settings of each; stand_ins:
    models that are none, without warnings about their answers; clusters: see `question_warnings.read_clusters`; filled:
    see `released_format.filled_shares`.
    """
    accuracy, bias, readings, judged = (
        [row for row in rows(name) if row["model"] not in stand_ins]
        for name in ("accuracy", "position_bias", "reading_sensitivity", "judge")
    )
    makers: tuple[Iterable[Finding], ...] = (
        doubt_findings(accuracy, bias),
        reasoning_findings(manifests),
        recorded_findings(manifests),
        position_findings(accuracy),
        lacking_findings(accuracy),
        cut_findings(accuracy, limits_of(manifests)),
        empty_findings(accuracy),
        refused_findings(accuracy),
        reading_findings(readings),
        announced_findings(readings, stops_of(manifests)),
        inside_findings(accuracy),
        judge_findings(judged, experiments),
        written_findings(rows("written_questions"), experiments),
        written_before_findings(rows("gold_passages"), experiments),
        gold_findings(rows("gold_passages"), experiments),
        check_findings(rows("answer_checks")),
        cluster_findings(experiments, clusters),
        filled_findings(filled),
    )
    order = [*WARNING_KINDS]
    return sorted((finding for made in makers for finding in made), key=lambda finding: order.index(finding.kind))


def in_groups(findings: Iterable[Finding]) -> list[tuple[Finding, ...]]:
    """Warnings that are said in one sentence: of one kind and, where it is said with them, of one reason."""

    def key(finding: Finding) -> tuple:
        return finding.kind, *(finding.facts.get(name) for name in ("doubt", "reason"))

    return [*map(tuple, grouped(findings, key).values())]


#: A model, None for all of them; an experiment; a size, None for all of them.
Concern = tuple[str | None, str, int | None]


def touches(finding: Finding) -> set[Concern]:
    """The numbers that a warning concerns; none for one that is about no experiment."""
    sizes = [finding.size] if finding.size is not None else finding.facts.get("sizes") or [None]
    return {*product(finding.models or (None,), finding.experiments, sizes)}


def concerns(finding: Finding, model: str, experiment: str, size: int | None = None) -> bool:
    """Whether a warning concerns a number of a model and an experiment; size: of the number, None for any."""
    return any(
        other in (None, model) and name == experiment and (None in (size, of_size) or of_size == size)
        for other, name, of_size in touches(finding)
    )
