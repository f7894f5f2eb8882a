"""Placing: a context's items with each gold item at its position."""

import random
from dataclasses import replace

from litm.base.messages import UserError, quoted
from litm.examples.orders import in_order
from litm.examples.task import ExampleSettings
from litm.placements import NO_GOLD, gold_positions
from litm.records import Item, Question


def place(question: Question, size: int, placement: str) -> list[Item]:
    """The items of a context of `size`, with each gold item at its position in `placement`.

    The distractors are the question's first ones, as many as the gold items leave room for, in the same order at every
    position: moving a gold item changes nothing else. Several gold items keep their order, so positions ascend.
    `as_retrieved` shows the first `size` distractors in order, `no_gold` shows nothing.
    """
    if placement == NO_GOLD:
        return []
    positions = gold_positions(placement)
    if positions and len(positions) != len(question.golds):
        raise UserError(
            f"{placement} has {len(positions)} positions, but question {question.id} has "
            f"{len(question.golds)} gold items: give each one a position"
        )
    needed = size - len(positions)
    if len(question.distractors) < needed:
        raise UserError(
            f"question {question.id} ({quoted(question.text)}) has {len(question.distractors)} distractors, "
            f"but a context of {size} needs {needed}"
        )
    if positions and max(positions) >= size:
        raise UserError(
            f"position {max(positions)} is impossible, positions in a context of {size} are 0 to {size - 1}"
        )
    if list(positions) != sorted(set(positions)):
        raise UserError(f"{placement}: the positions must ascend, because the gold items keep their order")
    items = list(question.distractors[:needed])
    # In ascending order, so that later insertions do not move earlier ones.
    for position, gold in zip(positions, question.golds, strict=bool(positions)):
        assert gold.item is not None, "a placement of a gold item needs one"
        items.insert(position, gold.item)
    return items


def shuffle_distractors(question: Question, size: int, seed: int | None) -> Question:
    """The question with the distractors of a context of `size` in a random order, decided by seed and question.

    They are cut to the size before shuffling: a random order shows the same items as the ranked one (paper, Appendix
    C), and the same order at every position.
    """
    golds = sum(gold.item is not None for gold in question.golds)
    distractors = question.distractors[: max(0, size - golds)]
    rng = random.Random(f"{seed}/distractor_order/{question.id}")
    return replace(question, distractors=tuple(rng.sample(distractors, len(distractors))))


def order_documents(question: Question, size: int, settings: ExampleSettings) -> Question:
    """The question with its first `size` retrieved documents in the order of the settings; every order shows the same
    documents.
    """
    rng = random.Random(f"{settings.seed}/distractor_order/{question.id}")
    return replace(question, distractors=tuple(in_order(settings.order, question.distractors[:size], rng)))
