"""Key-value retrieval among 200 pairs against 100: the suite's claim about the bias, and one about the accuracy."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from litm.analysis.claims.evidence import Curve, Evidence, Measure, Relations, curves, minus
from litm.analysis.claims.shape import Three, contrast_weights, curves_with_middle
from litm.analysis.claims.statements.longer_contexts import size_question
from litm.analysis.claims.verdicts import ABOVE_ZERO, Claim, Part, Question
from litm.base.messages import points

#: The suite's experiments 1A and 1B: their task and sizes.
TASK, SIZES = "kv_retrieval", (100, 200)
NEEDS = "a key-value experiment of 100 and of 200 pairs, such as suite_kv_retrieval"


def ask(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each model and key-value experiment of both sizes: is the mean over the positions lower at 200 pairs?"""
    return (size_question(evidence, pair) for pair in _pairs(evidence, relations))


def ask_bias(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each of these with a middle at both sizes: is the Position Bias Index higher at 200 pairs?

    The verdict is withheld if a size is at the floor or the ceiling, because its index then carries no information.
    """
    threes = dict(curves_with_middle(evidence))
    for pair in _pairs(evidence, relations):
        if all(curve in threes for curve in pair):
            yield _bias_question(evidence, {curve: threes[curve] for curve in pair})


def _pairs(evidence: Evidence, relations: Relations) -> Iterator[tuple[Curve, Curve]]:
    """The curves of 100 and of 200 pairs of a model and experiment."""
    groups: dict[tuple[str, str], dict[int, Curve]] = {}
    for curve in curves(evidence):
        related = relations.experiments.get(curve.experiment)
        if related and related.task == TASK and curve.size in SIZES:
            groups.setdefault((curve.model, curve.experiment), {})[curve.size] = curve
    for group in groups.values():
        if len(group) == len(SIZES):
            yield group[SIZES[0]], group[SIZES[1]]


def _bias_question(evidence: Evidence, pair: Mapping[Curve, Three]) -> Question:
    """Whether the index of the second curve is above that of the first."""
    fewer, more = pair
    indexes = [evidence.contrast(contrast_weights(curve, three, "pbi")) for curve, three in pair.items()]
    told = [f"{points(one.value)} at size {curve.size}" for one, curve in zip(indexes, pair, strict=True) if one]
    is_measured = len(told) == len(pair)
    limits = [evidence.limit(curve.cells, three) for curve, three in pair.items()] if is_measured else []
    return Question(
        models=(more.model,),
        experiment=more.experiment,
        size=more.size,
        parts=(Part(f"pbi minus that at size {fewer.size}", ABOVE_ZERO, _difference(evidence, pair, *indexes)),),
        detail=f"Position Bias Index: {', '.join(told)}" if is_measured else "a size without a scored question",
        withheld=", ".join(dict.fromkeys(filter(None, limits))),
    )


def _difference(
    evidence: Evidence, pair: Mapping[Curve, Three], smaller: Measure | None, larger: Measure | None
) -> Measure | None:
    """The second index minus the first: paired if they share at least half of their questions."""
    if smaller is None or larger is None:
        return None
    first, second = (contrast_weights(curve, three, "pbi") for curve, three in pair.items())
    paired = evidence.contrast(second | {cell: -weight for cell, weight in first.items()})
    if paired and paired.is_paired and paired.n >= min(smaller.n, larger.n) / 2:
        return paired
    return replace(minus(larger, smaller), is_paired=False)


CLAIM = Claim(
    name="more_keys_worse",
    statement="Key-value retrieval among 200 pairs is less accurate than among 100.",
    section="this project's own",
    needs=NEEDS,
    ask=ask,
)
BIAS_CLAIM = Claim(
    name="more_keys_more_bias",
    statement="The Position Bias Index of key-value retrieval is higher among 200 pairs than among 100.",
    section="the suite's experiment 1",
    needs=NEEDS,
    ask=ask_bias,
)
