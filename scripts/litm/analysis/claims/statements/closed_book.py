"""Claim: with the answer in the middle of the documents, GPT-3.5-Turbo is less accurate than without documents."""

from collections.abc import Iterator

from litm.analysis.claims.evidence import Cell, Evidence, Relations, lowest
from litm.analysis.claims.shape import curves_with_middle
from litm.analysis.claims.verdicts import AS_CLAIM, BELOW_ZERO, EXPLORATORY, Claim, Part, Question
from litm.base.messages import points

#: Models that the paper's claim is about, with both lengths of context. Cases of other models are exploratory.
SAID_OF = ("gpt-3.5-turbo-0613", "gpt-3.5-turbo-16k-0613")


def ask(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each model and experiment with a closed-book version: is middle - closed book below 0 at some size?"""
    without = {(cell.model, cell.experiment): cell for cell in evidence.cells if cell.position is None}
    pairs: dict[tuple[str, str], list[tuple[Cell, Cell]]] = {}
    for curve, (_, middle, _) in curves_with_middle(evidence):
        related = relations.experiments.get(curve.experiment)
        closed = without.get((curve.model, related.closed_book)) if related and related.closed_book else None
        if closed:
            pairs.setdefault((curve.model, curve.experiment), []).append((middle, closed))
    for (model, experiment), cells in pairs.items():
        yield _question(evidence, model, experiment, cells)


def _question(evidence: Evidence, model: str, experiment: str, cells: list[tuple[Cell, Cell]]) -> Question:
    measures = {middle.size: evidence.contrast({middle: 1, closed: -1}) for middle, closed in cells}
    measured = {size: measure for size, measure in measures.items() if measure}
    if measured:
        differences = ", ".join(f"{points(measure.value)} at size {size}" for size, measure in measured.items())
        detail = f"middle against closed book: {differences}"
    else:
        detail = "no question was scored both in the middle and closed book"
    lowest_size = min(measured, key=lambda size: measured[size].value, default=None)
    measure = lowest(list(measured.values())) if measured else None
    return Question(
        models=(model,),
        experiment=experiment,
        size=lowest_size,
        parts=(Part("lowest difference from closed book", BELOW_ZERO, measure),),
        detail=detail,
        role=AS_CLAIM if model in SAID_OF else EXPLORATORY,
    )


CLAIM = Claim(
    name="below_closed_book",
    statement="With the answer in the middle GPT-3.5-Turbo is less accurate than without documents, at some size.",
    section="2.3",
    needs="an experiment with three positions or more, and the one that its `closed_book` names",
    ask=ask,
)
