"""Orders of retrieved documents in a context: one function each, from documents best first to documents as shown.

To add an order, add a function. Each is a permutation that depends only on the number of documents and, if it is
random, on the generator.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from litm.records import RANKED

T = TypeVar("T")


@dataclass(frozen=True)
class Order:
    """An order: its function and its description."""

    function: Callable[[Sequence, Random], list]
    words: str


_ORDERS: dict[str, Order] = {}


def _order(words: str) -> Callable[[Callable], Callable]:
    """Register a function as an order, under its name."""

    def add(function: Callable) -> Callable:
        _ORDERS[function.__name__.rstrip("_")] = Order(function, words)
        return function

    return add


@_order("best first")
def ranked(best_first: Sequence[T], rng: Random) -> list[T]:
    """The order of retrieval: 1 2 3 4 5 6."""
    return list(best_first)


@_order("best last")
def reversed_(best_first: Sequence[T], rng: Random) -> list[T]:
    """The best document last, next to the question: 6 5 4 3 2 1."""
    return list(best_first[::-1])


@_order("best at both ends, the best first")
def ends(best_first: Sequence[T], rng: Random) -> list[T]:
    """The best first, the second last, and so on inwards: 1 3 5 6 4 2, as Haystack's `LostInTheMiddleRanker`."""
    return [*best_first[::2], *best_first[1::2][::-1]]


@_order("best at both ends, as LangChain")
def ends_langchain(best_first: Sequence[T], rng: Random) -> list[T]:
    """LangChain's `LongContextReorder`: for an even number the best last, 2 4 6 5 3 1; for an odd number the best
    first, 1 3 5 4 2, as `ends`.
    """
    shown = ends(best_first, rng)
    return shown if len(shown) % 2 else shown[::-1]


@_order("random order")
def random(best_first: Sequence[T], rng: Random) -> list[T]:
    """Shuffled, with an own order for each question."""
    return rng.sample(best_first, len(best_first))


#: Orders by name. The random one is named so.
ORDERS: Mapping[str, Order] = _ORDERS
RANDOM = "random"


def in_order(name: str, best_first: Sequence[T], rng: Random) -> list[T]:
    """The documents, given best first, in the named order."""
    return ORDERS[name].function(best_first, rng)


def distinct_orders(names: Sequence[str], size: int) -> list[str]:
    """The orders that differ, for `size` documents, from `RANKED` and from all orders before them.

    A single document has one order; with two, or an odd number, some orders coincide.
    """
    seen = [in_order(RANKED, range(size), Random(0))]
    distinct = []
    for name in names:
        shown = in_order(name, range(size), Random(0))
        if size > 1 and (name == RANDOM or shown not in seen):
            distinct.append(name)
            seen.append(shown)
    return distinct
