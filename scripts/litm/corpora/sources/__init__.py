"""Sources of passages, one module each, found by name.

A source is a module of this package with

- `passages(source, settings)`, which yields (where, `Passage`) one at a time, so that a corpus of any size takes the
  same memory; `where` names the file and line of a passage, for messages;
- `PASSAGE_WORDS`, if it cuts texts: the longest passage in words, unless the corpus sets its own;
- `questions(settings)`, if it makes up its text: question records in the released format. It reads no file.

Adding a source is adding a module.
"""

import importlib
import pkgutil
from typing import cast

from litm.corpora.source import Generator, Source


def source_names() -> list[str]:
    """Names of all sources, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load_source(name: str) -> Source:
    """The source's module, by its name."""
    return cast(Source, importlib.import_module(f"{__name__}.{name}"))


def is_generator(name: str) -> bool:
    """Whether a source makes up its text, and questions about it."""
    return name in source_names() and hasattr(load_source(name), "questions")


def passage_words(name: str) -> int | None:
    """The longest passage of a source in words, unless the corpus sets its own; None for a source that cuts nothing."""
    return getattr(load_source(name), "PASSAGE_WORDS", None)


def load_generator(name: str) -> Generator:
    """The module of a source that makes up its text, by its name."""
    return cast(Generator, load_source(name))
