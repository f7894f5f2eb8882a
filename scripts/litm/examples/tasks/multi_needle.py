"""The task multi_needle: three sentences with a code each, asked for together and scored separately."""

from collections.abc import Iterator
from functools import partial
from random import Random

from litm.base.messages import UserError
from litm.examples.task import PLAIN, SUITE, ExampleSettings, TaskDefaults, Wording, fill, seeded_questions
from litm.examples.tasks import needle_in_haystack
from litm.examples.wording import filler_sentences, random_codes
from litm.records import Gold, Question

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


#: Nothing but their order in the text tells the needles of the suite apart.
WORDINGS = {
    PLAIN: Wording(
        ("The {ordinal} secret code is {code}.",),
        "What are the first, the second and the third secret code? Answer with only the three codes, in this order.",
    ),
    SUITE: Wording(
        ("The secret code is {code}.",), "Read the text and list ALL three secret codes in order.", code="SECRET-####"
    ),
}


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """Generated questions; an item is a sentence. Raises `UserError` for a context too short for three needles."""
    if size < len(NEEDLES):
        raise UserError(f"multi_needle: a context of {size} has no room for {len(NEEDLES)} needles")
    generate = partial(generate_question, wording=WORDINGS[settings.wording])
    return seeded_questions("multi_needle", size, settings, dataset, generate)


def generate_question(id_: str, size: int, rng: Random, wording: Wording) -> Question:
    """Three sentences with different codes, and `size` - 3 others."""
    codes = random_codes(rng, len(NEEDLES), wording.code)
    fillers = filler_sentences(rng, size - len(NEEDLES))
    return Question(
        id_,
        wording.question,
        tuple(
            Gold(name, fill(wording.item, ordinal=ordinal, code=code), (code,))
            for (name, ordinal), code in zip(NEEDLES.items(), codes, strict=True)
        ),
        tuple(fill(wording.other, text=sentence) for sentence in fillers),
    )
