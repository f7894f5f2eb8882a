"""Examples from questions: which questions, their prompts, and the places of the gold items."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from litm.answers import contains_normalized
from litm.base.files import read_text
from litm.base.messages import UserError, quoted
from litm.examples.measured_order import Curve, is_held_out
from litm.examples.orders import AUTHORS, AUTHORS_SEED, FLAT, RANDOM, in_order
from litm.examples.task import ASK_ANOTHER_KEY, ExampleSettings, Task
from litm.placements import ABSENT, NO_GOLD, depth_of, gold_positions, positions_for
from litm.questions.subsets import Coverage, first_by_digest, select
from litm.records.conditions import RANKED
from litm.records.examples import Example, Target
from litm.records.questions import Item, Question


def choose_questions(
    questions: Iterable[Question], settings: ExampleSettings, labels: Mapping[str, bool] | None
) -> tuple[Iterable[Question], Coverage | None]:
    """The questions that the settings ask for, and their coverage by labels (None without labels).

    labels: see `read_labels`. There may be fewer than `settings.examples` questions.
    """
    coverage = None
    if labels is not None:
        questions, coverage = select(questions, labels)
    if settings.held_out:
        assert settings.seed is not None, "the configuration gives a seed to held out questions"
        seed = settings.seed
        questions = (question for question in questions if is_held_out(question.cluster or question.id, seed))
    if settings.examples is None:
        return questions, coverage
    if settings.selection == "random":
        assert settings.seed is not None, "the configuration gives a seed to a random selection"
        return first_by_digest(list(questions), settings.examples, settings.seed), coverage
    return islice(questions, settings.examples), coverage


def read_template(path: str | Path, with_context: bool = True) -> str:
    """The text of a prompt file, without its final line end.

    Raises `UserError` unless it is UTF-8 and contains {question}, and {context} if there are items to show, twice to
    repeat them.
    """
    template = read_text(path).removesuffix("\n")
    if "{question}" not in template:
        raise UserError(f"{path}: the prompt must contain {{question}}")
    if ("{context}" in template) != with_context:
        wanted = "where the items go" if with_context else "nowhere, because there are no items to show"
        raise UserError(f"{path}: the prompt must contain {{context}} {wanted}")
    return template


def render(template: str, context: str, question: str) -> tuple[str, int]:
    """Fill in {context} and {question}; returns the prompt and the offset of the first context in it.

    All fields are filled in one pass, so braces within questions and documents stay.
    """
    parts = [part.replace("{question}", question) for part in template.split("{context}")]
    return context.join(parts), len(parts[0]) if len(parts) > 1 else 0


def place(question: Question, size: int, placement: str, in_any_order: bool = False) -> list[Item]:
    """The items of a context of `size`, with each gold item at its position in `placement`.

    The distractors are the question's first ones, as many as the gold items leave room for, in the same order at every
    position: moving a gold item changes nothing else. Several gold items keep their order, so that positions ascend,
    unless they may be in any order.
    `as_retrieved` and `gold_absent` show the first `size` distractors in order, `no_gold` shows nothing.
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
    if len(set(positions)) < len(positions) or (list(positions) != sorted(positions) and not in_any_order):
        raise UserError(f"{placement}: the positions must ascend, because the gold items keep their order")
    items = list(question.distractors[:needed])
    # In ascending order, so that later insertions do not move earlier ones.
    for position, gold in sorted(zip(positions, question.golds, strict=bool(positions)), key=lambda pair: pair[0]):
        assert gold.item is not None, "a placement of a gold item needs one"
        items.insert(position, gold.item)
    return items


def reordered(question: Question, number: int, order: str, seed: int | None, curve: Curve = FLAT) -> Question:
    """The question with its first distractors, or retrieved documents, in an order of `ORDERS`, random by seed and
    question. curve: of the measured order.

    They are cut before that: every order shows the same items (paper, Appendix C), and a random one is the same at
    every position.
    """
    rng = random.Random(f"{seed}/distractor_order/{question.id}")
    return replace(question, distractors=tuple(in_order(order, question.distractors[:number], rng, curve)))


