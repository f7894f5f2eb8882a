"""The task multi_needle: three sentences with a code each, asked for together and scored separately."""

from collections.abc import Iterator
from random import Random

from litm.base.errors import UserError
from litm.domain.question import Gold, Question
from litm.examples.seeding import seeded_questions
from litm.examples.task import ExampleSettings, TaskDefaults
from litm.examples.tasks import needle_in_haystack
from litm.examples.text.codes import random_codes
from litm.examples.text.fillers import filler_sentences

SEPARATOR = needle_in_haystack.SEPARATOR
format_items = needle_in_haystack.format_items

#: Targets in the order of their positions, with the ordinals in their sentences.
NEEDLES = {"start": "first", "middle": "second", "end": "third"}
DEFAULTS = TaskDefaults(
    prompt="multi_needle",
    metric="exact_code",
    stop="end_token",
    item="sentence",
    max_new_tokens=80,
    needs_dataset=False,
    golds=len(NEEDLES),
)


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """Generated questions; an item is a sentence. Raises `UserError` for a context too short for three needles."""
    if size < len(NEEDLES):
        raise UserError(f"multi_needle: a context of {size} has no room for {len(NEEDLES)} needles")
    return seeded_questions("multi_needle", size, settings, dataset, generate_question)


def generate_question(id_: str, size: int, rng: Random) -> Question:
    """Three sentences with different codes, and `size` - 3 others."""
    codes = random_codes(rng, len(NEEDLES))
    fillers = filler_sentences(rng, size - len(NEEDLES))
    return Question(
        id_,
        "What are the first, the second and the third secret code? Answer with only the three codes, in this order.",
        tuple(
            Gold(name, (f"The {ordinal} secret code is {code}.",), (code,))
            for (name, ordinal), code in zip(NEEDLES.items(), codes, strict=True)
        ),
        tuple((sentence,) for sentence in fillers),
    )
