"""The table of claims: rows of claims.csv, and what they come to for each claim."""

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from litm.analysis.claims.evidence import Evidence
from litm.analysis.claims.relations import Relations
from litm.analysis.claims.shape import curves_with_middle
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
from litm.analysis.claims.verdicts import NOT_ENOUGH, SUPPORTED, Claim, Decision, Question, decide, reason
from litm.analysis.claims.words import MEANINGS, U, W, measures_of, words_of
from litm.analysis.published.statements import NOTHING_SAID, Literature
from litm.analysis.tables.claims import TABLE

#: In the order of the paper, and then the suite's.
CLAIMS = tuple(
    module.CLAIM
    for module in (
        u_shape,
        longer_contexts,
        extended_context,
        closed_book,
        encoder_decoders,
        query_aware,
        base_models,
        primacy,
        saturation,
        more_keys,
    )
)
#: Claims about the shape of a curve, whose rows say it in words.
OF_U = (u_shape.CLAIM, base_models.CLAIM)
OF_SHAPE = (*OF_U, primacy.CLAIM)

MEASURED, RECORDED, PUBLISHED = "measured", "recorded", "published"
PAIRED, UNPAIRED = "paired by question", "not paired"

Words = dict[tuple, str]


def claims_table(evidence: Evidence, relations: Relations, literature: Literature = NOTHING_SAID) -> pd.DataFrame:
    """A row for each case of each claim, in the order of the paper: rows of claims.csv.

    Families and their level: `error_rates`. A claim that can be asked of nothing has one row that says what it needs.
    Of published evidence there is also a row for each number that is printed without the accuracies it is made of.
    """
    words: Words = {}
    rows: list[dict] = []
    for claim in CLAIMS:
        questions = list(claim.ask(evidence, relations))
        if claim in OF_SHAPE and not words:
            words = curve_words(evidence)
        decided = [(question, decision, size) for family in families(questions) for question, decision, size in family]
        if claim is u_shape.CLAIM:
            words |= {_curve(question): _word(claim, words, question, decision) for question, decision, _ in decided}
        own = [_row(claim, words, evidence, relations, *case) for case in decided]
        own += _printed_alone(claim, literature, own) if evidence.is_published else []
        rows += [row | literature.beside(row) for row in own or [_nothing(claim)]]
    return TABLE.frame(rows)


def families(questions: Iterable[Question]) -> Iterator[list[tuple[Question, Decision, int]]]:
    """The questions of one claim with their decisions, family by family: those of one experiment and one role.

    The number is that of the cases that the family is corrected for.
    """
    grouped: dict[tuple[str, str], list[Question]] = {}
    for question in questions:
        grouped.setdefault((question.experiment, question.role), []).append(question)
    for family in grouped.values():
        size = sum(question.is_counted for question in family)
        yield [(question, decision, size) for question, decision in zip(family, decide(family), strict=True)]


def curve_words(evidence: Evidence) -> Words:
    """The shape of every curve in words, by model, experiment and size; all curves of an experiment are one family."""
    words: Words = {}
    by_experiment: dict[str, list] = {}
    for curve, three in curves_with_middle(evidence):
        by_experiment.setdefault(curve.experiment, []).append((curve, three))
    for curves in by_experiment.values():
        questions = [u_shape.question(evidence, curve, three) for curve, three in curves]
        measures = [
            measures_of(evidence, curve, three, question.withheld)
            for (curve, three), question in zip(curves, questions, strict=True)
        ]
        words |= {_curve(question): word for question, word in zip(questions, words_of(measures), strict=True)}
    return words


def _curve(question: Question) -> tuple:
    return question.models, question.experiment, question.size


def _word(claim: Claim, words: Words, question: Question, decision: Decision) -> str:
    """The word of a curve: U where that is the verdict, which needs fewer answers than the word by itself."""
    word = words.get(_curve(question), "")
    is_u = claim in OF_U and decision.verdict == SUPPORTED
    return U if is_u and word != W else word


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
    word = _word(claim, words, question, decision) if claim in OF_SHAPE else ""
    why = reason(question, decision)
    recorded = all(model in relations.recorded for model in question.models)
    return {
        "claim": claim.name,
        "models": ", ".join(question.models),
        "experiment": question.experiment,
        "size": question.size or (part.size if part else None),
        "verdict": decision.verdict,
        "statistic": part.statistic if part else "; ".join(part.statistic for part in question.parts),
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
    """Rows for what the text prints of cases that have no accuracies: a number, and no verdict."""
    cases = {(row["models"], row["experiment"]) for row in asked}
    return [
        {
            "claim": claim.name,
            "models": statement.models,
            "experiment": statement.experiment,
            "size": statement.size,
            "verdict": NOT_ENOUGH,
            "statistic": statement.statistic,
            "value": statement.value,
            "reason": f"printed without the accuracies that it is made of: nothing to test (from {statement.source})",
            "section": claim.section,
            "evidence": PUBLISHED,
        }
        for statement in literature.numbers(claim.name)
        if (statement.models, statement.experiment) not in cases
    ]
