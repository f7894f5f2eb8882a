"""Questions, the placement of their gold items, and the prompts that come of it.

Every task gives its questions in one shape, so that placing and rendering are written once. An *item* is
whatever a context is made of, as a tuple of strings: (title, text) of a document, (key, value) of a pair.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from litm.errors import UserError
from litm.normalization import contains_normalized
from litm.placements import NO_GOLD, depth_of, gold_positions, positions_for

Item = tuple[str, ...]


@dataclass(frozen=True)
class Gold:
    """An item that has an answer, and the answers that count as right; no item where none is known to have it."""

    name: str
    item: Item | None
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """One question with its gold item(s) and its distractors in order, before any placement."""

    id: str
    text: str
    golds: tuple[Gold, ...]
    distractors: tuple[Item, ...]


def place(question: Question, size: int, placement: str) -> list[Item]:
    """The items of a context of `size`, with each gold item where `placement` says.

    The distractors are the question's first ones, as many as fit beside the gold items, in their order, at every
    position: moving a gold item changes nothing else. Several gold items keep their order, so their positions ascend.
    `as_retrieved` shows the first `size` distractors as they come, `no_gold` nothing.
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
            f"question {question.id} ({question.text!r}) has {len(question.distractors)} distractors, "
            f"but a context of {size} needs {needed}"
        )
    if positions and max(positions) >= size:
        raise UserError(
            f"position {max(positions)} is impossible, positions in a context of {size} are 0 to {size - 1}"
        )
    if list(positions) != sorted(set(positions)):
        raise UserError(f"{placement}: the positions must ascend, because the gold items keep their order")
    items = list(question.distractors[:needed])
    # In ascending order, so that no later insertion moves an earlier one.
    for position, gold in zip(positions, question.golds, strict=bool(positions)):
        assert gold.item is not None, "a placement of a gold item needs one"
        items.insert(position, gold.item)
    return items


def shuffle_distractors(question: Question, size: int, seed: int | None) -> Question:
    """The question with the distractors of a context of `size` in a random order, decided by seed and question.

    They are cut to the size first: a random order shows the same items as the ranked one (paper, Appendix C),
    and it is the same at every position.
    """
    golds = sum(gold.item is not None for gold in question.golds)
    distractors = question.distractors[: max(0, size - golds)]
    rng = random.Random(f"{seed}/distractor_order/{question.id}")
    return replace(question, distractors=tuple(rng.sample(distractors, len(distractors))))


def make_example(
    question: Question,
    size: int,
    placement: str,
    template: str,
    format_items: Callable[[Sequence[Item]], list[str]],
    separator: str,
    as_messages: Callable[[Sequence[Item], str], list[dict]] | None = None,
) -> dict:
    """The example record: the prompt, and for each target its position, depth, character span and answers.

    as_messages: of items and question makes the chat messages that say the same as the prompt; the record has them
    where a task can be put that way.
    """
    placed = positions_for(placement, size)
    items = place(question, size, placed)
    formatted = format_items(items)
    context = separator.join(formatted)
    prompt, context_start = render(template, context, question.text)
    positions = gold_positions(placed) or (None,) * len(question.golds)
    targets = [
        {
            "name": gold.name,
            "position": position,
            "depth": None if position is None else depth_of(position, size),
            "span": None if position is None else item_span(formatted, position, separator, context_start),
            "answers": list(gold.answers),
        }
        for gold, position in zip(question.golds, positions, strict=True)
    ]
    messages = {} if as_messages is None else {"messages": as_messages(items, question.text)}
    return {
        "id": question.id,
        "size": size,
        "placement": placement,
        "question": question.text,
        "answer_in_distractors": answer_in_distractors(question, items),
        "prompt": prompt,
        **messages,
        "targets": targets,
    }


def answer_in_distractors(question: Question, items: Sequence[Item]) -> bool:
    """Whether an answer is in an item that is not the gold one, as `best_subspan_em` looks for it; no, where none
    is gold.
    """
    golds = {gold.item for gold in question.golds if gold.item is not None}
    if not golds:
        return False
    answers = [answer for gold in question.golds for answer in gold.answers]
    return any(contains_normalized(" ".join(item), answers) for item in items if item not in golds)


def item_span(formatted: Sequence[str], position: int, separator: str, context_start: int) -> list[int]:
    """First character and the one after the last of the item at `position` in the prompt."""
    start = context_start + sum(len(item) + len(separator) for item in formatted[:position])
    return [start, start + len(formatted[position])]


def read_template(path: str | Path, with_context: bool = True) -> str:
    """A prompt file's text without its final line end.

    Raises `UserError` unless it says where {question} goes, and {context} once if there are items to show.
    """
    template = Path(path).read_text(encoding="utf-8").removesuffix("\n")
    if "{question}" not in template:
        raise UserError(f"{path}: the prompt must contain {{question}}")
    if template.count("{context}") != int(with_context):
        wanted = "once, where the items go" if with_context else "nowhere, because there are no items to show"
        raise UserError(f"{path}: the prompt must contain {{context}} {wanted}")
    return template


def render(template: str, context: str, question: str) -> tuple[str, int]:
    """Fill {context} and {question}; returns the prompt and where the context begins in it.

    All fields are filled in one pass, so braces inside a question or a document are left alone.
    """
    values = {"context": context, "question": question}
    parts = re.split(r"\{(context|question)\}", template)
    prompt, context_start = "", 0
    for index, part in enumerate(parts):
        is_field = index % 2 == 1
        if is_field and part == "context":
            context_start = len(prompt)
        prompt += values[part] if is_field else part
    return prompt, context_start
