"""Tasks on needles: sentences or an exchange with what is asked for, among dull ones on other subjects."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from litm.base.messages import UserError
from litm.examples.task import Task, one_gold
from litm.examples.wording import coined_names, exchanges, filler_sentences, random_codes, wording_of
from litm.records.questions import Gold, Item, Question

#: Targets of multi_needle in the order of their positions, with the ordinals in their sentences.
NEEDLES = {"start": "first", "middle": "second", "end": "third"}
#: PRICES: dollars per kg, lowest and highest. QUANTITY: kg.
PRICES = (50, 500)
QUANTITY = 12


def format_sentences(items: Sequence[Item]) -> list[str]:
    """The sentences, one paragraph of prose; those of the suite with their numbers from 1."""
    return [sentence.replace("{number}", str(number)) for number, (sentence,) in enumerate(items, start=1)]


def generate_needle(id_: str, size: int, rng: Random, wording: str) -> Question:
    """One sentence with a code, and `size` - 1 others."""
    words = wording_of("needle_in_haystack", wording)
    (code,) = random_codes(rng, 1, words["code"])
    others = [(words.get("other", "{text}").format(text=text),) for text in filler_sentences(rng, size - 1)]
    return one_gold(id_, words["question"], (words["item"].format(code=code),), code, others)


needle_in_haystack = Task(
    name="needle_in_haystack",
    asks="one sentence with a code among dull sentences on other subjects.",
    prompt="needle_in_haystack",
    metric="exact_code",
    max_new_tokens=30,
    item="sentence",
    tokens_per_item=30,
    generate=generate_needle,
    has_suite_words=True,
    format_items=format_sentences,
    separator=" ",
)


def _generate_needles(id_: str, size: int, rng: Random, wording: str) -> Question:
    """Three sentences with different codes, and `size` - 3 others.

    Nothing but their order in the text tells the needles of the suite apart. Raises `UserError` for a context too short
    for them.
    """
    if size < len(NEEDLES):
        raise UserError(f"multi_needle: a context of {size} has no room for {len(NEEDLES)} needles")
    words = wording_of("multi_needle", wording)
    codes = random_codes(rng, len(NEEDLES), words["code"])
    golds = tuple(
        Gold(name, (words["item"].format(ordinal=ordinal, code=code),), (code,))
        for (name, ordinal), code in zip(NEEDLES.items(), codes, strict=True)
    )
    others = tuple((text,) for text in filler_sentences(rng, size - len(NEEDLES)))
    return Question(id_, words["question"], golds, others)


multi_needle = replace(
    needle_in_haystack,
    name="multi_needle",
    asks="three sentences with a code each, asked for together and scored separately.",
    prompt="multi_needle",
    max_new_tokens=80,
    golds=len(NEEDLES),
    generate=_generate_needles,
)


def _generate_price(id_: str, size: int, rng: Random, wording: str) -> Question:
    """A sentence with a price, and `size` - 1 others without prices or numbers."""
    words = wording_of("fact_reasoning", wording)
    (name,) = coined_names(rng, 1)
    product = f"{name} {rng.choice(words['sorts'].split())}"
    price = rng.randint(*PRICES)
    text = words["question"].format(quantity=QUANTITY, product=product)
    item, others = words["item"].format(product=product, price=price), filler_sentences(rng, size - 1)
    return one_gold(id_, text, (item,), str(QUANTITY * price), [(other,) for other in others])


fact_reasoning = replace(
    needle_in_haystack,
    name="fact_reasoning",
    asks="one sentence gives a price, the question asks for the cost of a quantity.",
    prompt="fact_reasoning",
    metric="exact_integer",
    stop="first_line",
    max_new_tokens=60,
    generate=_generate_price,
)


def _generate_conversation(id_: str, size: int, rng: Random, wording: str) -> Question:
    """An exchange with a favourite colour, and `size` - 1 others. The assistant's reply does not repeat the code.

    An item is a user's message and the assistant's reply, so that roles alternate at every position of the gold item,
    as chat formats require.
    """
    words = wording_of("conversation_memory", wording)
    (code,) = random_codes(rng, 1, words["code"])
    item = tuple(part.format(code=code) for part in words["item"])
    return one_gold(id_, words["question"], item, code, exchanges(rng, size - 1))


def _format_exchanges(items: Sequence[Item]) -> list[str]:
    """The exchanges as a transcript, two lines each."""
    return [f"User: {user}\nAssistant: {assistant}" for user, assistant in items]


def _as_messages(items: Sequence[Item], question: str) -> list[dict]:
    """The conversation as chat messages {role, content}, the question as the last one."""
    turns = [(role, content) for item in items for role, content in zip(("user", "assistant"), item, strict=True)]
    return [{"role": role, "content": content} for role, content in [*turns, ("user", question)]]


conversation_memory = Task(
    name="conversation_memory",
    asks="a fact in one exchange of a long conversation, asked for at its end.",
    prompt="conversation_memory",
    metric="exact_code",
    max_new_tokens=30,
    item="exchange",
    tokens_per_item=80,
    generate=_generate_conversation,
    has_suite_words=True,
    format_items=_format_exchanges,
    as_messages=_as_messages,
)
