"""Sample of an audit: a seeded sample of the answered questions, each asked again at all positions."""

from collections.abc import Iterable

from litm.base.store import text_sha256
from litm.records import FAILED, OVERFLOW, SweepResponse


def audit_sample(responses: Iterable[SweepResponse], per_cell: int, seed: int) -> set[tuple[int, str]]:
    """(size, id) of at most `per_cell` questions per size, sampled from those with an answer at every placement.

    A question's rank depends only on the seed and its id, so a larger sample contains a smaller one, and sizes and
    models share questions where possible.
    """
    placements: dict[int, set[str]] = {}
    answered: dict[tuple[int, str], set[str]] = {}
    for response in responses:
        placements.setdefault(response.size, set()).add(response.placement)
        if response.finish_reason not in (OVERFLOW, FAILED):
            answered.setdefault((response.size, response.id), set()).add(response.placement)
    complete = [question for question, at in answered.items() if at == placements[question[0]]]
    return {
        question
        for size in placements
        for question in sorted((one for one in complete if one[0] == size), key=lambda one: _lot(seed, one[1]))[
            :per_cell
        ]
    }


def _lot(seed: int, id: str) -> tuple[str, str]:
    return text_sha256(f"{seed}/audit/{id}"), id
