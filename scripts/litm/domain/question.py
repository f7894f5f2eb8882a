"""A question before any placement: what it asks, its gold items and its distractors.

An *item* is one element of a context, as a tuple of strings: (title, text) of a document, (key, value) of a pair.
"""

from dataclasses import dataclass

Item = tuple[str, ...]


@dataclass(frozen=True)
class Gold:
    """An item that has an answer, and the answers that count as right; no item where none is known to have it."""

    name: str
    item: Item | None
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """One question with its gold item(s) and its distractors in order, before any placement."""

    id: str
    text: str
    golds: tuple[Gold, ...]
    distractors: tuple[Item, ...]
    #: What it belongs to with other questions, such as an article; None where nothing says so.
    cluster: str | None = None

    @property
    def repeats_gold(self) -> bool:
        """Whether a gold item is among the distractors too, so that moving it leaves another one where it is."""
        return any(gold.item in self.distractors for gold in self.golds if gold.item is not None)
