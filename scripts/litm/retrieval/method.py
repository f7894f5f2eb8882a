"""What a retrieval method is: which passages of a corpus match a question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

#: The methods there are.
METHODS = ("bm25", "dense", "recorded")

#: The kind of index that compares every vector.
EXACT = "exact"

#: To be raised with any change of what is found, because the store keeps what was found before.
RECIPE = 1

#: A passage that was found, its id in the corpus or its row (from 0) where only that is known, and its score. A plain
#: tuple, because the garbage collector made a class of it cost a fifth of BM25's time.
Hit = tuple[str | int, float]


@dataclass(frozen=True)
class SearchTask:
    """Where to search and how: manifests of indexes and vectors, settings that change what is found, and the
    machine's.
    """

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
    """The hits of each question, best first; questions that were cut to the encoder's length; of an approximate
    index the share of exact search's hits that it finds, and on how many questions that was measured.
    """

    hits: list[list[Hit]]
    cut: int = 0
    recall_against_exact: float | None = None
    measured_on: int = 0


class Method(Protocol):
    """What a module of a method offers."""

    def find(self, task: SearchTask, questions: Sequence[str]) -> Found: ...
