"""Questions with their gold items and distractors, before any placement."""

from dataclasses import dataclass

#: One element of a context: (title, text) of a document, (key, value) of a pair.
Item = tuple[str, ...]


@dataclass(frozen=True)
class Gold:
    """An item with an answer, and the accepted answers; no item if none is known to have the answer."""

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
    #: Its group of dependent questions, such as an article; None if unknown.
    cluster: str | None = None

    @property
    def repeats_gold(self) -> bool:
        """Whether a gold item is also a distractor, so that a copy stays in place when it moves."""
        return any(gold.item in self.distractors for gold in self.golds if gold.item is not None)
