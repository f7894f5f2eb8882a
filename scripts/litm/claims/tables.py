"""The table of claims: rows of claims.csv, its Markdown, and the generated parts of docs/claims.md."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from litm.analysis.grid import FIRST_LINE, FULL
from litm.analysis.published import NOTHING_SAID, ClaimStatus, Explanation, Literature, of_row
from litm.analysis.shapes import MEANINGS
from litm.base.groups import grouped
from litm.base.messages import first_of, interval_of, percent, points
from litm.base.table_files import plain_rows
from litm.claims.curve_words import Words, curve_words, families, name_of
from litm.claims.evidence import Evidence, Relations
from litm.claims.statements import CLAIMS, WORST_ACCURACY
from litm.claims.verdicts import CONTRADICTED, EXPLORATORY, NOT_ENOUGH, SUPPORTED, Claim, Decision, Question, reason
from litm.tables.table import tables

if TYPE_CHECKING:
    from litm.tables.claims import ClaimsRow

CASES = tables()["claims"]

#: Claims about the shape of a curve, whose rows have the curve's word.
OF_SHAPE = ("u_shape", "base_models_too", "primacy_from_13b")
MEASURED, RECORDED, PUBLISHED = "measured", "recorded", "published"
PAIRED, UNPAIRED = "paired by question", "not paired"
#: Claim, models, experiment, size and role.
Case = tuple[str, tuple[str, ...], str, int | None, str]
#: The case of a row.
_NAME = itemgetter("claim", "models", "experiment", "size", "role")


def claims_table(
    evidence: Evidence,
    relations: Relations,
    literature: Literature = NOTHING_SAID,
    readings: Iterable[tuple[str, Evidence]] = (),
) -> pd.DataFrame:
    """One row per case of each claim, in the order of the paper: rows of claims.csv.

    Families and their level: see docs/claims.md. A claim without a case has one row that names what it needs. Published
    evidence also has one row per number that is printed without its accuracies. readings: the evidence by first lines
    and by whole answers, one after another, under the names in `reading`; `evidence` itself if the reading changes no
    answer.
    """
    asked, by_reading = _decided(evidence, relations), {}
    for name, reading in readings:
        answers = asked if reading is evidence else _decided(reading, relations)
        by_reading[name] = {case: decision.verdict for case, (_, decision, _) in answers.items()}
    words = curve_words(evidence, relations.base_models)
    rows: list[ClaimsRow] = []
    for claim in CLAIMS:
        rows_of_claim = [
            _with_readings(_row(claim, words, evidence, relations, *answer), by_reading, case)
            for case, answer in asked.items()
            if case[0] == claim.name
        ]
        rows_of_claim += _printed_alone(claim, literature, rows_of_claim) if evidence.is_published else []
        of_claim: ClaimsRow = {"statement": claim.statement, "finding": _finding(claim, rows_of_claim)}
        rows += [{**row, **literature.columns_for(row), **of_claim} for row in rows_of_claim or [_nothing(claim)]]
    return CASES.frame(rows)


def _decided(evidence: Evidence, relations: Relations) -> dict[Case, tuple[Question, Decision, int]]:
    """The questions of all claims with their decisions and the sizes of their families."""
    return {
        (claim.name, question.models, question.experiment, question.size, question.role): (question, decision, size)
        for claim in CLAIMS
        for family in families(claim.ask(evidence, relations))
        for question, decision, size in family
    }


def _with_readings(row: "ClaimsRow", by_reading: Mapping[str, Mapping[Case, str]], case: Case) -> "ClaimsRow":
    """The row with its verdicts by both readings; if they differ, its reason mentions it."""
    if not by_reading:
        return row
    first, full = (by_reading[reading].get(case, NOT_ENOUGH) for reading in (FIRST_LINE, FULL))
    both: ClaimsRow = {"verdict_first_line": first, "verdict_full": full, "changes_with_reading": first != full}
    if first != full:
        both["reason"] = f"{row['reason']}; by the first line: {first}, by the whole answer: {full}"
    return {**row, **both}


def _row(
    claim: Claim,
    words: Words,
    evidence: Evidence,
    relations: Relations,
    question: Question,
    decision: Decision,
    family_size: int,
) -> "ClaimsRow":
    part, measure = decision.part, decision.part.measure if decision.part else None
    word = words.get(name_of(question), "") if claim.name in OF_SHAPE else ""
    why = reason(question, decision)
    recorded = all(model in relations.recorded for model in question.models)
    return {
        "claim": claim.name,
        "models": ", ".join(question.models),
        "experiment": question.experiment,
        "size": question.size or (part.size if part else None),
        "verdict": decision.verdict,
        "quantity": part.statistic if part else "; ".join(part.statistic for part in question.parts),
        "value": measure.value if measure else None,
        "ci_low": decision.low,
        "ci_high": decision.high,
        "confidence": decision.confidence,
        "n": measure.n if measure else None,
        "reason": f"{word}: {MEANINGS[word]}; {why}" if word else why,
        "section": claim.section,
        "shape": word or None,
        "role": question.role,
        "family_size": family_size,
        "test": (PAIRED if measure.is_paired else UNPAIRED) if measure else None,
        "evidence": PUBLISHED if evidence.is_published else RECORDED if recorded else MEASURED,
    }


def _nothing(claim: Claim) -> "ClaimsRow":
    needs = f"nothing that was run can be asked; needed: {claim.needs}"
    return {"claim": claim.name, "verdict": NOT_ENOUGH, "reason": needs, "section": claim.section}


def _printed_alone(claim: Claim, literature: Literature, asked: "Sequence[ClaimsRow]") -> "list[ClaimsRow]":
    """Rows for numbers that the text prints without accuracies; they have no verdict."""
    cases = {(row["models"], row["experiment"]) for row in asked}
    return [
        {
            "claim": claim.name,
            "models": statement.models[0],
            "experiment": statement.experiment[0],
            "size": statement.size[0],
            "verdict": NOT_ENOUGH,
            "quantity": statement.statistic,
            "value": statement.value,
            "reason": f"printed without the accuracies that it is made of: nothing to test (from {statement.source})",
            "section": claim.section,
            "evidence": PUBLISHED,
        }
        for statement in literature.numbers(claim.name)
        if (statement.models[0], statement.experiment[0]) not in cases
    ]


VERDICTS = (SUPPORTED, CONTRADICTED, NOT_ENOUGH)
#: Number of cases of a verdict that are named one by one, at most.
NAMED = 3


def _finding(claim: Claim, rows: "Iterable[ClaimsRow]") -> str:
    """The verdicts of a claim in a sentence; its exploratory cases have one of their own."""
    cases = [row for row in rows if row.get("experiment")]
    if not cases:
        return f"Not asked: it needs {claim.needs}."
    asked, others = _by_role(cases)
    sentences = [_sentence(asked) if asked else "Not asked of the models and conditions that the paper names."]
    if others:
        sentence = _sentence(others)
        sentences.append(f"Exploratory, for other models and conditions: {sentence[0].lower()}{sentence[1:]}")
    return " ".join(sentences)


def _by_role(cases: "Iterable[ClaimsRow]") -> "tuple[list[ClaimsRow], list[ClaimsRow]]":
    """The cases that the claim is about, and the exploratory ones."""
    by_role = grouped(cases, lambda row: row.get("role") == EXPLORATORY)
    return by_role.get(False, []), by_role.get(True, [])


def _sentence(asked: "Sequence[ClaimsRow]") -> str:
    counts = {verdict: [row for row in asked if row["verdict"] == verdict] for verdict in VERDICTS}
    parts = [f"{verdict} in {len(rows)}{_cases(rows)}" for verdict, rows in counts.items() if rows]
    sentence = f"Of {len(asked)}: {', '.join(parts)}." if len(asked) > 1 else f"{parts[0]}."
    return sentence[0].upper() + sentence[1:] + _reading([row for row in asked if row.get("changes_with_reading")])


def _reading(changed: "Sequence[ClaimsRow]") -> str:
    """A sentence on the verdicts that differ between first lines and whole answers."""
    if not changed:
        return ""
    names = [
        f"{_case(row)}: {row['verdict_first_line']} by the first line, {row['verdict_full']} by the whole answer"
        for row in changed
    ]
    return f" With the reading of the answers the verdict changes on {first_of(names, NAMED, '; ')}."


def _cases(rows: "Sequence[ClaimsRow]") -> str:
    """The cases by name, if they are few."""
    return "" if len(rows) > NAMED else f" ({'; '.join(dict.fromkeys(map(_case, rows)))})"


def _case(row: "ClaimsRow") -> str:
    size = f" {row['size']}" if row["size"] else ""
    return f"{row['models']} on {row['experiment']}{size}"


def as_markdown(table: pd.DataFrame) -> str:
    """The verdicts of each claim, and all rows, as Markdown."""
    rows = [_summary(cases) for cases in grouped(plain_rows(table), itemgetter("claim")).values()]
    return f"{_table(rows)}\n\n{CASES.markdown(table)}"


def _summary(rows: Sequence[Mapping]) -> dict[str, str]:
    """The cells of a claim by their headings: numbers of cases, without exploratory ones, and its sentence."""
    asked, _ = _by_role(cast("Sequence[ClaimsRow]", [row for row in rows if row["experiment"]]))
    counts = Counter(row["verdict"] for row in asked)
    claim = rows[0]
    return {
        "Claim": claim["statement"],
        "Section": claim["section"],
        **{verdict.capitalize(): f"{counts[verdict]:,}" for verdict in VERDICTS},
        "What was found": claim["finding"],
        "Status": claim["status"] or "",
        "By": claim["contested_by"] or "",
    }


def page_parts(
    published: pd.DataFrame,
    other_sources: pd.DataFrame,
    statuses: Mapping[str, Sequence[ClaimStatus]],
    explanations: Iterable[Explanation],
) -> dict[str, str]:
    """The parts by name; published: the table of claims on the published accuracies; other_sources: the same table,
    with the last value of each cell that has several sources; statuses: by claim.
    """
    return {
        "words": _table([{"word": word, "what is shown": meaning} for word, meaning in MEANINGS.items()]),
        "verdicts": verdicts(published, other_sources, statuses, list(explanations)),
    }


def verdicts(
    published: pd.DataFrame,
    other_sources: pd.DataFrame,
    statuses: Mapping[str, Sequence[ClaimStatus]],
    explanations: list[Explanation],
) -> str:
    """One table per claim: each case with this workflow's verdict, the paper's, and the reason if they differ, or if
    the verdict depends on the source.
    """
    sections, others = [], {_NAME(row): row for row in plain_rows(other_sources)}
    for claim in CLAIMS:
        cells = [
            {
                "case": _page_case(row),
                "verdict": row["verdict"],
                "shape": row["shape"] or "",
                "deciding statistic": _value(row),
                "the paper": row["paper_says"] or "",
                "why they differ": f"{_why(row, explanations)} {_by_others(row, others.get(_NAME(row), row))}".strip(),
            }
            for row in plain_rows(published[published["claim"] == claim.name])
        ]
        statement = f"**`{claim.name}`** ({claim.section}): {claim.statement} {_status(statuses.get(claim.name, ()))}"
        sections.append(f"{statement}\n\n{_table(cells)}")
    return "\n\n".join(sections)


def _status(statuses: Sequence[ClaimStatus]) -> str:
    if not statuses:
        return "No status is recorded."
    by = "; and ".join(f"by {status.by}: {status.finding}" for status in statuses if status.by)
    return f"Status: {statuses[0].status}{' ' if by else ''}{by}."


def disagrees(row: Mapping[str, Any]) -> bool:
    """Whether the paper's statement on a case differs from the verdict."""
    return row["experiment"] is not None and row["paper_says"] not in (None, row["verdict"])


