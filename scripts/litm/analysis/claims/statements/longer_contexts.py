"""Claim: accuracy falls as the context grows."""

from collections.abc import Iterator, Sequence

from litm.analysis.claims.evidence import Curve, Evidence, Relations, curves
from litm.analysis.claims.verdicts import BELOW_ZERO, Claim, Part, Question
from litm.base.messages import percent


def ask(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each model and experiment of several sizes: is the mean over the positions lower at the largest size?

    It is compared with the smallest size; the detail lists the sizes between.
    """
    groups: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves(evidence):
        groups.setdefault((curve.model, curve.experiment), []).append(curve)
    for group in groups.values():
        if len(group) > 1:
            yield size_question(evidence, sorted(group, key=lambda curve: curve.size))


def size_question(evidence: Evidence, group: Sequence[Curve]) -> Question:
    """Whether the last of these curves of one model is lower than the first, by the mean over the positions."""
    first, last = group[0], group[-1]
    difference = evidence.difference_of_means(last.cells, first.cells)
    means = [f"{percent(sum(correct) / len(correct) / n)} % at size {curve.size}" for curve in group
             for correct, n in [evidence.correct(curve.cells)] if n]  # fmt: skip
    return Question(
        models=(first.model,),
        experiment=first.experiment,
        size=last.size,
        parts=(Part(f"mean minus that at size {first.size}", BELOW_ZERO, difference),),
        detail="mean over the positions: " + ", ".join(means) if difference else "a size without a scored question",
    )


CLAIM = Claim(
    name="longer_context_worse",
    statement="Accuracy falls as the context grows: it is lower at the largest size than at the smallest.",
    section="abstract and Figure 6 of arXiv's first versions",
    needs="an experiment of two sizes or more, with two positions or more at each",
    ask=ask,
)
