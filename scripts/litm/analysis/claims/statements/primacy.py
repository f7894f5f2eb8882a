"""Claim: small models have recency only; larger ones also have primacy."""

from collections.abc import Iterator

from litm.analysis.claims.evidence import Evidence, Relations
from litm.analysis.claims.shape import contrasts_question, curves_with_middle
from litm.analysis.claims.verdicts import ABOVE_ZERO, AS_CLAIM, EXPLORATORY, NOT_ABOVE_ZERO, Claim, Question

#: Billions of parameters of the smallest Llama-2 with primacy.
FROM = 13
#: Family that the paper's claim is about. Cases of other families are exploratory.
SAID_OF = "llama-2"
#: Parts of the claim on models with at least `FROM` billion parameters, and on smaller ones.
LARGE = (("primacy", ABOVE_ZERO),)
SMALL = (("primacy", NOT_ABOVE_ZERO), ("recency", ABOVE_ZERO))


def ask(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for models of a family with sizes on both sides: is primacy (start - middle) above 0 from 13 billion on?

    Smaller ones are asked: is there no primacy, and is recency (end - middle) above 0?
    """
    families = _families_with_both(relations)
    for curve, three in curves_with_middle(evidence):
        about = relations.about(curve.model)
        if about.parameters is not None and about.family in families:
            asked = LARGE if about.parameters >= FROM else SMALL
            role = AS_CLAIM if about.family == SAID_OF else EXPLORATORY
            yield contrasts_question(evidence, curve, three, asked, role)


def _families_with_both(relations: Relations) -> set[str]:
    """Families of the catalogue with models below and from `FROM` billion parameters."""
    sized = [(about.family, about.parameters) for about in relations.models.values() if about.family]
    small = {family for family, parameters in sized if parameters is not None and parameters < FROM}
    return small & {family for family, parameters in sized if parameters is not None and parameters >= FROM}


CLAIM = Claim(
    name="primacy_from_13b",
    statement="Llama-2 of 13 billion parameters or more does better at the start; of fewer, at the end alone.",
    section="Appendix E",
    needs="models of one `about.family` on both sides of 13 billion `about.parameters`",
    ask=ask,
)
