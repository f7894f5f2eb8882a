"""The table of claims: rows of claims.csv, and what they come to for each claim."""

import pandas as pd

from litm.analysis.claims.evidence import Evidence
from litm.analysis.claims.relations import Relations
from litm.analysis.claims.statements import (
    base_models,
    closed_book,
    encoder_decoders,
    extended_context,
    primacy,
    query_aware,
    saturation,
    u_shape,
)
from litm.analysis.claims.verdicts import NOT_ENOUGH, Claim, Decision, Question, decide, reason
from litm.analysis.tables.claims import TABLE

#: In the order of the paper.
CLAIMS = tuple(
    module.CLAIM
    for module in (
        u_shape,
        extended_context,
        closed_book,
        encoder_decoders,
        query_aware,
        base_models,
        primacy,
        saturation,
    )
)


def claims_table(evidence: Evidence, relations: Relations) -> pd.DataFrame:
    """A row for each thing that each claim can be asked of, in the order of the paper: rows of claims.csv.

    What is asked of one experiment is corrected together (`decide`): all models, sizes and statistics of a claim. A
    claim that can be asked of nothing has one row that says what it needs.
    """
    rows = [row for claim in CLAIMS for row in _rows(claim, list(claim.ask(evidence, relations)))]
    return TABLE.frame(rows)


def _rows(claim: Claim, questions: list[Question]) -> list[dict]:
    if not questions:
        needs = f"nothing that was run can be asked; needed: {claim.needs}"
        return [{"claim": claim.name, "verdict": NOT_ENOUGH, "reason": needs, "section": claim.section}]
    together = [
        [question for question in questions if question.experiment == experiment]
        for experiment in dict.fromkeys(question.experiment for question in questions)
    ]
    return [
        _row(claim, question, decision)
        for family in together
        for question, decision in zip(family, decide(family), strict=True)
    ]


def _row(claim: Claim, question: Question, decision: Decision) -> dict:
    measure = question.measure
    return {
        "claim": claim.name,
        "models": ", ".join(question.models),
        "experiment": question.experiment,
        "size": question.size,
        "verdict": decision.verdict,
        "statistic": question.statistic,
        "value": measure.value if measure else None,
        "ci_low": decision.low,
        "ci_high": decision.high,
        "confidence": decision.confidence,
        "n": measure.n if measure else None,
        "reason": reason(question, decision),
        "section": claim.section,
    }
