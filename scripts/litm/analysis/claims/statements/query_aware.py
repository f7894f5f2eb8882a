"""Claim: the question also before the context solves key-value retrieval, but hardly changes question answering."""

from collections.abc import Iterator

from litm.analysis.claims.evidence import Cell, Curve, Evidence, Relations, curves, lowest
from litm.analysis.claims.verdicts import ALMOST_ONE, WITHIN_SMALL, Claim, Part, Question
from litm.base.messages import percent, points

#: Task that it solves. In other tasks its effect is small.
SOLVED = "kv_retrieval"


def ask(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each query-aware curve: in key-value retrieval, is the worst position above 95 %?

    In other tasks: is the mean difference from the plain curve, over all positions, within 5 points of 0?
    """
    plain = {(curve.model, curve.experiment, curve.size): curve for curve in curves(evidence)}
    for curve in curves(evidence):
        related = relations.experiments.get(curve.experiment)
        if related is None or related.query_aware_of is None:
            continue
        other = plain.get((curve.model, related.query_aware_of, curve.size))
        if related.task == SOLVED:
            yield _solved(evidence, curve)
        elif other:
            yield _unchanged(evidence, curve, other)


def _solved(evidence: Evidence, curve: Curve) -> Question:
    accuracies = [measure for cell in curve.cells if (measure := evidence.accuracy(cell))]
    worst = lowest(accuracies) if len(accuracies) == len(curve.cells) else None
    return Question(
        models=(curve.model,),
        experiment=curve.experiment,
        size=curve.size,
        parts=(Part("accuracy at the worst position", ALMOST_ONE, worst),),
        detail=f"worst position {percent(worst.value)} %" if worst else "a position without a scored question",
    )


def _unchanged(evidence: Evidence, curve: Curve, plain: Curve) -> Question:
    shared = _same_placements(curve, plain)
    weights = {cell: 1 / len(shared) for cell, _ in shared} | {cell: -1 / len(shared) for _, cell in shared}
    change = evidence.contrast(weights) if shared else None
    return Question(
        models=(curve.model,),
        experiment=curve.experiment,
        size=curve.size,
        parts=(Part("mean difference from the plain prompt", WITHIN_SMALL, change),),
        detail=(
            f"{points(change.value)} against {plain.experiment}, mean of {len(shared)} positions"
            if change
            else f"no question was scored in both this and {plain.experiment}"
        ),
    )


def _same_placements(curve: Curve, plain: Curve) -> list[tuple[Cell, Cell]]:
    by_placement = {cell.placement: cell for cell in plain.cells}
    return [(cell, by_placement[cell.placement]) for cell in curve.cells if cell.placement in by_placement]


CLAIM = Claim(
    name="query_aware",
    statement="The question before the context too solves key-value retrieval, but hardly changes question answering.",
    section="4.2",
    needs="an experiment that says whose query-aware version it is (`query_aware_of`)",
    ask=ask,
)
