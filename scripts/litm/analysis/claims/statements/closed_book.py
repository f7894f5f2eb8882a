"""With the answer in the middle of the documents, models can do worse than with no documents."""

from collections.abc import Iterator

from litm.analysis.claims.criteria import BELOW_ZERO
from litm.analysis.claims.evidence import Cell, Evidence
from litm.analysis.claims.measures import lowest
from litm.analysis.claims.relations import Relations
from litm.analysis.claims.shape import curves_with_middle
from litm.analysis.claims.verdicts import Claim, Question
from litm.base.formatting import points


def ask(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Of each model and experiment with a closed-book version: is middle - closed book below 0 for some size?"""
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
    return Question(
        models=(model,),
        experiment=experiment,
        size=min(measured, key=lambda size: measured[size].value, default=None),
        statistic="lowest difference from closed book",
        criterion=BELOW_ZERO,
        measure=lowest(list(measured.values())) if measured else None,
        detail=detail,
    )


CLAIM = Claim(
    name="below_closed_book",
    statement="With the answer in the middle, accuracy falls below that without documents, for at least one size.",
    section="2.3",
    needs="an experiment with three positions or more, and the one that its `closed_book` names",
    ask=ask,
)
