"""Orders of retrieved documents in a context: functions from documents best first to documents as shown.

To add an order, add an entry. Each is a permutation that depends only on the number of documents, on the generator if
it is random, and on a model's curve if it is measured.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from litm.examples.measured_order import Curve, best_where_highest
from litm.records.conditions import MEASURED, RANKED, Condition


@dataclass(frozen=True)
class Order:
    """An order of items."""

    function: Callable[[Sequence, Random, Curve], Sequence]
    """The function from items, a random generator and a model's curve to the items in this order."""
    words: str
    """The description of the order."""


def _ends(best_first: Sequence) -> list:
    """The best first, the second last, and so on inwards: 1 3 5 6 4 2, as Haystack's `LostInTheMiddleRanker`."""
    return [*best_first[::2], *best_first[1::2][::-1]]


#: The order of documents that is another for each question.
RANDOM = "random"
#: The random order of distractors in the authors' scripts, which shuffle one question after the other from one seed.
AUTHORS, AUTHORS_SEED = "authors", 0
#: Orders by name.
ORDERS: Mapping[str, Order] = {
    RANKED: Order(lambda best, rng, curve: best, "best first"),
    "reversed": Order(lambda best, rng, curve: best[::-1], "best last"),
    "ends": Order(lambda best, rng, curve: _ends(best), "best at both ends, the best first"),
    # LangChain's `LongContextReorder`: for an even number the best last, 2 4 6 5 3 1; for an odd number as `ends`.
    "ends_langchain": Order(
        lambda best, rng, curve: _ends(best)[:: 1 if len(best) % 2 else -1], "best at both ends, as LangChain"
    ),
    RANDOM: Order(lambda best, rng, curve: rng.sample(best, len(best)), "random order"),
    MEASURED: Order(
        lambda best, rng, curve: best_where_highest(best, curve), "best where the measured curve is highest"
    ),
}
#: A curve without an effect of position.
FLAT: Curve = ((0.0, 0.0),)


def in_order(name: str, best_first: Sequence, rng: Random, curve: Curve = FLAT) -> list[Any]:
    """The documents, given best first, in the named order. curve: of the model, for `MEASURED`."""
    return list(ORDERS[name].function(best_first, rng, curve))


def distinct_orders(names: Sequence[str], size: int) -> list[str]:
    """The orders that differ, for `size` documents, from `RANKED` and from all orders before them.

    A single document has one order; with two, or an odd number, some orders coincide. A random or measured one is not
    known yet and counts as another.
    """
    shown = {name: tuple(in_order(name, range(size), Random(0))) for name in (RANKED, *names)}
    seen = {shown[RANKED]}
    distinct = []
    for name in names:
        if size > 1 and (name in (RANDOM, MEASURED) or shown[name] not in seen):
            distinct.append(name)
            seen.add(shown[name])
    return distinct


def remedies_in_words(condition: Condition, documents: int = 2) -> list[str]:
    """What is done with a number of documents: `["best last", "reranked by my_reranker"]`."""
    parts = [ORDERS[condition.order].words] if documents > 1 else []
    parts += [f"reranked by {condition.reranker}"] if condition.reranker else []
    parts += [condition.cut] if condition.cut else []
    return parts + ([f"prompt {condition.prompt}"] if condition.prompt else [])
