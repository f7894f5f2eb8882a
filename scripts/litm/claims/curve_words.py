"""The word for the shape of each curve (U, recency alone, rising, flat, ...), for all tables and pages.

A word states only what is shown. It combines statements (the start is above the middle, all positions are within 5
points of one another, ...); the statements on all curves of an experiment are one family, see `verdicts`, so a word
depends on all of them.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd

from litm.analysis.grid import Files, curves
from litm.analysis.positions import position_bias_row
from litm.analysis.shapes import (
    END_LOWER,
    FALLING,
    FLAT,
    INVERTED,
    NONE,
    PRIMACY,
    PRIMACY_UNCLEAR,
    RECENCY,
    RECENCY_UNCLEAR,
    RISING,
    SMALL,
    START_LOWER,
    UNEVEN,
    U,
    W,
)
from litm.analysis.statistics import with_holm
from litm.claims.evidence import Cell, Curve, Evidence, Measure, scored_evidence
from litm.claims.statements import (
    BOTH_ENDS,
    best_worst_gap,
    contrast_weights,
    contrasts_question,
    curves_with_middle,
    middle_above_between,
)
from litm.claims.verdicts import ALPHA, SUPPORTED, WORD_SHARE, Decision, Question, decide, step_down

#: Words by the shown signs of start - middle and end - middle: 1 above 0, -1 below 0, 0 neither.
OF_ENDS = {
    (1, 1): U, (-1, -1): INVERTED, (-1, 1): RISING, (1, -1): FALLING,
    (1, 0): PRIMACY, (0, 1): RECENCY, (-1, 0): START_LOWER, (0, -1): END_LOWER,
}  # fmt: skip


@dataclass(frozen=True)
class CurveMeasures:
    """Measures of a curve that statements are about; withheld: why it has no word."""

    primacy: Measure | None
    recency: Measure | None
    tilt: Measure | None
    gap: Measure | None
    between: Measure | None
    withheld: str = ""


def measures_of(evidence: Evidence, curve: Curve, three: tuple[Cell, Cell, Cell], withheld: str = "") -> CurveMeasures:
    """The measures of a curve; withheld: as of its question."""
    contrasts = {
        name: evidence.contrast(contrast_weights(curve, three, name)) for name in ("primacy", "recency", "tilt")
    }
    gap, between = best_worst_gap(evidence, curve), middle_above_between(evidence, curve, three)
    return CurveMeasures(**contrasts, gap=gap, between=between, withheld=withheld)


def words_of(curves: Sequence[CurveMeasures]) -> list[str]:
    """One word per curve of one family; "" if it is withheld or was not measured."""
    above = _shown(curves, ("primacy", "recency", "tilt", "gap", "between"), lambda low, high: low > 0)
    below = _shown(curves, ("primacy", "recency", "tilt"), lambda low, high: high < 0)
    flat = {index for index, _ in _shown(curves, ("gap",), lambda low, high: high < SMALL)}
    return [
        ""
        if curve.withheld or curve.primacy is None
        else _word(curve, partial(_sign, above, below, index), index in flat)
        for index, curve in enumerate(curves)
    ]


def _shown(
    curves: Sequence[CurveMeasures], names: Sequence[str], holds: Callable[[float, float], bool]
) -> set[tuple[int, str]]:
    """(curve, measure) of each measure for which `holds` is shown, with Holm's correction over all of them."""
    measures = {
        (index, name): measure
        for index, curve in enumerate(curves)
        for name in names
        if (measure := getattr(curve, name)) is not None
    }

    def is_shown(case: tuple[int, str], confidence: float) -> bool:
        return not curves[case[0]].withheld and holds(*measures[case].interval(confidence))

    return set(step_down(measures, is_shown, WORD_SHARE).rejected)


def _differs(measure: Measure | None) -> bool:
    """Whether the single 95 % interval of a measure excludes 0."""
    assert measure is not None
    low, high = measure.interval(1 - ALPHA)
    return low > 0 or high < 0


def _sign(above: set, below: set, index: int, name: str) -> int:
    return ((index, name) in above) - ((index, name) in below)


def _word(curve: CurveMeasures, sign: Callable[[str], int], is_flat: bool) -> str:
    ends = sign("primacy"), sign("recency")
    if sign("between") > 0 and min(ends) >= 0:
        return W
    # Otherwise a claim, corrected for fewer cases, could show what "alone" denies.
    if ends == (1, 0) and _differs(curve.recency):
        return RECENCY_UNCLEAR
    if ends == (0, 1) and _differs(curve.primacy):
        return PRIMACY_UNCLEAR
    if any(ends):
        return OF_ENDS[ends]
    if sign("tilt"):
        return RISING if sign("tilt") > 0 else FALLING
    if sign("gap") > 0:
        return UNEVEN
    return FLAT if is_flat else NONE


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
    of_all = [contrasts_question(evidence, curve, three, BOTH_ENDS) for curve, three in with_middle]
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
        withheld = contrasts_question(evidence, curve, three, BOTH_ENDS).withheld
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


def position_bias_table(curve_scores: Files, seed: int, base_models: Sequence[str]) -> list[dict]:
    """Rows of position_bias.csv: one per curve, with its word, in the order of the score files."""
    words = words_of_scores(curve_scores.scores(), base_models)
    found = [position_bias_row(curve, seed) for sweep in curve_scores.scores() for curve in curves(sweep)]
    for row in found:
        row["shape"] = words.get((row["model"], row["experiment"], row["size"], row["placement"])) or None
    return with_holm(found, "cochran_p_value", "cochran_p_holm")
