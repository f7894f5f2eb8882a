"""The task kv_retrieval (paper, section 3): find the value of one key in a JSON object of random UUIDs."""

import random
import uuid
from collections.abc import Iterator, Sequence

from litm.examples.examples import place
from litm.examples.task import ExampleSettings, TaskDefaults
from litm.examples.wording import other_pairs
from litm.placements import gold_placement, gold_positions
from litm.questions.released_format import read_kv_questions
from litm.records import Gold, Item, Question

DEFAULTS = TaskDefaults(
    prompt="kv_retrieval",
    metric="value_in_answer",
    stop="end_token",
    max_new_tokens=100,
    needs_dataset=False,
    item="key-value pair",
)
SEPARATOR = ",\n"
other_items = other_pairs


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """The questions of a released file if given, else generated ones.

    Each generated question has its own seed, so raising the number of examples keeps earlier ones.
    """
    if dataset is not None:
        yield from read_kv_questions(dataset, settings.limit)
        return
    assert settings.examples is not None, "the configuration asks for a number of examples where there is no dataset"
    for index in range(settings.examples):
        yield generate_question(size, random.Random(f"{settings.seed}/kv_retrieval/{size}/{index}"))


def generate_question(size: int, rng: random.Random) -> Question:
    """A question with a gold pair and `size` - 1 other pairs; all keys and values are distinct UUIDs."""
    ids = [random_uuid(rng) for _ in range(2 * size)]
    assert len(set(ids)) == len(ids)
    (key, value), *distractors = zip(ids[::2], ids[1::2], strict=True)
    return Question(key, key, (Gold("gold", (key, value), (value,)),), tuple(distractors))


def ask_another_key(question: Question, size: int, placement: str) -> Question:
    """The question for the pair at `placement` in the context whose first pair is the gold one, under the same id.

    Its context is the same at every placement, so that only the key asked for differs; at position 0 it is the question
    itself. Raises `UserError` if there are fewer than `size` pairs.
    """
    (position,) = gold_positions(placement)
    pairs = place(question, size, gold_placement([0]))
    key, value = pairs.pop(position)
    return Question(question.id, key, (Gold("gold", (key, value), (value,)),), tuple(pairs))


def random_uuid(rng: random.Random) -> str:
    """A version-4 UUID from the generator's bits, determined by the seed."""
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def format_items(items: Sequence[Item]) -> list[str]:
    """The pairs as the lines of one JSON object (paper, Figure 7)."""
    last = len(items) - 1
    return [
        f'{"{" if index == 0 else " "}"{key}": "{value}"{"}" if index == last else ""}'
        for index, (key, value) in enumerate(items)
    ]
