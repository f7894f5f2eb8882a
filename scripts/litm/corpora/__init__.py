"""Sources of passages, one module each: where the text of a corpus comes from.

A source is a module of this package with `passages(source, settings)`, which yields (where, Passage), one at a time so
that a corpus of any size takes the same memory; `where` says in which file and line a passage is, for messages. A
source that makes up its text also has `questions(settings)`, which yields question records in the released format.

Adding a source is adding a module: it is found by its name, nothing else changes.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from litm.passages import Passage
from litm.questions.released_format import QuestionRecord

#: Sources that make up their text, and questions about it; they read no file.
GENERATORS = ("mini_encyclopedia",)
#: Longest passage in words of the sources that cut texts, unless the corpus says otherwise.
PASSAGE_WORDS = {"documents": 100, "wikipedia_dump": 100}


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
    """What a module of this package offers."""

    def passages(self, source: Path | None, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]: ...


class Generator(Source, Protocol):
    """A source that also has questions, each with its gold passage, in the released format."""

    def questions(self, settings: CorpusSettings) -> Iterator[QuestionRecord]: ...


def source_names() -> list[str]:
    """Names of all sources, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load_source(name: str) -> Source:
    """The source's module, by its name."""
    return cast(Source, importlib.import_module(f"{__name__}.{name}"))


def load_generator(name: str) -> Generator:
    """The module of one of the `GENERATORS`, by its name."""
    return cast(Generator, load_source(name))
