"""What a source of passages is."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from litm.base.errors import UserError
from litm.corpora.passages import Passage
from litm.questions.released_format import QuestionRecord


@dataclass(frozen=True)
class CorpusSettings:
    """What changes the passages of a corpus, beside the files they come from.

    passage_words: longest passage in words, None to keep texts as they are.
    passages: how many a generator makes; seed: of its randomness.
    """

    passage_words: int | None = None
    passages: int | None = None
    seed: int | None = None


class Source(Protocol):
    """What a module of `litm.corpora.sources` offers."""

    def passages(self, source: Path | None, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]: ...


class Generator(Source, Protocol):
    """A source that also has questions, each with its gold passage, in the released format."""

    def questions(self, settings: CorpusSettings) -> Iterator[QuestionRecord]: ...


def needed(source: Path | None, what: str) -> Path:
    """The source's path; `UserError` that says what it must be where there is none."""
    if source is None:
        raise UserError(f"this source of passages needs an input: {what}")
    return source
