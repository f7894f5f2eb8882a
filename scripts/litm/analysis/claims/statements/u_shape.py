"""Accuracy is higher at the ends of the context than in the middle."""

from collections.abc import Iterator
from dataclasses import replace

from litm.analysis.claims.criteria import ABOVE_ZERO
from litm.analysis.claims.evidence import Cell, Curve, Evidence
from litm.analysis.claims.relations import Relations
from litm.analysis.claims.shape import contrast_question, curve_contrast, curves_with_middle
from litm.analysis.claims.verdicts import Claim, Question


def ask(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Of every curve with a middle: is PBI = (start + end)/2 - middle above 0?

    A curve that rises at one end alone can have a PBI above 0 as well; the detail says so.
    """
    for curve, three in curves_with_middle(evidence):
        question = contrast_question(evidence, curve, three, "pbi", ABOVE_ZERO)
        yield replace(question, detail=question.detail + _ends_above(evidence, curve, three))


def _ends_above(evidence: Evidence, curve: Curve, three: tuple[Cell, Cell, Cell]) -> str:
    """Which of the ends is above the middle by its own 95 % interval, if it is one alone."""
    ends = {"start": "primacy", "end": "recency"}
    measures = {end: curve_contrast(evidence, curve, three, contrast) for end, contrast in ends.items()}
    above = [end for end, measure in measures.items() if measure and measure.interval(0.95)[0] > 0]
    return f" (only the {above[0]} is shown to be above the middle)" if len(above) == 1 else ""


CLAIM = Claim(
    name="u_shape",
    statement="Accuracy is higher where the answer is at the start or the end of the context than in its middle.",
    section="2.3, 3.2",
    needs="an experiment with three positions or more",
    ask=ask,
)
