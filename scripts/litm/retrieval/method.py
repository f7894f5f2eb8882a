"""Interface of retrieval methods: from questions to hits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Protocol

#: Names of the methods.
METHODS = ("bm25", "dense", "recorded")

#: The kind of index that compares every vector.
EXACT = "exact"

#: Version: raise it if the hits change, because the store keeps existing hits.
RECIPE = 2

#: Digits of a score, and most decimals. A float32 has 7; a sum of d products in another order, as on another processor,
#: differs by about d ** 0.5 units of the last one, and the layers of a network add to that.
DIGITS = 5

#: A retrieved passage, as its id in the corpus or its row (from 0), and its score. A plain tuple, because objects of a
#: class cost a fifth of BM25's time in garbage collection.
Hit = tuple[str | int, float]


def rounded(score: float) -> float:
    """A model's score with the digits that are the same on any processor, see `DIGITS`."""
    before_the_point = len(str(int(abs(score)))) if isfinite(score) and abs(score) >= 1 else 0
    return round(score, DIGITS - before_the_point)


@dataclass(frozen=True)
class SearchTask:
    """A search: manifests of indexes and vectors, settings that change the hits, and settings of the machine."""

    indexes: Sequence[str]
    vectors: Sequence[str]
    encoder: str
    search: Mapping
    encoding: Mapping
    approximate: Mapping
    device: str
    batch_tokens: int
    threads: int
    memory_mb: int


@dataclass(frozen=True)
class Found:
    """The hits of each question, best first; the number of questions cut to the encoder's length; for an approximate
    index its recall of exact hits, and the number of questions on which that was measured.
    """

    hits: list[list[Hit]]
    cut: int = 0
    recall_against_exact: float | None = None
    measured_on: int = 0


class Method(Protocol):
    """Interface of a method's module."""

    def find(self, task: SearchTask, questions: Sequence[str]) -> Found: ...
