"""Claim: with more retrieved documents, the reader's accuracy saturates long before the retriever's recall."""

from collections.abc import Iterator

from litm.analysis.claims.evidence import Cell, Evidence, Measure, Relations, minus, scaled
from litm.analysis.claims.verdicts import AT_MOST_SMALL, BELOW_ZERO, Claim, Part, Question
from litm.analysis.statistics import paired_difference
from litm.base.messages import points
from litm.placements import AS_RETRIEVED

#: Fraction of the largest size: gains start at the size nearest to it, as the paper's 20 of 50 documents.
FROM_SHARE = 0.4
#: Fraction of the gained recall: a reader that gains less accuracy than this has saturated before the retriever.
USED_SHARE = 0.5


def ask(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each model and open-domain experiment: is the gain of accuracy below 5 points and half the gain of
    recall?
    """
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in evidence.cells:
        if cell.placement == AS_RETRIEVED:
            groups.setdefault((cell.model, cell.experiment), []).append(cell)
    for group in groups.values():
        if len(group) > 1:
            yield _question(evidence, group)


def _question(evidence: Evidence, group: list[Cell]) -> Question:
    last = max(group, key=lambda cell: cell.size)
    first = min(
        (cell for cell in group if cell is not last),
        key=lambda cell: (abs(cell.size - FROM_SHARE * last.size), cell.size),
    )
    between = f"from {first.size} to {last.size} documents"
    gain, recall = evidence.contrast({last: 1, first: -1}), recall_gain(evidence, first, last)
    unused = minus(gain, scaled(recall, USED_SHARE)) if gain and recall else None
    if gain:
        known = f"recall {points(recall.value)}" if recall else "the recall at these sizes is not known"
        detail = f"accuracy {points(gain.value)} {between}; {known}"
    else:
        detail = f"no question was scored at both, {between}"
    return Question(
        models=(last.model,),
        experiment=last.experiment,
        size=last.size,
        parts=(
            Part("accuracy gained", AT_MOST_SMALL, gain),
            Part("accuracy gained minus half the recall gained", BELOW_ZERO, unused),
        ),
        detail=detail,
    )


def recall_gain(evidence: Evidence, first: Cell, last: Cell) -> Measure | None:
    """The gain of recall between two sizes; it is never negative, as larger sizes include the smaller ones."""
    recall = evidence.recall(last.experiment)
    if first.size not in recall or last.size not in recall:
        return None
    (before, n), (after, _) = recall[first.size], recall[last.size]
    more = round((after - before) * n)

    def interval(confidence: float) -> tuple[float, float]:
        estimate = paired_difference(more, 0, n, confidence).estimate
        return estimate.low, estimate.high

    return Measure(more / n, n, interval)


CLAIM = Claim(
    name="readers_saturate",
    statement="With more retrieved documents the accuracy of readers saturates long before the retriever's recall.",
    section="5",
    needs="an open-domain experiment of several sizes, and the recall of its retriever",
    ask=ask,
)
