"""Sentences on the questions: gold passages that were looked for, and answers that are hard to judge."""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from litm.analysis.sentences import LOOKED_FOR, MANY_EMPTY, MOST_CUT, WITHOUT, Row
from litm.base.groups import grouped
from litm.base.messages import first_of
from litm.tables.table import tables

if TYPE_CHECKING:
    import pandas as pd


def to_look_at(gold: "pd.DataFrame | None", checks: Sequence[Row]) -> list[str]:
    """The sentences on questions without a gold passage, or with one that was looked for, and `check_sentences`.

    gold: gold_passages.csv, None without it; checks: rows of answer_checks.csv.
    """
    sentences = [*check_sentences(checks)]
    if gold is not None:
        named = gold.loc[gold["how"].isin([*WITHOUT, LOOKED_FOR]), "questions"]
        sentences = [*gold_sentences(gold[gold["questions"].isin(named)]), *sentences]
    return [f"{sentence}." for sentence in sentences]


def gold_sentences(gold: "pd.DataFrame | None") -> list[str]:
    """One sentence per question set of gold_passages.csv: the number of gold passages and how they were found."""
    sentences = []
    for name, rows in gold.groupby("questions") if gold is not None else ():
        by_way = rows["how"].value_counts()
        total, first, lacking = len(rows), int(by_way.get(LOOKED_FOR, 0)), int(by_way.reindex(WITHOUT).sum())
        taken = f"; for {first} of them the first retrieved passage with the answer was taken" if first else ""
        without = f"; questions without one, left out: {lacking}" if lacking else ""
        sentences.append(
            f"{name}: {total - lacking} of {total} questions have a gold passage{taken}{without} (check and "
            f"correct them in results/tables/gold_passages.csv)"
        )
    return sentences


def check_sentences(checks: Sequence[Row]) -> Iterator[str]:
    """One sentence per experiment in which the metric finds more than `MANY_EMPTY` of the answers in other items too,
    one for all with as many answers that are a choice, and one for all with as many gold items without an answer.

    checks: rows of answer_checks.csv; the size with the largest share counts.
    """
    lacking: dict[str, list[str]] = {}
    choices: dict[tuple[int, int, float], list[str]] = {}
    for name, rows in grouped(checks, itemgetter("experiment")).items():
        (in_others, n), (without, total) = (
            max(((row.get(column) or 0, row["n"]) for row in rows), key=lambda counts: counts[0] / counts[1])
            for column in ("n_in_distractors", "n_not_in_gold")
        )
        if in_others > MANY_EMPTY * n:
            yield (
                f"{name}: the metric finds the answers of {in_others:,} of {n:,} questions in other items of the "
                "context too, so a wrong answer may count as right (tables/answer_checks.csv)"
            )
        most = max(rows, key=lambda row: row.get("n_choices") or 0)
        if (number := most.get("n_choices") or 0) > MANY_EMPTY * most["n"]:
            choices.setdefault((number, most["n"], most["chance"]), []).append(name)
        if without:
            lacking.setdefault(f"{without:,} of {total:,} questions", []).append(name)
    for (number, total, chance), names in choices.items():
        yield (
            f"{first_of(names, MOST_CUT)}: the answers of {number:,} of {total:,} questions are a yes, a no or a "
            "letter, so no metric of words tells a guess from knowledge; the same answer to all of these is right for "
            f"{100 * chance:.0f} %: that is the level to beat, not 0 %"
        )
    for which, names in lacking.items():
        yield (
            f"{first_of(names, MOST_CUT)}: the metric finds none of the answers of {which} in their gold documents, so "
            "an answer from there may count as wrong (tables/answer_checks.csv)"
        )


def gold_counts(gold: "pd.DataFrame") -> "pd.DataFrame":
    """One row per question set and way of finding gold passages, the most frequent first; gold: gold_passages.csv."""
    marked = gold.assign(several=gold["n_with_answer"] > 1, noted=gold["note"].notna())
    counts = marked.groupby(["questions", "how"], sort=False).agg(
        n=("question", "size"), n_several=("several", "sum"), n_to_look_at=("noted", "sum")
    )
    ordered = counts.reset_index().sort_values(["questions", "n"], ascending=[True, False], kind="stable")
    return tables()["gold_counts"].frame(ordered)
