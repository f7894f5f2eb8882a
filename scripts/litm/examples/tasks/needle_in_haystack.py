"""The task needle_in_haystack: one sentence with a code among dull sentences on other subjects."""

from collections.abc import Iterator, Sequence
from random import Random

from litm.domain.question import Gold, Item, Question
from litm.examples.seeding import seeded_questions
from litm.examples.task import ExampleSettings, TaskDefaults
from litm.examples.text.codes import random_codes
from litm.examples.text.fillers import filler_sentences

DEFAULTS = TaskDefaults(
    prompt="needle_in_haystack",
    metric="exact_code",
    stop="end_token",
    max_new_tokens=30,
    needs_dataset=False,
    item="sentence",
)
SEPARATOR = " "


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """Generated questions; an item is a sentence."""
    return seeded_questions("needle_in_haystack", size, settings, dataset, generate_question)


def generate_question(id_: str, size: int, rng: Random) -> Question:
    """One sentence with a code, and `size` - 1 others."""
    (code,) = random_codes(rng, 1)
    fillers = filler_sentences(rng, size - 1)
    return Question(
        id_,
        "What is the secret code? Answer with only the code.",
        (Gold("gold", needle(code), (code,)),),
        tuple((sentence,) for sentence in fillers),
    )


def needle(code: str) -> Item:
    """The sentence with the code."""
    return (f"The secret code is {code}.",)


def format_items(items: Sequence[Item]) -> list[str]:
    """The sentences unchanged: one paragraph of prose."""
    return [sentence for (sentence,) in items]
