"""The table of claims: rows of claims.csv, and their summary by claim."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from litm.analysis.claims.curve_words import Words, curve_words, families, name_of
from litm.analysis.claims.evidence import Evidence
from litm.analysis.claims.meanings import MEANINGS
from litm.analysis.claims.relations import Relations
from litm.analysis.claims.statements import (
    base_models,
    closed_book,
    encoder_decoders,
    extended_context,
    longer_contexts,
    more_keys,
    primacy,
    query_aware,
    saturation,
    u_shape,
)
from litm.analysis.claims.verdicts import NOT_ENOUGH, Claim, Decision, Question, reason
from litm.analysis.families import FIRST_LINE, FULL
from litm.analysis.published.statements import NOTHING_SAID, Literature
from litm.analysis.tables.claims import TABLE

#: Claims of the paper in its order, then the suite's, then this project's own.
CLAIMS = (
    u_shape.CLAIM,
    longer_contexts.CLAIM,
    extended_context.CLAIM,
    closed_book.CLAIM,
    encoder_decoders.CLAIM,
    query_aware.CLAIM,
    base_models.CLAIM,
    primacy.CLAIM,
    saturation.CLAIM,
    more_keys.BIAS_CLAIM,
    more_keys.CLAIM,
)
#: Claims about the shape of a curve, whose rows have the curve's word.
OF_SHAPE = (u_shape.CLAIM, base_models.CLAIM, primacy.CLAIM)

MEASURED, RECORDED, PUBLISHED = "measured", "recorded", "published"
PAIRED, UNPAIRED = "paired by question", "not paired"


#: Verdicts by claim, models, experiment, size and role.
Verdicts = dict[tuple, str]


def claims_table(
    evidence: Evidence,
    relations: Relations,
    literature: Literature = NOTHING_SAID,
    readings: Iterable[tuple[str, Evidence]] = (),
) -> pd.DataFrame:
    """One row per case of each claim, in the order of the paper: rows of claims.csv.

    Families and their level: `error_rates`. A claim without a case has one row that names what it needs. Published
    evidence also has one row per number that is printed without its accuracies. readings: the evidence by first lines
    and by whole answers, one after another, under the names in `reading`; `evidence` itself if the reading changes no
    answer.
    """
    asked = {claim: _decided(claim, evidence, relations) for claim in CLAIMS}
    by_reading = {
        name: _verdicts(asked if one is evidence else {claim: _decided(claim, one, relations) for claim in CLAIMS})
        for name, one in readings
    }
    words = curve_words(evidence, relations.base_models)
    rows: list[dict] = []
    for claim in CLAIMS:
        own = [
            _with_readings(_row(claim, words, evidence, relations, *case), by_reading, _name(claim, case[0]))
            for case in asked[claim]
        ]
        own += _printed_alone(claim, literature, own) if evidence.is_published else []
        rows += [row | literature.columns_for(row) for row in own or [_nothing(claim)]]
    return TABLE.frame(rows)


def _decided(claim: Claim, evidence: Evidence, relations: Relations) -> list[tuple[Question, Decision, int]]:
    return [case for family in families(claim.ask(evidence, relations)) for case in family]


def _verdicts(asked: Mapping[Claim, Iterable[tuple[Question, Decision, int]]]) -> Verdicts:
    return {
        _name(claim, question): decision.verdict for claim, cases in asked.items() for question, decision, _ in cases
    }


def _name(claim: Claim, question: Question) -> tuple:
    return claim.name, question.models, question.experiment, question.size, question.role


def _with_readings(row: dict, by_reading: Mapping[str, Verdicts], name: tuple) -> dict:
    """The row with its verdicts by both readings; if they differ, its reason mentions it."""
    if not by_reading:
        return row
    first, full = (by_reading[reading].get(name, NOT_ENOUGH) for reading in (FIRST_LINE, FULL))
    told = {"verdict_first_line": first, "verdict_full": full, "changes_with_reading": first != full}
    if first != full:
        told["reason"] = f"{row['reason']}; by the first line: {first}, by the whole answer: {full}"
    return row | told


def _row(
    claim: Claim,
    words: Words,
    evidence: Evidence,
    relations: Relations,
    question: Question,
    decision: Decision,
    family_size: int,
) -> dict:
    part, measure = decision.part, decision.part.measure if decision.part else None
    word = words.get(name_of(question), "") if claim in OF_SHAPE else ""
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


def _nothing(claim: Claim) -> dict:
    needs = f"nothing that was run can be asked; needed: {claim.needs}"
    return {"claim": claim.name, "verdict": NOT_ENOUGH, "reason": needs, "section": claim.section}


def _printed_alone(claim: Claim, literature: Literature, asked: Sequence[dict]) -> list[dict]:
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
