"""Claim: a model with a longer context is no better than its counterpart if the prompt fits both."""

from collections.abc import Iterator

from litm.analysis.claims.evidence import Cell, Evidence, Relations
from litm.analysis.claims.verdicts import AT_MOST_SMALL, Claim, Part, Question
from litm.base.messages import points


def ask(evidence: Evidence, relations: Relations) -> Iterator[Question]:
    """Ask for each such pair, experiment and size: is the mean difference over all cells below 5 points?

    It is computed on the questions that fit both models in all cells. The absence of a shown difference is not enough.
    """
    for longer, about in relations.models.items():
        shorter = about.longer_context_of
        if shorter is None:
            continue
        for (experiment, size), pairs in _shared_cells(evidence, longer, shorter).items():
            weights = {first: 1 / len(pairs) for first, _ in pairs} | {other: -1 / len(pairs) for _, other in pairs}
            measure = evidence.contrast(weights)
            if measure is None:
                detail = f"no question has prompts that fit {shorter} too"
            else:
                detail = f"{points(measure.value)} against {shorter}, mean of {len(pairs)} placements"
            yield Question(
                models=(longer, shorter),
                experiment=experiment,
                size=size,
                parts=(Part("mean difference", AT_MOST_SMALL, measure),),
                detail=detail,
            )


def _shared_cells(evidence: Evidence, longer: str, shorter: str) -> dict[tuple[str, int], list[tuple[Cell, Cell]]]:
    """Cells with a context of several items that both models have, by experiment and size."""
    other = {(cell.experiment, cell.size, cell.placement): cell for cell in evidence.cells if cell.model == shorter}
    shared: dict[tuple[str, int], list[tuple[Cell, Cell]]] = {}
    for cell in evidence.cells:
        key = (cell.experiment, cell.size, cell.placement)
        if cell.model == longer and cell.size > 1 and key in other:
            shared.setdefault((cell.experiment, cell.size), []).append((cell, other[key]))
    return shared


CLAIM = Claim(
    name="extended_context_no_better",
    statement="Where a prompt fits both, a model with a longer context is no better than that with the shorter one.",
    section="2.3",
    needs="a model and its counterpart with a longer context (`about.longer_context_of`)",
    ask=ask,
)
