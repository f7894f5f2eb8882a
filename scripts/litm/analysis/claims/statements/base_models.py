"""Claim: base models, which were not tuned to follow instructions, have the U too."""

from collections.abc import Iterator

from litm.analysis.claims.evidence import Evidence, Relations
from litm.analysis.claims.statements import u_shape
from litm.analysis.claims.verdicts import Claim, Question


def ask(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """The question of `u_shape` for base models, from which other models were tuned."""
    return (question for question in u_shape.ask(evidence, relations) if question.models[0] in relations.base_models)


CLAIM = Claim(
    name="base_models_too",
    statement="Base models have this U shape too: it does not come from instruction tuning.",
    section="4.3, Appendix E",
    needs="a base model (one that another model's `about.tuned_from` names) and three positions or more",
    ask=ask,
)