def _page_case(row: Mapping) -> str:
    if not row["experiment"]:
        return "none"
    size = f", {row['size']}" if row["size"] else ""
    role = ", exploratory" if row["role"] == "exploratory" else ""
    return f"{row['models']}, {row['experiment']}{size}{role}"


def _value(row: Mapping) -> str:
    if row["value"] is None:
        return ""
    written = f"{percent(row['value'])} %" if row["quantity"] == WORST_ACCURACY else points(row["value"])
    if row["ci_low"] is None:
        return f"{row['quantity']}: {written}, as printed"
    return f"{row['quantity']} {written} {interval_of(row)} at {percent(row['confidence'])} %, n = {row['n']:,}"


def _why(row: Mapping, explanations: list[Explanation]) -> str:
    if not disagrees(row):
        return ""
    rows = of_row(explanations, row)
    return rows[0].text if rows else "NOT EXPLAINED"


def _by_others(row: Mapping, other: Mapping) -> str:
    """A remark, if the verdict on the same case by other sources differs."""
    same = row["verdict"] == other["verdict"]
    return "" if same else f"By the other source of its accuracies: {other['verdict']}, {_value(other)}."


def _table(rows: list[dict]) -> str:
    return pd.DataFrame(rows).to_markdown(index=False, disable_numparse=True)
