"""The task fact_reasoning: one sentence gives a price, the question asks for the cost of a quantity."""

from collections.abc import Iterator
from functools import partial
from random import Random

from litm.examples.task import PLAIN, SUITE, ExampleSettings, TaskDefaults, Wording, fill, seeded_questions
from litm.examples.tasks import needle_in_haystack
from litm.examples.wording import coined_names, filler_sentences
from litm.records import Gold, Question

DEFAULTS = TaskDefaults(
    prompt="fact_reasoning",
    metric="exact_integer",
    stop="first_line",
    max_new_tokens=60,
    needs_dataset=False,
    item="sentence",
)
SEPARATOR = needle_in_haystack.SEPARATOR
format_items = needle_in_haystack.format_items

#: PRICES: dollars per kg, lowest and highest. QUANTITY: kg.
PRICES = (50, 500)
QUANTITY = 12
WORDINGS = {
    PLAIN: Wording(
        ("{product} costs ${price} per kg.",),
        "I buy {quantity} kg of {product}. What is the total cost in dollars? Answer with only the number.",
    ),
    SUITE: Wording(
        ("For this order, {product} cost ${price}/kg.",),
        "According to the document, I buy {quantity} kg of {product}. What is my total cost?",
    ),
}
#: What the products are, in the number that the words need.
_SORTS = {
    PLAIN: ("amber", "balm", "cinnabar", "incense", "indigo", "pepper", "resin", "saffron", "silk", "tea"),
    SUITE: ("apples", "beans", "berries", "cherries", "figs", "nuts", "olives", "pears", "plums", "roots"),
}


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """Generated questions; an item is a sentence."""
    generate = partial(generate_question, wording=settings.wording)
    return seeded_questions("fact_reasoning", size, settings, dataset, generate)


def generate_question(id_: str, size: int, rng: Random, wording: str) -> Question:
    """A sentence with a price, and `size` - 1 others without prices or numbers. wording: a key of `WORDINGS`."""
    words = WORDINGS[wording]
    (name,) = coined_names(rng, 1)
    product = f"{name} {rng.choice(_SORTS[wording])}"
    price = rng.randint(*PRICES)
    fillers = filler_sentences(rng, size - 1)
    return Question(
        id_,
        words.question.format(quantity=QUANTITY, product=product),
        (Gold("gold", fill(words.item, product=product, price=price), (str(QUANTITY * price),)),),
        tuple(fill(words.other, text=sentence) for sentence in fillers),
    )
