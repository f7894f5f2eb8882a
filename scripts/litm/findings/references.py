"""Whether the document with the answer helps: closed book and oracle of each model and experiment."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from litm.base.groups import grouped
from litm.findings.curves import Row, sweep_of
from litm.findings.record import Finding, Kind, Number, Strength
from litm.records.conditions import ORACLE, REFERENCE_TASKS

#: Fraction right without documents from which on the questions, not the model, are the matter.
KNOWN = 0.5
_NUMBERS = {"closed_book": "accuracy without documents", "oracle": "accuracy with the gold document alone"}

KINDS = {
    "references": Kind(
        "Closed book and oracle of a model and an experiment: shown where the document is clearly better than none "
        "(99 %). On the questions common with the experiment's cell of the most questions, if it has both references.",
        numbers=_NUMBERS
        | {"utilisation": "mean over cells of the share of the document's benefit that the model realises, no limits"},
        facts={
            "closed_book": "the experiment without documents, null without one",
            "oracle": "the experiment with the gold document alone, null without one",
            "has_doubts": "whether answers of one of the experiments are in doubt, so that nothing is concluded",
        },
    ),
    "no_benefit": Kind(
        "The document is not shown to help a model, so its positions, their number and order have nothing to show; the "
        "experiment is the oracle where the study has no closed book.",
        numbers=_NUMBERS,
        facts={
            "is_differing": "whether positions are shown to differ nevertheless",
            "cluster": "the field of the clusters, null without",
        },
        is_warning=True,
    ),
}


def reference_findings(
    utilisation: Iterable[Row],
    accuracy: Sequence[Row],
    experiments: Sequence[Mapping[str, Any]],
    doubtful: Container[tuple],
    stand_ins: Container[str] = (),
) -> Iterator[Finding]:
    """A finding for each model and experiment with closed book or oracle, in the order of the experiments.

    utilisation, accuracy: rows of utilisation.csv and accuracy.csv; experiments: settings of each; doubtful: see
    `doubtful_sweeps`.
    """
    cells = grouped(utilisation, sweep_of)
    sweeps = grouped(accuracy, sweep_of)
    models = list(dict.fromkeys(model for model, _ in sweeps))
    for settings in experiments:
        name = settings["name"]
        names = {key: settings.get(key) for key in ("closed_book", "oracle")}
        for model in models:
            asked = {key: other for key, other in names.items() if other and (model, other) in sweeps}
            if (model, name) not in sweeps or not asked:
                continue
            has_doubts = any((model, other) in doubtful for other in (name, *asked.values()))
            rows = [] if has_doubts else [row for row in cells.get((model, name), ()) if row["n"]]
            numbers = {
                key: _alone(sweeps[model, asked[key]], (model, asked[key]) in doubtful)
                if key in asked
                else Number(None)
                for key in names
            }
            shares = [row["utilisation"] for row in rows if row["utilisation"] is not None]
            strength, n = None, None
            if rows:
                # The sentence tells the references of a cell with a benefit.
                with_benefit = [row for row in rows if row["utilisation"] is not None]
                cell = max(with_benefit, key=itemgetter("n")) if with_benefit else rows[0]
                numbers = {key: Number.of_row(cell, f"accuracy_{key}") for key in names}
                n, strength = cell["n"], _strength(numbers, bool(shares))
            numbers["utilisation"] = Number(sum(shares) / len(shares) if shares else None)
            yield Finding(
                "references",
                (model,),
                (name,),
                n=n,
                strength=None if model in stand_ins else strength,
                numbers=numbers,
                facts={**{key: asked.get(key) for key in names}, "has_doubts": has_doubts},
            )


def _alone(rows: Sequence[Row], is_doubtful: bool) -> Number:
    """The accuracy of a reference by itself."""
    return Number(None) if is_doubtful else Number.of_row(rows[0], "accuracy", "")


def _strength(numbers: Mapping[str, Number], has_benefit: bool) -> Strength:
    if has_benefit:
        return Strength.SHOWN
    # Few questions may hide a benefit that the answers hint at.
    return Strength.CANNOT_TELL if _hints(numbers) else Strength.UNINFORMATIVE


def _hints(numbers: Mapping[str, Number]) -> bool:
    return (numbers["oracle"].value or 0.0) > (numbers["closed_book"].value or 0.0)


def no_benefit_findings(
    references: Iterable[Finding],
    accuracy: Iterable[Row],
    differing: Container[tuple],
    clusters: Mapping[str, str],
    doubtful: Container[tuple] = (),
    stand_ins: Collection[str] = (),
) -> Iterator[Finding]:
    """A finding for each model and experiment that the document is not shown to help; and for a model without one whose
    oracle alone is known, if none of its answers is right.

    references: findings; accuracy: rows of accuracy.csv; differing: the (model, experiment) with a curve that differs;
    clusters: the field of the clusters, by experiment.
    """
    reported = set(stand_ins)
    for finding in references:
        if finding.strength in (Strength.CANNOT_TELL, Strength.UNINFORMATIVE):
            numbers = {key: finding.numbers[key] for key in _NUMBERS}
            is_differing = finding.sweep in differing
            yield _no_benefit(finding.sweep, finding.n, finding.strength, numbers, is_differing, clusters)
            reported.update(finding.models)
    for row in accuracy:
        is_oracle = row["task"] == REFERENCE_TASKS[ORACLE] and sweep_of(row) not in doubtful
        if is_oracle and row["accuracy"] == 0 and row["model"] not in reported:
            numbers = {"closed_book": Number(None), "oracle": Number.of_row(row, "accuracy", "")}
            yield _no_benefit(sweep_of(row), row["n"], Strength.UNINFORMATIVE, numbers, False, clusters)
            reported.add(row["model"])


def _no_benefit(
    sweep: tuple,
    n: int | None,
    strength: Strength,
    numbers: Mapping[str, Number],
    is_differing: bool,
    clusters: Mapping[str, str],
) -> Finding:
    model, experiment = sweep
    facts = {"is_differing": is_differing, "cluster": clusters.get(experiment)}
    return Finding(
        "no_benefit",
        (model,),
        (experiment,),
        None,
        None,
        n,
        strength,
        numbers,
        facts,
        _remedy(numbers, facts["cluster"]),
    )


def _remedy(numbers: Mapping[str, Number], cluster: Any) -> str:
    """The name of what to do."""
    if not numbers["oracle"].value:
        return "check_prompt"
    is_known = (numbers["closed_book"].value or 0.0) >= KNOWN
    more = ("more_clusters_or_" if cluster else "more_or_") if _hints(numbers) else ""
    return more + ("questions_that_need_documents" if is_known else "easier_questions")


def unhelped(findings: Iterable[Finding]) -> set[tuple]:
    """The (model, experiment) of the findings of the kind no_benefit."""
    return {finding.sweep for finding in findings if finding.kind == "no_benefit"}


def silenced(sweeps: Iterable[tuple], closed_book: Mapping[str, str | None]) -> set[tuple]:
    """The (model, experiment) whose advice says nothing, because the same questions without documents go as well.

    sweeps: those that the document is not shown to help; closed_book: the experiment's closed book, by experiment; one
    without its own goes by the only one of the study, such as questions on documents as retrieved.
    """
    books = set(filter(None, closed_book.values()))
    only = next(iter(books)) if len(books) == 1 else None
    book_of = {name: book or only for name, book in closed_book.items()}
    silent = {(model, book_of.get(experiment)) for model, experiment in sweeps}
    return {(model, name) for name, book in book_of.items() for model, other in silent if book and other == book}
