"""The task demonstrations: in-context learning of a label that one demonstration of the context shows.

Each demonstration is a request with the code of the desk that takes it, and the question is another request about the
subject of one of them, in other words. So the gold item does not have the question's text, as a document may have.
"""

from collections.abc import Iterator, Sequence
from random import Random

from litm.base.messages import UserError
from litm.examples.task import ExampleSettings, TaskDefaults, seeded_questions
from litm.examples.wording import MOST, REQUESTS, other_coded_lines, random_codes, subjects
from litm.records import Gold, Item, Question

# A model that lists the codes of all demonstrations has not found the subject's.
DEFAULTS = TaskDefaults(
    prompt="demonstrations",
    metric="only_code",
    stop="end_token",
    max_new_tokens=30,
    needs_dataset=False,
    item="demonstration",
)
SEPARATOR = "\n"
other_items = other_coded_lines


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """Generated questions; an item is a demonstration. Raises `UserError` for more of them than there are subjects."""
    if size > MOST:
        raise UserError(f"demonstrations: there are {MOST} subjects, so that a context cannot have {size} items")
    return seeded_questions("demonstrations", size, settings, dataset, generate_question)


def generate_question(id_: str, size: int, rng: Random) -> Question:
    """A request, a demonstration of its subject, and `size` - 1 demonstrations of others; all codes are distinct."""
    (asked, *others), (code, *codes) = subjects(rng, size), random_codes(rng, size)
    shown, asked_as = (wording.format(subject=asked) for wording in rng.sample(REQUESTS, 2))
    requests = [rng.choice(REQUESTS).format(subject=subject) for subject in others]
    return Question(id_, asked_as, (Gold("gold", (shown, code), (code,)),), tuple(zip(requests, codes, strict=True)))


def format_items(items: Sequence[Item]) -> list[str]:
    """One demonstration per line."""
    return [f"Request: {request} Desk: {code}" for request, code in items]
