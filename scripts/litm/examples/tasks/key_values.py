"""The task kv_retrieval (paper, section 3): the value of one key in a JSON object of random UUIDs."""

import re
import uuid
from collections.abc import Sequence
from random import Random

from litm.examples.examples import place
from litm.examples.task import Task, any_of, one_gold
from litm.placements import gold_placement, gold_positions
from litm.questions.released_format import read_kv_questions
from litm.records.examples import OtherItem, Target
from litm.records.questions import Item, Question

#: A pair on a line of its own, as `format_pairs` writes it.
_PAIR = re.compile(r'^[{ ]"([^"\n]+)": "([^"\n]+)"[,}]*$', re.MULTILINE)


def _generate(id_: str, size: int, rng: Random, wording: str) -> Question:
    """A question with a gold pair and `size` - 1 other pairs; all keys and values are distinct UUIDs.

    Its id is its key, as in the released files.
    """
    ids = [random_uuid(rng) for _ in range(2 * size)]
    assert len(set(ids)) == len(ids)
    (key, value), *distractors = zip(ids[::2], ids[1::2], strict=True)
    return one_gold(key, key, (key, value), value, distractors)


def random_uuid(rng: Random) -> str:
    """A version-4 UUID from the generator's bits, determined by the seed."""
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def ask_another_key(question: Question, size: int, placement: str) -> Question:
    """The question for the pair at `placement` in the context whose first pair is the gold one, under the same id.

    Its context is the same at every placement, so that only the key asked for differs; at position 0 it is the question
    itself. Raises `UserError` if there are fewer than `size` pairs.
    """
    (position,) = gold_positions(placement)
    pairs = place(question, size, gold_placement([0]))
    key, value = pairs.pop(position)
    return one_gold(question.id, key, (key, value), value, pairs)


def format_pairs(items: Sequence[Item]) -> list[str]:
    """The pairs as the lines of one JSON object (paper, Figure 7)."""
    last = len(items) - 1
    return [
        f'{"{" if index == 0 else " "}"{key}": "{value}"{"}" if index == last else ""}'
        for index, (key, value) in enumerate(items)
    ]


def other_pairs(prompt: str, target: Target) -> list[OtherItem]:
    """The pairs of a JSON object but the target's, each with its value."""
    pairs = enumerate(_PAIR.finditer(prompt))
    return [OtherItem(position, pair[0], pair[2]) for position, pair in pairs if position != target.position]


kv_retrieval = Task(
    name="kv_retrieval",
    source="paper, section 3",
    asks="find the value of one key in a JSON object of random UUIDs.",
    prompt="kv_retrieval",
    metric="value_in_answer",
    max_new_tokens=100,
    item="key-value pair",
    tokens_per_item=75,
    read=lambda dataset, size, settings: read_kv_questions(dataset, settings.limit),
    generate=_generate,
    format_items=format_pairs,
    separator=",\n",
    other_items=other_pairs,
    chance=any_of(other_pairs),
    ask_another_key=ask_another_key,
)
