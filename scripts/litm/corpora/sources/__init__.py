"""Sources of passages, one module each, found by name.

A source is a module of this package with

- `passages(source, settings)`, which yields (where, `Passage`) one at a time, so that memory does not grow with the
  corpus; `where` names file and line of a passage, for messages;
- `PASSAGE_WORDS`, if it cuts texts: words of the longest passage, unless the corpus sets its own limit;
- `questions(settings)`, if it generates its text: question records in the released format. Such a source reads no file.

To add a source, add a module.
"""

import importlib
import pkgutil
from typing import cast

from litm.corpora.source import Generator, Source


def source_names() -> list[str]:
    """Names of all sources, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load_source(name: str) -> Source:
    """The module of a source."""
    return cast(Source, importlib.import_module(f"{__name__}.{name}"))


def is_generator(name: str) -> bool:
    """Whether a source generates its text and questions about it."""
    return name in source_names() and hasattr(load_source(name), "questions")


def passage_words(name: str) -> int | None:
    """Words of a source's longest passage, if the corpus sets no limit; None for a source that cuts nothing."""
    return getattr(load_source(name), "PASSAGE_WORDS", None)


def load_generator(name: str) -> Generator:
    """The module of a source that generates its text."""
    return cast(Generator, load_source(name))
