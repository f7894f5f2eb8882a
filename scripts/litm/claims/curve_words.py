"""The word for the shape of each curve (U, recency alone, rising, flat, ...), for all tables and pages.

A word states only what is shown. It combines statements (the start is above the middle, all positions are within 5
points of one another, ...). The statements on all curves of a study are one family, see docs/claims.md: a word depends
on all of them, and a page over all experiments may quote any.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import pandas as pd

from litm.analysis import shapes
from litm.analysis.grid import Files
from litm.analysis.grid import curves as curves_of
from litm.analysis.positions import position_bias_row
from litm.analysis.significance import with_holm
from litm.base.groups import grouped
from litm.claims.evidence import Curve, Evidence, Measure, scored_evidence
from litm.claims.statements import (
    BOTH_ENDS,
    best_worst_gap,
    contrast_weights,
    contrasts_question,
    curves_with_middle,
    middle_above_between,
)
from litm.claims.verdicts import ALPHA, SUPPORTED, WORD_SHARE, Decision, Question, decide, step_down

if TYPE_CHECKING:
    from litm.tables.positions import PositionBiasRow

#: Words by the shown signs of start - middle and end - middle: 1 above 0, -1 below 0, 0 neither.
OF_ENDS = {
    (1, 1): shapes.U, (-1, -1): shapes.INVERTED, (-1, 1): shapes.RISING, (1, -1): shapes.FALLING,
    (1, 0): shapes.PRIMACY, (0, 1): shapes.RECENCY, (-1, 0): shapes.START_LOWER, (0, -1): shapes.END_LOWER,
}  # fmt: skip
CONTRASTS = ("primacy", "recency", "tilt")
#: What statements on a curve are about: its contrasts, `gap` (best minus worst position) and `between` (the middle
#: minus the higher of the lowest positions on its two sides); {} without a question that was scored at every position.
Measures = Mapping[str, Measure]


def measures_of(evidence: Evidence, curve: Curve) -> Measures:
    """The measures of a curve."""
    measures = {name: evidence.contrast(contrast_weights(curve, name)) for name in CONTRASTS}
    measures |= {"gap": best_worst_gap(evidence, curve), "between": middle_above_between(evidence, curve)}
    return {name: measure for name, measure in measures.items() if measure}


def words_of(curves: Sequence[Measures], withheld: Collection[int] = ()) -> list[str]:
    """One word per curve of one family; "" for one without measures, and for one of the places `withheld`, which
    counts in the family.
    """
    cases = {(place, name): measure for place, curve in enumerate(curves) for name, measure in curve.items()}

    def shown(names: Collection[str], holds: Callable[[float, float], bool]) -> set[tuple[int, str]]:
        """Cases of these measures for which `holds` is shown, with Holm's correction over all of them."""

        def is_shown(case: tuple[int, str], confidence: float) -> bool:
            return case[0] not in withheld and holds(*cases[case].interval(confidence))

        return {*step_down([case for case in cases if case[1] in names], is_shown, WORD_SHARE)[0]}

    above = shown((*CONTRASTS, "gap", "between"), lambda low, high: low > 0)
    below = shown(CONTRASTS, lambda low, high: high < 0)
    flat = shown(("gap",), lambda low, high: high < shapes.SMALL)
    signs = {case: (case in above) - (case in below) for case in cases}
    return [
        _word(curve, {name: signs[place, name] for name in curve}, (place, "gap") in flat)
        if curve and place not in withheld
        else ""
        for place, curve in enumerate(curves)
    ]


def _differs(measure: Measure) -> bool:
    """Whether the single 95 % interval of a measure excludes 0."""
    low, high = measure.interval(1 - ALPHA)
    return low > 0 or high < 0


def _word(curve: Measures, signs: Mapping[str, int], is_flat: bool) -> str:
    ends = signs["primacy"], signs["recency"]
    if signs.get("between", 0) > 0 and min(ends) >= 0:
        return shapes.W
    # Otherwise a claim, corrected for fewer cases, could show what "alone" denies.
    if ends == (1, 0) and _differs(curve["recency"]):
        return shapes.RECENCY_UNCLEAR
    if ends == (0, 1) and _differs(curve["primacy"]):
        return shapes.PRIMACY_UNCLEAR
    if any(ends):
        return OF_ENDS[ends]
    if signs["tilt"]:
        return shapes.RISING if signs["tilt"] > 0 else shapes.FALLING
    if signs["gap"] > 0:
        return shapes.UNEVEN
    return shapes.FLAT if is_flat else shapes.NONE


