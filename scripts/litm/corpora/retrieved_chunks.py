"""Retrieved chunks of an existing system: JSON Lines or one JSON list, an object per question.

An object has the question (`question` or `query`) or its id (`id`, `query_id`, `qid`), and a list of results, best
first, under one of `LISTS`: chunks as in `litm.corpora.chunks`, pairs of a chunk and its score (LangChain's
`similarity_search_with_score`), or texts. A chunk without an id gets one derived from its text.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.base.messages import UserError, quoted, single_spaced
from litm.base.records import read_records
from litm.base.store import text_sha256
from litm.corpora.chunks import Chunk, read_chunk, read_score
from litm.corpora.passages import Passage

QUESTION, QUESTION_ID = ("question", "query", "input"), ("id", "query_id", "qid", "_id")
LISTS = (
    "documents", "docs", "passages", "chunks", "contexts", "ctxs", "context", "results", "hits", "retrieved", "nodes",
    "source_nodes", "source_documents",
)  # fmt: skip
#: Digits of an id derived from a text.
DIGITS = 16


@dataclass(frozen=True)
class Retrieved:
    """The results for a question, best first. question, id: one of them may be None; where: file and line."""

    where: str
    question: str | None
    id: str | None
    hits: tuple[tuple[Passage, float], ...]


def read_retrieved(path: Path) -> Iterator[Retrieved]:
    """Yield the results for each question; `UserError` with file and line for malformed ones."""
    for line, record in read_records(path):
        yield _retrieved(record, f"{path}, line {line}")


def _retrieved(record: Mapping[str, Any], where: str) -> Retrieved:
    question = next((record[name] for name in QUESTION if isinstance(record.get(name), str)), None)
    id_ = next((str(record[name]) for name in QUESTION_ID if record.get(name) is not None), None)
    if question is None and id_ is None:
        raise UserError(f"{where}: neither 'question' nor 'id' says what it was retrieved for; name the question")
    name = next((name for name in LISTS if isinstance(record.get(name), list)), None)
    if name is None:
        raise UserError(
            f"{where}: no list of what was retrieved (keys: {', '.join(map(str, record))}); name it 'documents'"
        )
    hits = [_hit(one, f"{where}, {name}[{index}]", index) for index, one in enumerate(record[name])]
    return Retrieved(where, question.strip() if question else None, id_, tuple(hits))


def _hit(value: Any, where: str, index: int) -> tuple[Passage, float]:
    """The passage and its score; without a score, minus its index, which keeps the order of the list."""
    score = None
    if isinstance(value, list) and len(value) == 2:
        value, score = value
        if isinstance(score, bool) or not isinstance(score, int | float):
            raise UserError(f"{where}: a pair must be a document and its score, found {quoted(score)}")
    chunk = read_chunk({"text": value} if isinstance(value, str) else value, where)
    known = score if score is not None else chunk.score
    return _passage(chunk), read_score(known, where) if known is not None else float(-index)


def _passage(chunk: Chunk) -> Passage:
    text = single_spaced(chunk.text)
    made = text_sha256(f"{chunk.title}\n{text}")[:DIGITS]
    return Passage(chunk.id or made, chunk.title, text, chunk.file, chunk.page, chunk.further_pages)
