"""The task semantic_distractors: the code of one made-up country among countries with similar names."""

from collections.abc import Iterator, Sequence
from random import Random

from litm.domain.question import Gold, Item, Question
from litm.examples.other_items import other_coded_lines
from litm.examples.seeding import seeded_questions
from litm.examples.task import ExampleSettings, TaskDefaults
from litm.examples.text.codes import random_codes
from litm.examples.text.names import similar_names

DEFAULTS = TaskDefaults(
    prompt="semantic_distractors",
    metric="exact_code",
    stop="end_token",
    max_new_tokens=30,
    needs_dataset=False,
    item="statement",
)
SEPARATOR = "\n"
other_items = other_coded_lines


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """Generated questions; an item is a country with its code."""
    return seeded_questions("semantic_distractors", size, settings, dataset, generate_question)


def generate_question(id_: str, size: int, rng: Random) -> Question:
    """A country asked for, and `size` - 1 others; all names and codes are distinct."""
    (country, code), *others = zip(similar_names(rng, size), random_codes(rng, size), strict=True)
    text = f"What is the national archive code of {country}? Answer with only the code."
    return Question(id_, text, (Gold("gold", (country, code), (code,)),), tuple(others))


def format_items(items: Sequence[Item]) -> list[str]:
    """One statement per line, all of the same form."""
    return [f"The national archive code of {country} is {code}." for country, code in items]
