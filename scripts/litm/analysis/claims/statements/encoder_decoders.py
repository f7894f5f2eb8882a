"""Claim: encoder-decoders are robust to the position within their training length, and less so beyond it."""

from collections.abc import Iterator

from litm.analysis.claims.evidence import ENCODER_DECODER, Curve, Evidence, Measure, Relations, curves, minus
from litm.analysis.claims.shape import best_worst_gap
from litm.analysis.claims.verdicts import ABOVE_ZERO, AT_MOST_SMALL, Claim, Part, Question
from litm.base.messages import points

WITHIN, BEYOND = "best-worst gap", "gap minus that within the training length"


def ask(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each encoder-decoder and experiment, over all sizes: is the best-worst gap below 5 points?

    Sizes whose mean prompt is within the training length are tested for this. Longer sizes are tested for a larger gap
    than that of the largest size within the training length. Both must hold.
    """
    groups: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves(evidence):
        if relations.about(curve.model).architecture == ENCODER_DECODER:
            groups.setdefault((curve.model, curve.experiment), []).append(curve)
    for (model, experiment), group in groups.items():
        asked = list(_parts(evidence, group, relations.about(model).training_length))
        yield Question(
            models=(model,),
            experiment=experiment,
            size=None,
            parts=tuple(part for part, _ in asked),
            detail="; ".join(words for _, words in asked),
        )


def _parts(evidence: Evidence, group: list[Curve], training_length: int | None) -> Iterator[tuple[Part, str]]:
    """The part of the claim on each size, with its description."""
    within: Measure | None = None
    for curve in sorted(group, key=lambda curve: curve.size):
        length = evidence.prompt_tokens(curve.cells)
        if training_length is None or length is None:
            words = f"size {curve.size}: its training length or that of its prompts is not known"
            yield Part(WITHIN, AT_MOST_SMALL, None, curve.size), words
            continue
        gap = best_worst_gap(evidence, curve)
        words = f"size {curve.size}: prompts of {length:,.0f} tokens, trained on {training_length:,}"
        if length <= training_length:
            within = gap or within
            yield Part(WITHIN, AT_MOST_SMALL, gap, curve.size), f"{words}, {_gap(gap)}"
        else:
            more = minus(gap, within) if gap and within else None
            against = f"within it {_gap(within)}" if within else "no size within it to compare with"
            yield Part(BEYOND, ABOVE_ZERO, more, curve.size), f"{words}, {_gap(gap)}, {against}"


def _gap(gap: Measure | None) -> str:
    return f"gap {points(gap.value)}" if gap else "no question was scored at every position"


CLAIM = Claim(
    name="encoder_decoder_robust",
    statement="Encoder-decoders are robust to the position within the length of their training, and less so beyond it.",
    section="4.1",
    needs="an encoder-decoder (`about.architecture`) with its `about.training_length`, and several positions",
    ask=ask,
)
