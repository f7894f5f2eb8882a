"""Orders in which retrieved documents are shown: one function each, from documents best first to the order shown.

Adding an order is adding a function here. Each is a permutation, and depends on nothing but the number of documents
and, where it is random, on the generator.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from litm.domain.condition import RANKED

T = TypeVar("T")


@dataclass(frozen=True)
class Order:
    """An order: its function, and what it is in words."""

    function: Callable[[Sequence, Random], list]
    words: str


_ORDERS: dict[str, Order] = {}


def _order(words: str) -> Callable[[Callable], Callable]:
    """Add a function to the orders, under its name."""

    def add(function: Callable) -> Callable:
        _ORDERS[function.__name__.rstrip("_")] = Order(function, words)
        return function

    return add


@_order("best first")
def ranked(best_first: Sequence[T], rng: Random) -> list[T]:
    """As they were retrieved: 1 2 3 4 5 6."""
    return list(best_first)


@_order("best last")
def reversed_(best_first: Sequence[T], rng: Random) -> list[T]:
    """The best document last, next to the question: 6 5 4 3 2 1."""
    return list(best_first[::-1])


@_order("best at both ends, the best first")
def ends(best_first: Sequence[T], rng: Random) -> list[T]:
    """The best first, the second last, and so on inwards: 1 3 5 6 4 2. That of Haystack's `LostInTheMiddleRanker`."""
    return [*best_first[::2], *best_first[1::2][::-1]]


@_order("best at both ends, as LangChain")
def ends_langchain(best_first: Sequence[T], rng: Random) -> list[T]:
    """That of LangChain's `LongContextReorder`: of an even number the best is last, 2 4 6 5 3 1, and of an odd number
    first, 1 3 5 4 2, as in `ends`.
    """
    shown = ends(best_first, rng)
    return shown if len(shown) % 2 else shown[::-1]


@_order("random order")
def random(best_first: Sequence[T], rng: Random) -> list[T]:
    """Shuffled, for each question in its own way."""
    return rng.sample(best_first, len(best_first))


#: The orders by name. A random one is called so.
ORDERS: Mapping[str, Order] = _ORDERS
RANDOM = "random"


def in_order(name: str, best_first: Sequence[T], rng: Random) -> list[T]:
    """The documents, best first, in the order of this name."""
    return ORDERS[name].function(best_first, rng)


def distinct_orders(names: Sequence[str], size: int) -> list[str]:
    """Those of the orders that show `size` documents otherwise than `RANKED` and than those before them.

    One document has no order, and with two, or an odd number, some orders are the same.
    """
    seen = [in_order(RANKED, range(size), Random(0))]
    distinct = []
    for name in names:
        shown = in_order(name, range(size), Random(0))
        if size > 1 and (name == RANDOM or shown not in seen):
            distinct.append(name)
            seen.append(shown)
    return distinct