def examples_of(
    task: Task,
    questions: Iterable[Question],
    items: int,
    placement: str,
    template: str,
    settings: ExampleSettings,
    curve: Curve = FLAT,
) -> Iterator[Example]:
    """The examples of questions in contexts of `items` items, in order.

    template: the text of the prompt file. curve: of the measured order.
    """
    authors = random.Random(AUTHORS_SEED)
    for question in questions:
        distractors = max(0, items - sum(gold.item is not None for gold in question.golds))
        if settings.distractor_order == RANDOM:
            question = reordered(question, distractors, RANDOM, settings.seed)
        if settings.distractor_order == AUTHORS:
            shuffled = list(question.distractors[:distractors])
            authors.shuffle(shuffled)
            question = replace(question, distractors=tuple(shuffled))
        if settings.design == ASK_ANOTHER_KEY:
            assert task.ask_another_key is not None, "the configuration checks that the task has it"
            question = task.ask_another_key(question, items, positions_for(placement, items))
        # A cut may have left fewer documents, but the cell is named by the requested number, also without gold items.
        are_fewer = settings.cut is not None or settings.without_answer
        shown = min(items, len(question.distractors)) if are_fewer else items
        shown -= task.golds if placement == ABSENT and not settings.without_answer else 0
        if settings.order != RANKED:
            question = reordered(question, shown, settings.order, settings.seed, curve)
        example = make_example(question, shown, placement, template, task)
        yield example if settings.cut is None and placement != ABSENT else replace(example, size=items, items=shown)


def make_example(question: Question, size: int, placement: str, template: str, task: Task) -> Example:
    """The example of a question with its gold items placed in a context of `size` items."""
    placed = positions_for(placement, size)
    items = place(question, size, placed, task.in_any_order)
    formatted = task.written(items)
    context = task.separator.join(formatted)
    prompt, context_start = render(template, context, question.text)
    positions = gold_positions(placed) or (None,) * len(question.golds)
    return Example(
        id=question.id,
        size=size,
        placement=placement,
        question=question.text,
        cluster=question.cluster,
        answer_in_distractors=answer_in_distractors(question, items, gold_positions(placed)),
        prompt=prompt,
        messages=None if task.as_messages is None else task.as_messages(items, question.text),
        targets=tuple(
            Target(
                name=gold.name,
                position=position,
                depth=None if position is None else depth_of(position, size),
                span=None if position is None else item_span(formatted, position, task.separator, context_start),
                answers=tuple(gold.answers),
            )
            for gold, position in zip(question.golds, positions, strict=True)
            if gold.answers
        ),
    )


def of_size_in_tokens(example: Example, tokens: int) -> Example:
    """The example with its size in tokens, which names the cell, as well as its number of items."""
    return replace(example, size=tokens, items=example.size)


def answer_in_distractors(question: Question, items: Sequence[Item], positions: Sequence[int]) -> bool:
    """Whether an item other than the gold ones contains an answer by `best_subspan_em`, or a gold item occurs twice;
    False without a gold item. positions: of the gold items.
    """
    golds = {gold.item for gold in question.golds if gold.item is not None}
    if not golds:
        return False
    answers = [answer for gold in question.golds for answer in gold.answers]
    others = [item for index, item in enumerate(items) if index not in positions]
    return any(item in golds or contains_normalized(" ".join(item), answers) for item in others)


def item_span(formatted: Sequence[str], position: int, separator: str, context_start: int) -> tuple[int, int]:
    """Offsets in the prompt of the item at `position`: its first character, and the one after its last."""
    start = context_start + sum(len(item) + len(separator) for item in formatted[:position])
    return start, start + len(formatted[position])
