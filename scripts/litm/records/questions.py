"""Questions with their gold items and distractors, before any placement."""

from dataclasses import dataclass

#: One element of a context: (title, text) of a document, (key, value) of a pair.
Item = tuple[str, ...]


@dataclass(frozen=True)
class Gold:
    """An item with an answer, and the accepted answers."""

    name: str
    """Name of the target that it answers."""
    item: Item | None
    """The item, None if none is known to have the answer."""
    answers: tuple[str, ...]
    """The accepted answers; none if the question does not ask for it, though its item is placed."""


@dataclass(frozen=True)
class Question:
    """One question with its gold item(s) and its distractors in order, before any placement."""

    id: str
    """Name of the question in all files."""
    text: str
    """What is asked."""
    golds: tuple[Gold, ...]
    """The gold items."""
    distractors: tuple[Item, ...]
    """Items without the answer, in order."""
    cluster: str | None = None
    """Its group of dependent questions, such as an article; None if unknown."""

    @property
    def repeats_gold(self) -> bool:
        """Whether a gold item is also a distractor, so that a copy stays in place when it moves."""
        return any(gold.item in self.distractors for gold in self.golds if gold.item is not None)
