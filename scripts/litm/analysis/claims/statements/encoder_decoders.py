"""Encoder-decoders do not mind the position within the length that they were trained on, but do beyond."""

from collections.abc import Iterator
from itertools import permutations

from litm.analysis.claims.criteria import ABOVE_ZERO, AT_MOST_SMALL
from litm.analysis.claims.evidence import Curve, Evidence, curves
from litm.analysis.claims.measures import Measure, largest, minus
from litm.analysis.claims.relations import ENCODER_DECODER, Relations
from litm.analysis.claims.verdicts import Claim, Question
from litm.base.formatting import points


def ask(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Of each encoder-decoder, experiment and size: is the best-worst gap below 5 points?

    That is asked where the mean prompt has no more tokens than those it was trained on. Of longer ones it is asked
    whether their gap is larger than that of the largest size within.
    """
    groups: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves(evidence):
        if relations.about(curve.model).architecture == ENCODER_DECODER:
            groups.setdefault((curve.model, curve.experiment), []).append(curve)
    for (model, _), group in groups.items():
        yield from _questions(evidence, group, relations.about(model).training_length)


def _questions(evidence: Evidence, group: list[Curve], training_length: int | None) -> Iterator[Question]:
    within: Measure | None = None
    for curve in sorted(group, key=lambda curve: curve.size):
        length = evidence.prompt_tokens(curve.cells)
        if training_length is None or length is None:
            yield _question(curve, None, "its training length or that of its prompts is not known", beyond=False)
            continue
        gap = best_worst_gap(evidence, curve)
        words = f"prompts of {length:,.0f} tokens, trained on {training_length:,}"
        if gap is None:
            yield _question(curve, None, f"{words}; no question was scored at every position", length > training_length)
        elif length <= training_length:
            within = gap
            yield _question(curve, gap, f"{words}; gap {points(gap.value)}", beyond=False)
        elif within is None:
            yield _question(curve, None, f"{words}; no size within it to compare with", beyond=True)
        else:
            gaps = f"gap {points(gap.value)}, within it {points(within.value)}"
            yield _question(curve, minus(gap, within), f"{words}; {gaps}", beyond=True)


def best_worst_gap(evidence: Evidence, curve: Curve) -> Measure | None:
    """Best minus worst position of a curve, with limits made of those of all pairs of positions (`largest`)."""
    rest = dict.fromkeys(curve.cells, 0.0)
    differences = [evidence.contrast(rest | {first: 1, other: -1}) for first, other in permutations(curve.cells, 2)]
    measured = [difference for difference in differences if difference]
    return largest(measured) if measured else None


def _question(curve: Curve, measure: Measure | None, detail: str, beyond: bool) -> Question:
    return Question(
        models=(curve.model,),
        experiment=curve.experiment,
        size=curve.size,
        statistic="gap minus that within the training length" if beyond else "best-worst gap",
        criterion=ABOVE_ZERO if beyond else AT_MOST_SMALL,
        measure=measure,
        detail=detail,
    )


CLAIM = Claim(
    name="encoder_decoder_robust",
    statement="Encoder-decoders are robust to the position within the length of their training, and less so beyond it.",
    section="4.1",
    needs="an encoder-decoder (`about.architecture`) with its `about.training_length`, and several positions",
    ask=ask,
)
