"""Examples from questions: their prompts, and the places of the gold items."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from litm.answers import contains_normalized
from litm.examples.placing import order_documents, place, shuffle_distractors
from litm.examples.prompt_file import render
from litm.examples.task import ASK_ANOTHER_KEY, ExampleSettings, Task
from litm.placements import depth_of, gold_positions, positions_for
from litm.records import RANKED, Example, Item, Question, Target


def examples_of(
    task: Task, questions: Iterable[Question], items: int, placement: str, template: str, settings: ExampleSettings
) -> Iterator[Example]:
    """The examples of questions in contexts of `items` items, in order. template: the text of the prompt file."""
    for question in questions:
        if settings.distractor_order == "random":
            question = shuffle_distractors(question, items, settings.seed)
        if settings.design == ASK_ANOTHER_KEY:
            # Not every task has this attribute.
            question = getattr(task, ASK_ANOTHER_KEY)(question, items, positions_for(placement, items))
        # A cut may have left fewer documents, but the cell is named by the requested number.
        shown = items if settings.cut is None else min(items, len(question.distractors))
        if settings.order != RANKED:
            question = order_documents(question, shown, settings)
        example = make_example(question, shown, placement, template, task)
        yield example if settings.cut is None else replace(example, size=items, items=shown)


def make_example(question: Question, size: int, placement: str, template: str, task: Task) -> Example:
    """The example of a question with its gold items placed in a context of `size` items."""
    placed = positions_for(placement, size)
    items = place(question, size, placed)
    formatted = task.format_items(items)
    context = task.SEPARATOR.join(formatted)
    prompt, context_start = render(template, context, question.text)
    positions = gold_positions(placed) or (None,) * len(question.golds)
    as_messages = getattr(task, "as_messages", None)
    return Example(
        id=question.id,
        size=size,
        placement=placement,
        question=question.text,
        cluster=question.cluster,
        answer_in_distractors=answer_in_distractors(question, items, gold_positions(placed)),
        prompt=prompt,
        messages=None if as_messages is None else as_messages(items, question.text),
        targets=tuple(
            Target(
                name=gold.name,
                position=position,
                depth=None if position is None else depth_of(position, size),
                span=None if position is None else item_span(formatted, position, task.SEPARATOR, context_start),
                answers=tuple(gold.answers),
            )
            for gold, position in zip(question.golds, positions, strict=True)
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
