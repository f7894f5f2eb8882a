"""The source retrieved: passages that an existing retrieval system returned, each once and unchanged."""

from collections.abc import Iterator
from pathlib import Path

from litm.base.messages import UserError
from litm.corpora.passages import Passage
from litm.corpora.retrieved_chunks import read_retrieved
from litm.corpora.source import CorpusSettings, needed


def passages(source: Path | None, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """Yield (file and line, passage) for all retrieved passages, in the order of the file.

    Raises `UserError` as `read_retrieved` does, and for two texts with one id.
    """
    path = needed(source, "a file of what was retrieved (.jsonl or .json)")
    seen: dict[str, tuple[str, str]] = {}
    for record in read_retrieved(path):
        for passage, _ in record.hits:
            if passage.id not in seen:
                seen[passage.id] = (record.where, passage.text)
                yield record.where, passage
            elif (first := seen[passage.id])[1] != passage.text:
                raise UserError(
                    f"{record.where}: the document {passage.id} has another text than at {first[0]}; give each its own "
                    f"id"
                )
