"""Claim: accuracy is higher at both ends of the context than in its middle."""

from collections.abc import Iterator

from litm.analysis.claims.evidence import Cell, Curve, Evidence, Relations
from litm.analysis.claims.shape import contrasts_question, curves_with_middle
from litm.analysis.claims.verdicts import ABOVE_ZERO, Claim, Question

#: A U needs both: primacy (start - middle) above 0 and recency (end - middle) above 0. The Position Bias Index, their
#: mean, is no test of a U: it is also above 0 if one end alone is high.
BOTH_ENDS = (("primacy", ABOVE_ZERO), ("recency", ABOVE_ZERO))


def ask(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for every curve with a middle: are both primacy and recency above 0?"""
    for curve, three in curves_with_middle(evidence):
        yield question(evidence, curve, three)


def question(evidence: Evidence, curve: Curve, three: tuple[Cell, Cell, Cell]) -> Question:
    """Whether one curve is a U."""
    return contrasts_question(evidence, curve, three, BOTH_ENDS)


CLAIM = Claim(
    name="u_shape",
    statement="Accuracy is higher where the answer is at the start and at the end of the context than in its middle.",
    section="2.3, 3.2",
    needs="an experiment with three positions or more",
    ask=ask,
)
