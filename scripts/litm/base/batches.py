"""Batches of items."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of `size` items in their order, the last one shorter."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
