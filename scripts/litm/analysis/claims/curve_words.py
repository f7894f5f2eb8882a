"""The word for the shape of each curve, for all tables and pages.

All curves of an experiment are one family (`error_rates`), so a word depends on all of them.
"""

from collections.abc import Collection, Iterable, Iterator

import pandas as pd

from litm.analysis.claims.evidence import Cell, Curve, Evidence
from litm.analysis.claims.meanings import U, W
from litm.analysis.claims.scored_evidence import scored_evidence
from litm.analysis.claims.shape import curves_with_middle
from litm.analysis.claims.statements import u_shape
from litm.analysis.claims.verdicts import SUPPORTED, Decision, Question, decide
from litm.analysis.claims.words import CurveMeasures, measures_of, words_of
from litm.analysis.paired_scores import curves

#: Name of a curve: model, experiment, size, and its placement if its prompts have several gold items, else None.
CurveName = tuple[str, str, int, str | None]
Words = dict[CurveName, str]


def curve_words(evidence: Evidence, base_models: Collection[str]) -> Words:
    """The word of every curve with a middle; "" for a curve without information on position.

    A curve whose U is supported, among all models or among the base models, is called U or W at the level of that
    verdict, which needs fewer answers than the word alone.
    """
    with_middle = list(curves_with_middle(evidence))
    words = _family_words((evidence, curve, three, None) for curve, three in with_middle)
    of_all = [u_shape.question(evidence, curve, three) for curve, three in with_middle]
    of_base = [question for question in of_all if question.models[0] in base_models]
    for questions in (of_all, of_base):
        for family in families(questions):
            for question, decision, _ in family:
                name = name_of(question)
                if decision.verdict == SUPPORTED and words[name] != W:
                    words[name] = U
    return words


def words_of_scores(sweeps: Iterable[pd.DataFrame], base_models: Collection[str]) -> Words:
    """The same from score rows, one sweep at a time, including curves of prompts with several gold items.

    No claim tests these curves; they only have a word.
    """
    several: list[pd.DataFrame] = []
    single = scored_evidence(_without_several(sweeps, several))
    return curve_words(single, base_models) | _family_words(_several_curves(several))


def _without_several(sweeps: Iterable[pd.DataFrame], several: list[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Yield the sweeps with one gold item per prompt; curves of the others are appended to `several`."""
    for sweep in sweeps:
        if sweep["target"].nunique() > 1:
            several += curves(sweep)
        else:
            yield sweep


def _several_curves(
    several: Iterable[pd.DataFrame],
) -> Iterator[tuple[Evidence, Curve, tuple[Cell, Cell, Cell], str | None]]:
    for scores in several:
        # Evidence is by placement, so each position is treated as one.
        evidence = scored_evidence([scores.assign(placement=scores["position"].map("gold_at_{}".format))])
        placement = str(scores["placement"].iloc[0])
        yield from ((evidence, curve, three, placement) for curve, three in curves_with_middle(evidence))


def _family_words(asked: Iterable[tuple[Evidence, Curve, tuple[Cell, Cell, Cell], str | None]]) -> Words:
    """Words of curves, each with its evidence and placement; all curves of an experiment are one family."""
    by_experiment: dict[str, dict[CurveName, CurveMeasures]] = {}
    for evidence, curve, three, placement in asked:
        withheld = u_shape.question(evidence, curve, three).withheld
        name = (curve.model, curve.experiment, curve.size, placement)
        by_experiment.setdefault(curve.experiment, {})[name] = measures_of(evidence, curve, three, withheld)
    words: Words = {}
    for measures in by_experiment.values():
        words |= zip(measures, words_of(list(measures.values())), strict=True)
    return words


def name_of(question: Question) -> CurveName:
    """Name of a question's curve."""
    assert question.size is not None
    return question.models[0], question.experiment, question.size, None


def families(questions: Iterable[Question]) -> Iterator[list[tuple[Question, Decision, int]]]:
    """Questions of one claim with their decisions, family by family; a family has one experiment and one role.

    The number counts the cases that the family is corrected for.
    """
    grouped: dict[tuple[str, str], list[Question]] = {}
    for question in questions:
        grouped.setdefault((question.experiment, question.role), []).append(question)
    for family in grouped.values():
        size = sum(question.is_counted for question in family)
        yield [(question, decision, size) for question, decision in zip(family, decide(family), strict=True)]