#: Name of a curve: model, experiment, size, and its placement if its prompts have several gold items, else None.
CurveName = tuple[str, str, int, str | None]
Words = dict[CurveName, str]
#: A curve with its evidence, and its placement as in its name.
Asked = tuple[Evidence, Curve, str | None]


def curve_words(evidence: Evidence, base_models: Collection[str], several: Iterable[Asked] = ()) -> Words:
    """The word of every curve with a middle; "" for a curve without information on position.

    A curve whose U is supported, among all models or among the base models, is called U or W at the level of that
    verdict, which needs fewer answers than the word alone. several: further curves of the same family, of prompts with
    several gold items, which no claim tests.
    """
    with_middle = list(curves_with_middle(evidence))
    words = _family_words([*((evidence, curve, None) for curve in with_middle), *several])
    of_all = [contrasts_question(evidence, curve, BOTH_ENDS) for curve in with_middle]
    of_base = [question for question in of_all if question.models[0] in base_models]
    for questions in (of_all, of_base):
        for family in families(questions):
            for question, decision, _ in family:
                name = name_of(question)
                if decision.verdict == SUPPORTED and words[name] != shapes.W:
                    words[name] = shapes.U
    return words


def words_of_scores(sweeps: Iterable[pd.DataFrame], base_models: Collection[str]) -> Words:
    """The same from score rows, one sweep at a time, including curves of prompts with several gold items."""
    several: list[pd.DataFrame] = []

    def of_one_item() -> Iterator[pd.DataFrame]:
        for sweep in sweeps:
            if sweep["target"].nunique() > 1:
                several.extend(curves_of(sweep))
            else:
                yield sweep

    evidence = scored_evidence(of_one_item())
    return curve_words(evidence, base_models, _several_curves(several))


def _several_curves(several: Iterable[pd.DataFrame]) -> Iterator[Asked]:
    for scores in several:
        # Evidence is by placement, so each position is treated as one.
        evidence = scored_evidence([scores.assign(placement=scores["position"].map("gold_at_{}".format))])
        placement = str(scores["placement"].iloc[0])
        yield from ((evidence, curve, placement) for curve in curves_with_middle(evidence))


def _family_words(asked: Sequence[Asked]) -> Words:
    """Words of curves that are one family."""
    names = [(curve.model, curve.experiment, curve.size, placement) for _, curve, placement in asked]
    questions = (contrasts_question(evidence, curve, BOTH_ENDS) for evidence, curve, _ in asked)
    withheld = {place for place, question in enumerate(questions) if question.withheld}
    measures = [measures_of(evidence, curve) for evidence, curve, _ in asked]
    return dict(zip(names, words_of(measures, withheld), strict=True))


def name_of(question: Question) -> CurveName:
    """Name of a question's curve."""
    assert question.size is not None
    return question.models[0], question.experiment, question.size, None


def families(questions: Iterable[Question]) -> Iterator[list[tuple[Question, Decision, int]]]:
    """Questions of one claim with their decisions, family by family; a family has one experiment and one role.

    The number counts the cases that the family is corrected for.
    """
    for family in grouped(questions, attrgetter("experiment", "role")).values():
        size = sum(question.is_counted for question in family)
        yield [(question, decision, size) for question, decision in zip(family, decide(family), strict=True)]


def position_bias_table(curve_scores: Files, seed: int, base_models: Sequence[str]) -> "list[PositionBiasRow]":
    """Rows of position_bias.csv: one per curve, with its word, in the order of the score files."""
    words = words_of_scores(curve_scores.scores(), base_models)
    rows = [position_bias_row(curve, seed) for sweep in curve_scores.scores() for curve in curves_of(sweep)]
    for row in rows:
        row["shape"] = words.get((row["model"], row["experiment"], row["size"], row["placement"])) or None
    return with_holm(rows, "cochran_p_value", "cochran_p_holm")
