"""Small models have recency alone; primacy comes with size."""

from collections.abc import Iterator

from litm.analysis.claims.criteria import ABOVE_ZERO, NOT_ABOVE_ZERO
from litm.analysis.claims.evidence import Evidence
from litm.analysis.claims.relations import Relations
from litm.analysis.claims.shape import contrast_question, curves_with_middle
from litm.analysis.claims.verdicts import Claim, Question

#: Parameters, in billions, of the smallest Llama-2 with primacy.
FROM = 13


def ask(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Of the models of a family that has both: primacy (start - middle) above 0 from 13 billion parameters on.

    Of smaller ones: no primacy, and recency (end - middle) above 0.
    """
    for curve, three in curves_with_middle(evidence):
        about = relations.about(curve.model)
        if about.parameters is None or about.family not in _families_with_both(relations):
            continue
        if about.parameters >= FROM:
            yield contrast_question(evidence, curve, three, "primacy", ABOVE_ZERO)
        else:
            yield contrast_question(evidence, curve, three, "primacy", NOT_ABOVE_ZERO)
            yield contrast_question(evidence, curve, three, "recency", ABOVE_ZERO)


def _families_with_both(relations: Relations) -> set[str]:
    """Families of the catalogue with models of fewer parameters and of as many."""
    sized = [(about.family, about.parameters) for about in relations.models.values() if about.family]
    small = {family for family, parameters in sized if parameters is not None and parameters < FROM}
    return small & {family for family, parameters in sized if parameters is not None and parameters >= FROM}


CLAIM = Claim(
    name="primacy_from_13b",
    statement="Only models of 13 billion parameters or more do better at the start; smaller ones at the end alone.",
    section="Appendix E",
    needs="models of one `about.family` on both sides of 13 billion `about.parameters`",
    ask=ask,
)
