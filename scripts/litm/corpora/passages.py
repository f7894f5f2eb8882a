"""Passages, and the cutting of texts into passages."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text with the title of its page; `id` is unique in its corpus.

    file, page: its origin, if the id does not tell: the `source` of a chunk, a page from 1; further_pages: of a chunk
    that spans several, those after `page`.
    """

    id: str
    title: str
    text: str
    file: str | None = None
    page: int | None = None
    further_pages: tuple[int, ...] = ()

    @property
    def pages(self) -> tuple[int, ...]:
        """All its pages, ascending; none if they are not known."""
        return () if self.page is None else (self.page, *self.further_pages)

    @property
    def files(self) -> list[str]:
        """Names of its file or document, shortest first: for the id `notes/a.txt:4:0` they are `notes/a.txt`,
        `notes/a.txt:4` and the id itself.
        """
        if self.file is not None:
            return [self.file, self.id]
        parts = self.id.split(":")
        return [":".join(parts[:count]) for count in range(1, len(parts) + 1)]


def cut_text(text: str, words: int | None) -> list[str]:
    """The text in disjoint blocks of `words` words, with single spaces; one block if None, no block if it is blank.

    The last block is shorter. (DPR fills it up with the beginning of the article.)
    """
    return list(cut_lines([text], words))


def cut_lines(lines: Iterable[str], words: int | None) -> Iterator[str]:
    """`cut_text` for a text that is read line by line, holding at most one line and one block in memory."""
    rest: list[str] = []
    for line in lines:
        rest += line.split()
        if words is not None and len(rest) >= words:
            whole = len(rest) - len(rest) % words
            for start in range(0, whole, words):
                yield " ".join(rest[start : start + words])
            rest = rest[whole:]
    if rest:
        yield " ".join(rest)


class CountedPassages:
    """Counts passages and their words during iteration. seen: called after each passage."""

    def __init__(self, passages: Iterable[Passage], seen: Callable[[], object]) -> None:
        self.words = 0
        self._passages, self._seen = passages, seen

    def __iter__(self) -> Iterator[Passage]:
        for passage in self._passages:
            # Splitting would take longer than all other work on a passage.
            self.words += passage.text.count(" ") + 1
            self._seen()
            yield passage
