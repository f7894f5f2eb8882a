"""Warnings about the questions, for all models: gold passages that were looked for, answers that are hard to judge, few
clusters, and documents that were filled in.

Rows are of the tables, as `table_files.plain_rows` gives them.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from litm.base.groups import grouped
from litm.base.messages import FEW_CLUSTERS, worth_of_clusters
from litm.base.table_files import read_parquet
from litm.findings.record import Finding, Kind, Number

Row = Mapping[Any, Any]
#: Fraction of the questions above which answers in other items, or answers that are a choice, are many.
MANY = 0.05
#: Values of `how` in gold_passages.csv: of questions that are left out, and of passages that the user did not name.
WITHOUT, LOOKED_FOR = ("none", "left_out"), "first_retrieved"

COUNT = {"count": "how many of the n questions, at the size with the largest share"}
SIZES = {"sizes": "the sizes with as large a share, ascending"}

KINDS = {
    "written": Kind(
        "A model wrote the questions of a set, and a model checked them.",
        facts={
            "questions": "name of the question set",
            "written_by": "the model that wrote them",
            "checked_by": "the model that answered them with their passage and not without it",
            "kept": "how many of the n questions are asked",
            "outcomes": "how many had each outcome of written_questions.csv",
        },
        is_warning=True,
    ),
    "written_before": Kind(
        "A model wrote questions of the user's own table, as its column written_by says; they may have been edited.",
        facts={
            "questions": "name of the question set",
            "written_by": "the models that wrote them",
            "written": "how many of the n questions they wrote",
        },
        is_warning=True,
    ),
    "gold_looked_for": Kind(
        "Questions of a set have no gold passage and are left out, or have the first retrieved passage with the answer "
        "as theirs, which the user did not name.",
        facts={
            "questions": "name of the question set",
            "looked_for": "how many of the n questions have the first retrieved passage",
            "without": "how many have none",
        },
        is_warning=True,
    ),
    "answers_not_in_gold": Kind(
        "The metric finds none of the accepted answers in the gold documents of some questions, so an answer from "
        "there may count as wrong.",
        facts={**COUNT, "sizes": "the sizes with any, ascending"},
        is_warning=True,
    ),
    "answers_elsewhere": Kind(
        "The metric finds the accepted answers of many questions in other items of the context too, so a wrong answer "
        "may count as right.",
        facts={**COUNT, **SIZES},
        is_warning=True,
    ),
    "choices": Kind(
        "The accepted answers of many questions are a yes, a no or a letter, so no metric of words tells a guess from "
        "knowledge.",
        {"chance": "the fraction of these that are right if the answer to all is the same"},
        {**COUNT, **SIZES},
        is_warning=True,
    ),
    "few_clusters": Kind(
        "The questions are in so few clusters that the intervals may be too narrow.",
        facts={
            "cluster": "the field of the clusters",
            "clusters": "how many clusters the n questions are in",
            "worth": "how many clusters of equal size they are worth",
        },
        is_warning=True,
    ),
    "filled": Kind(
        "Documents were not retrieved but filled in at random, because the retriever found too few.",
        {"share": "the largest fraction of the documents of a size"},
        {"sizes": "the sizes with any, ascending", "shares": "the fraction of the documents at each of these sizes"},
        is_warning=True,
    ),
}


def written_findings(rows: Iterable[Row], experiments: Sequence[Row]) -> Iterator[Finding]:
    """A finding for each question set that a model wrote; rows: of written_questions.csv, experiments as
    `gold_findings`.
    """
    for name, of_set in grouped(rows, itemgetter("questions")).items():
        outcomes = Counter(row["outcome"] for row in of_set)
        names = {key: of_set[0][key] for key in ("written_by", "checked_by")}
        yield Finding(
            "written",
            experiments=_asking(name, experiments),
            n=len(of_set),
            facts={"questions": name, **names, "kept": outcomes["kept"], "outcomes": dict(outcomes)},
        )


def written_before_findings(rows: Iterable[Row], experiments: Sequence[Row]) -> Iterator[Finding]:
    """A finding for each of the user's question sets with questions that a model wrote; arguments: as
    `gold_findings`.
    """
    for name, of_set in grouped(rows, itemgetter("questions")).items():
        if writers := [row["written_by"] for row in of_set if row.get("written_by")]:
            yield Finding(
                "written_before",
                experiments=_asking(name, experiments),
                n=len(of_set),
                facts={"questions": name, "written_by": [*dict.fromkeys(writers)], "written": len(writers)},
            )


def _asking(name: str, experiments: Sequence[Row]) -> tuple[str, ...]:
    """The experiments that ask a question set, and those whose closed book or oracle does."""
    asking = {settings["name"] for settings in experiments if name in (settings.get("datasets") or {}).values()}
    return tuple(
        settings["name"]
        for settings in experiments
        if asking & {settings["name"], settings.get("closed_book"), settings.get("oracle")}
    )


def gold_findings(rows: Iterable[Row], experiments: Sequence[Row] = ()) -> Iterator[Finding]:
    """A finding for each question set with a gold passage that was looked for, or without one.

    rows: of gold_passages.csv; experiments: settings of each. A set concerns the experiments that ask it, and those
    whose closed book or oracle does.
    """
    for name, of_set in grouped(rows, itemgetter("questions")).items():
        looked_for, without = (sum(row["how"] in hows for row in of_set) for hows in ((LOOKED_FOR,), WITHOUT))
        if looked_for or without:
            yield Finding(
                "gold_looked_for",
                experiments=_asking(name, experiments),
                n=len(of_set),
                facts={"questions": name, "looked_for": looked_for, "without": without},
                remedy="correct_gold",
            )


def check_findings(rows: Iterable[Row]) -> Iterator[Finding]:
    """Findings on each experiment's answers: in no gold document, in other items too, or a choice.

    rows: of answer_checks.csv; the size with the largest share counts.
    """
    for name, of_experiment in grouped(rows, itemgetter("experiment")).items():
        for kind, column, few in (
            ("answers_not_in_gold", "n_not_in_gold", 0),
            ("answers_elsewhere", "n_in_distractors", MANY),
            ("choices", "n_choices", MANY),
        ):
            shares = {row["size"]: (row.get(column) or 0) / row["n"] for row in of_experiment}
            most = max(of_experiment, key=lambda row, shares=shares: shares[row["size"]])  # type: ignore[misc]
            if shares[most["size"]] > few:
                yield Finding(
                    kind,
                    experiments=(name,),
                    n=most["n"],
                    numbers={"chance": Number(most["chance"])} if kind == "choices" else {},
                    facts={
                        "count": most[column],
                        "sizes": sorted(size for size, share in shares.items() if share > few),
                    },
                )


def cluster_findings(experiments: Iterable[Row], clusters: Mapping[str, Collection[Hashable]]) -> Iterator[Finding]:
    """A finding for each experiment with few clusters, see `FEW_CLUSTERS`.

    experiments: settings of each; clusters: of each question, by experiment, see `read_clusters`.
    """
    for settings in experiments:
        if (of_questions := clusters.get(settings["name"])) and (
            worth := worth_of_clusters(of_questions)
        ) < FEW_CLUSTERS:
            facts = {"cluster": settings["cluster"], "clusters": len({*of_questions}), "worth": worth}
            yield Finding(
                "few_clusters",
                experiments=(settings["name"],),
                n=len(of_questions),
                facts=facts,
                remedy="more_clusters",
            )


def read_clusters(experiments: Iterable[Row], scores: Mapping[str, Path]) -> dict[str, list]:
    """The cluster of each question, by experiment.

    experiments: settings of each; scores: by experiment, a file of a model's, without clusters if it is older than
    these.
    """
    clusters = {}
    for name in (settings["name"] for settings in experiments if settings.get("cluster")):
        if name in scores and "cluster" in (rows := read_parquet(scores[name])):
            clusters[name] = rows[["id", "cluster"]].drop_duplicates()["cluster"].tolist()
    return clusters


def filled_findings(shares: Mapping[str, Mapping[int, float]]) -> Iterator[Finding]:
    """A finding for each experiment with documents that were filled in.

    shares: fraction of the documents, by experiment and size, see `released_format.filled_shares`.
    """
    for name, by_size in shares.items():
        filled: Sequence[tuple[int, float]] = sorted((size, share) for size, share in by_size.items() if share)
        if filled:
            sizes, values = map(list, zip(*filled, strict=True))
            yield Finding(
                "filled",
                experiments=(name,),
                numbers={"share": Number(max(values))},
                facts={"sizes": sizes, "shares": values},
            )
