"""Interface of sources of passages."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from litm.base.messages import UserError
from litm.corpora.passages import Passage
from litm.questions.released_format import QuestionRecord


@dataclass(frozen=True)
class CorpusSettings:
    """The settings that change the passages of a corpus, apart from its files.

    passage_words: words of the longest passage, None to keep texts whole.
    passages: number that a generator makes; seed: of its randomness.
    """

    passage_words: int | None = None
    passages: int | None = None
    seed: int | None = None

    @property
    def seed_and_passages(self) -> tuple[int, int]:
        """The seed and the number of passages of a generator."""
        assert self.seed is not None and self.passages is not None, "the configuration asks for both"
        return self.seed, self.passages


class Source(Protocol):
    """Interface of a module of `litm.corpora.sources`."""

    def passages(self, source: Path | None, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]: ...


class Generator(Source, Protocol):
    """A source that also makes questions, each with its gold passage, in the released format."""

    def questions(self, settings: CorpusSettings) -> Iterator[QuestionRecord]: ...


def needed(source: Path | None, what: str) -> Path:
    """The source's path; `UserError` on what it must be if it is missing."""
    if source is None:
        raise UserError(f"this source of passages needs an input: {what}")
    return source
