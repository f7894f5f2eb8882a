"""Chunks: pieces of text from text splitters, document stores and retrievers, in one form.

Supported are the JSON objects of LangChain (`page_content`, `metadata`; also inside `kwargs`), LlamaIndex (`text`,
`metadata`, `id_`; with a score inside `node`), Haystack (`content`, `meta`), unstructured (`text`, `element_id`,
`metadata`) and BEIR (`_id`, `title`, `text`), chunks of papers (`content`, `heading_hierarchy`, `page_numbers`,
`metadata`), and plain ones (`id`, `title`, `text`).
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from litm.base.messages import UserError, quoted

TEXT, ID = ("text", "page_content", "content"), ("id", "_id", "id_", "doc_id", "docid", "element_id", "node_id")
FILE, PAGE = ("source", "file_path", "file_name", "filename", "file"), ("page_label", "page", "page_number")
METADATA, SCORE = ("metadata", "meta"), ("score", "similarity", "relevance_score")
#: Metadata of LangChain's Markdown splitter and others: the headings above a chunk.
HEADINGS = ("Header 1", "Header 2", "Header 3", "Header 4")
#: Lists of the headings above a chunk, the outermost first, and of its pages: next to its text or in its metadata.
HIERARCHY, PAGES = "heading_hierarchy", "page_numbers"
#: Keys of objects that wrap a chunk.
WRAPPERS = ("node", "document", "kwargs")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk; missing values are empty texts or None.

    further_pages: of a chunk that spans several, those after `page`.
    """

    id: str | None
    title: str
    text: str
    file: str | None
    page: int | None
    score: float | None
    further_pages: tuple[int, ...] = ()


def is_chunk(record: object) -> bool:
    """Whether an object is a chunk of a text splitter, which is used whole as a passage."""
    if not isinstance(record, Mapping):
        return False
    names = (*TEXT[1:], *METADATA, *WRAPPERS, HIERARCHY, PAGES)
    return any(name in record for name in names)


def read_chunk(record: object, where: str) -> Chunk:
    """The chunk in an object; `UserError` beginning with `where` for a missing text or a wrong field."""
    inner, score = _unwrapped(record, where)
    metadata: Mapping = next((inner[name] for name in METADATA if isinstance(inner.get(name), Mapping)), {})
    name = next((name for name in TEXT if name in inner), TEXT[0])
    text = inner.get(name)
    if not isinstance(text, str) or not text.strip():
        raise UserError(f"{where}: '{name}' must be text that is not empty; fill it or remove this entry")
    title = inner.get("title", metadata.get("title"))
    if title is not None and not isinstance(title, str):
        raise UserError(f"{where}: 'title' must be text, but is {type(title).__name__}; write it in quotes")
    file = _first(metadata or inner, FILE)
    shown = file if isinstance(file, str) and file.strip() else None
    headings = _hierarchy(inner, metadata, where) or _headings(metadata)
    titles = [title or "", " > ".join(headings), PurePosixPath(shown).stem if metadata and shown else ""]
    pages = _page_numbers(inner, metadata, where)
    return Chunk(
        _id(inner, where),
        " ".join(next(filter(None, titles), "").split()),
        text,
        shown,
        pages[0] if pages else _page(metadata or inner),
        None if score is None else read_score(score, where),
        tuple(pages[1:]),
    )


def _unwrapped(record: object, where: str) -> tuple[Mapping, Any]:
    """The object with the text, and the score, which may be outside it."""
    score = None
    while True:
        if not isinstance(record, Mapping):
            raise UserError(f"{where}: expected a JSON object with a 'text', found {quoted(record)}")
        found = _first(record, SCORE)
        score = found if found is not None else score
        wrapper = next((name for name in WRAPPERS if isinstance(record.get(name), Mapping)), None)
        if wrapper is None:
            return record, score
        record = record[wrapper]


def _first(record: Mapping, names: Iterable[str]) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _id(record: Mapping, where: str) -> str | None:
    name = next((name for name in ID if record.get(name) is not None), None)
    if name is None:
        return None
    value = record[name]
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise UserError(
            f"{where}: '{name}' must be text or a whole number, but is {quoted(value)}; fix it, or leave ids out"
        )
    return str(value)


def _headings(metadata: Mapping) -> list[str]:
    given = metadata.get("headings", metadata.get("heading"))
    found = given if isinstance(given, list) else [given, *(metadata.get(name) for name in HEADINGS)]
    return [one for one in found if isinstance(one, str) and one.strip()]


def _hierarchy(inner: Mapping, metadata: Mapping, where: str) -> list[str]:
    """The texts of `heading_hierarchy`, without blank ones."""
    given = inner.get(HIERARCHY, metadata.get(HIERARCHY))
    found = [] if given is None else given if isinstance(given, list) else [given]
    for one in found:
        if not isinstance(one, str):
            raise UserError(f"{where}: '{HIERARCHY}' must be a list of headings in quotes, but has {quoted(one)}")
    return [one for one in found if one.strip()]


def _page_numbers(inner: Mapping, metadata: Mapping, where: str) -> list[int]:
    """The numbers of `page_numbers`, ascending."""
    given = inner.get(PAGES, metadata.get(PAGES))
    found = [] if given is None else given if isinstance(given, list) else [given]
    for one in found:
        if isinstance(one, bool) or not isinstance(one, int) or one < 0:
            raise UserError(f"{where}: '{PAGES}' must be a list of whole numbers from 0, but has {quoted(one)}")
    return sorted(set(found))


def _page(metadata: Mapping) -> int | None:
    """The printed page number if it is an integer, else the splitter's page."""
    pages = [str(metadata.get(name)) for name in PAGE]
    return next((int(page) for page in pages if page.isdecimal()), None)


def read_score(value: Any, where: str) -> float:
    """The score of a chunk; `UserError` beginning with `where` for NaN, infinity and anything that is no number."""
    try:
        score = float(value)
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not math.isfinite(score):
        raise UserError(f"{where}: the score must be a number, found {quoted(value)}")
    return score
