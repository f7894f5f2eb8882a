"""The task conversation_memory: a fact in one exchange of a long conversation, asked for at its end.

An item is an exchange, a user's message and the assistant's reply, so that roles alternate at every position of the
gold item, as chat formats require.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

from litm.examples.task import PLAIN, SUITE, ExampleSettings, TaskDefaults, Wording, fill, seeded_questions
from litm.examples.wording import exchanges, random_codes
from litm.records import Gold, Item, Question

DEFAULTS = TaskDefaults(
    prompt="conversation_memory",
    metric="exact_code",
    stop="end_token",
    max_new_tokens=30,
    needs_dataset=False,
    item="exchange",
)
SEPARATOR = "\n"
WORDINGS = {
    PLAIN: Wording(
        (
            "Please remember this for later: my favourite colour is the paint shade {code}.",
            "I will remember which shade is your favourite.",
        ),
        "What is my favourite colour? Answer with only the code of the shade.",
    ),
    SUITE: Wording(
        (
            "Please always remember that my favorite color is {code}. This is very important.",
            "I will remember that.",
        ),
        "Based on our conversation, what is my favorite color?",
        code="MYFAVCOLOR-###",
    ),
}


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """Generated questions; an item is an exchange."""
    generate = partial(generate_question, wording=WORDINGS[settings.wording])
    return seeded_questions("conversation_memory", size, settings, dataset, generate)


def generate_question(id_: str, size: int, rng: Random, wording: Wording) -> Question:
    """An exchange with a favourite colour, and `size` - 1 others. The assistant's reply does not repeat the code."""
    (code,) = random_codes(rng, 1, wording.code)
    others = exchanges(rng, size - 1)
    return Question(id_, wording.question, (Gold("gold", fill(wording.item, code=code), (code,)),), tuple(others))


def format_items(items: Sequence[Item]) -> list[str]:
    """The exchanges as a transcript, two lines each."""
    return [f"User: {user}\nAssistant: {assistant}" for user, assistant in items]


def as_messages(items: Sequence[Item], question: str) -> list[dict]:
    """The conversation as chat messages {role, content}, the question as the last one."""
    turns = [(role, content) for item in items for role, content in zip(("user", "assistant"), item, strict=True)]
    return [{"role": role, "content": content} for role, content in [*turns, ("user", question)]]
