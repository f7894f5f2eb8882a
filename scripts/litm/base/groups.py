"""Items in batches and in groups."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

# Imported where it is used, because the rules read JSON too.


T = TypeVar("T")
K = TypeVar("K")


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of `size` items in their order, the last one shorter."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by their keys, in the order in which they come; unlike for itertools.groupby, equal keys may be apart."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
