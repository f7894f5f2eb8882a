"""The task fact_reasoning: one sentence gives a price, the question asks for the cost of a quantity."""

from collections.abc import Iterator
from random import Random

from litm.domain.question import Gold, Question
from litm.examples.seeding import seeded_questions
from litm.examples.task import ExampleSettings, TaskDefaults
from litm.examples.tasks import needle_in_haystack
from litm.examples.text.fillers import filler_sentences
from litm.examples.text.names import coined_names

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
_SORTS = ("amber", "balm", "cinnabar", "incense", "indigo", "pepper", "resin", "saffron", "silk", "tea")


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """Generated questions; an item is a sentence."""
    return seeded_questions("fact_reasoning", size, settings, dataset, generate_question)


def generate_question(id_: str, size: int, rng: Random) -> Question:
    """A sentence with a price, and `size` - 1 others without prices or numbers."""
    (name,) = coined_names(rng, 1)
    product = f"{name} {rng.choice(_SORTS)}"
    price = rng.randint(*PRICES)
    fillers = filler_sentences(rng, size - 1)
    return Question(
        id_,
        f"I buy {QUANTITY} kg of {product}. What is the total cost in dollars? Answer with only the number.",
        (Gold("gold", (f"{product} costs ${price} per kg.",), (str(QUANTITY * price),)),),
        tuple((sentence,) for sentence in fillers),
    )
