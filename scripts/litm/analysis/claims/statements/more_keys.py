"""The suite's claim: key-value retrieval among 200 pairs is less accurate than among 100."""

from collections.abc import Iterator

from litm.analysis.claims.evidence import Curve, Evidence, curves
from litm.analysis.claims.relations import Relations
from litm.analysis.claims.statements.longer_contexts import size_question
from litm.analysis.claims.verdicts import Claim, Question

#: The suite's experiments 1A and 1B: their task and sizes.
TASK, SIZES = "kv_retrieval", (100, 200)


def ask(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each model and key-value experiment with both sizes: is the mean over positions lower at 200 pairs?"""
    groups: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves(evidence):
        related = relations.experiments.get(curve.experiment)
        if related and related.task == TASK and curve.size in SIZES:
            groups.setdefault((curve.model, curve.experiment), []).append(curve)
    for group in groups.values():
        if len(group) == len(SIZES):
            yield size_question(evidence, sorted(group, key=lambda curve: curve.size))


CLAIM = Claim(
    name="more_keys_worse",
    statement="Key-value retrieval among 200 pairs is less accurate than among 100.",
    section="the suite's experiment 1",
    needs="a key-value experiment of 100 and of 200 pairs, such as suite_kv_retrieval",
    ask=ask,
)
