"""The task needle_in_haystack: one sentence with a code among dull sentences on other subjects."""

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

from litm.examples.task import PLAIN, SUITE, ExampleSettings, TaskDefaults, Wording, fill, seeded_questions
from litm.examples.wording import filler_sentences, random_codes
from litm.records import Gold, Item, Question

DEFAULTS = TaskDefaults(
    prompt="needle_in_haystack",
    metric="exact_code",
    stop="end_token",
    max_new_tokens=30,
    needs_dataset=False,
    item="sentence",
)
SEPARATOR = " "
_QUESTION = "What is the secret code? Answer with only the code."
WORDINGS = {
    PLAIN: Wording(("The secret code is {code}.",), _QUESTION),
    SUITE: Wording(("The secret code is {code}. [{{number}}].",), _QUESTION, ("{text} [{{number}}].",), "SECRET-####"),
}


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """Generated questions; an item is a sentence."""
    generate = partial(generate_question, wording=WORDINGS[settings.wording])
    return seeded_questions("needle_in_haystack", size, settings, dataset, generate)


def generate_question(id_: str, size: int, rng: Random, wording: Wording = WORDINGS[PLAIN]) -> Question:
    """One sentence with a code, and `size` - 1 others."""
    (code,) = random_codes(rng, 1, wording.code)
    fillers = filler_sentences(rng, size - 1)
    return Question(
        id_,
        wording.question,
        (Gold("gold", fill(wording.item, code=code), (code,)),),
        tuple(fill(wording.other, text=sentence) for sentence in fillers),
    )


def format_items(items: Sequence[Item]) -> list[str]:
    """The sentences, one paragraph of prose; those of the suite with their numbers from 1."""
    return [sentence.replace("{number}", str(number)) for number, (sentence,) in enumerate(items, start=1)]
