"""The task numbered_words: which word has this number in a list?"""

from collections.abc import Sequence
from random import Random

from my_task.words import WORDS

from litm.examples.task import Task, one_gold
from litm.records.questions import Item, Question


def generate(id_: str, size: int, rng: Random, wording: str) -> Question:
    """A question with `size` numbered words, the one that is asked for first; no number or word is there twice."""
    numbers = map(str, rng.sample(range(100, 1000), size))
    gold, *others = zip(numbers, rng.sample(WORDS, size), strict=True)
    number, word = gold
    return one_gold(id_, number, gold, word, others)


def format_items(items: Sequence[Item]) -> list[str]:
    """A line for each word."""
    return [f"{number}: {word}" for number, word in items]


numbered_words = Task(
    name="numbered_words",
    asks="find the word that has a number in a list.",
    prompt="numbered_words",
    metric="first_word",
    max_new_tokens=20,
    item="word",
    tokens_per_item=8,
    generate=generate,
    format_items=format_items,
)
