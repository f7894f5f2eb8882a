"""Making an example of a question: its prompt, and where in the prompt the gold items are."""

from collections.abc import Callable, Sequence

from litm.answers.squad import contains_normalized
from litm.domain.placement import depth_of, gold_positions, positions_for
from litm.domain.question import Item, Question
from litm.examples.placing import place
from litm.examples.prompt_file import render


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
