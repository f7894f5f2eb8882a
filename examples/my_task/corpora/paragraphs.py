"""The source of passages paragraphs: a text file in which an empty line ends a passage."""

from collections.abc import Iterator
from pathlib import Path

from litm.base.files import read_text
from litm.corpora.passages import CorpusSettings, Passage, Source


def paragraphs(path: Path, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """Yield (place, passage), the place for messages; an id may be there once."""
    for number, text in enumerate(filter(None, map(str.strip, read_text(path).split("\n\n")))):
        yield f"{path}, paragraph {number + 1}", Passage(f"{path.stem}:{number}", path.stem, " ".join(text.split()))


#: The name of a source is that of its function in the module.
SOURCES = {"paragraphs": Source("my_task.corpora.paragraphs", needs="a text file")}
