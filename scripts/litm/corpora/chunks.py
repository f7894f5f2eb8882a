"""Chunks: pieces of text from text splitters, document stores and retrievers, in one form.

Supported are the JSON objects of LangChain (`page_content`, `metadata`; also inside `kwargs`), LlamaIndex (`text`,
`metadata`, `id_`; with a score inside `node`), Haystack (`content`, `meta`), unstructured (`text`, `element_id`,
`metadata`) and BEIR (`_id`, `title`, `text`), chunks of papers (`content`, `heading_hierarchy`, `page_numbers`,
`metadata`), and plain ones (`id`, `title`, `text`).
"""

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from litm.base.messages import UserError, quoted, single_spaced
from litm.corpora.passages import Passage

TEXT, ID = ("text", "page_content", "content"), ("id", "_id", "id_", "doc_id", "docid", "element_id", "node_id")
FILE, PAGE = ("source", "file_path", "file_name", "filename", "file"), ("page_label", "page", "page_number")
METADATA, SCORE = ("metadata", "meta"), ("score", "similarity", "relevance_score")
#: Metadata of LangChain's Markdown splitter and others: the headings above a chunk.
HEADINGS = ("Header 1", "Header 2", "Header 3", "Header 4")
#: Lists of the headings above a chunk, the outermost first, and of its pages: next to its text or in its metadata.
HIERARCHY, PAGES = "heading_hierarchy", "page_numbers"
#: Keys of objects that wrap a chunk.
WRAPPERS = ("node", "document", "kwargs")


class NoText(UserError):
    """An entry of a file without text."""


def is_chunk(record: object) -> bool:
    """Whether an object is a chunk of a text splitter, which is used whole as a passage."""
    names = (*TEXT[1:], *METADATA, *WRAPPERS, HIERARCHY, PAGES)
    return isinstance(record, Mapping) and any(name in record for name in names)


def read_chunk(record: object, where: str) -> tuple[Passage, float | None]:
    """The chunk in an object, "" as its id if it has none, and its score; `UserError` beginning with `where` for a
    wrong field, `NoText` for a missing text.
    """
    inner, score = _unwrapped(record, where)
    metadata: Mapping = next((inner[name] for name in METADATA if isinstance(inner.get(name), Mapping)), {})
    name = next((name for name in TEXT if name in inner), TEXT[0])
    text = inner.get(name)
    if not isinstance(text, str) or not text.strip():
        raise NoText(f"{where}: '{name}' must be text that is not empty; fill it or remove this entry")
    title = inner.get("title", metadata.get("title"))
    # NaN, as pandas has it, is no title.
    title = title if title == title else None
    if title is not None and not isinstance(title, str):
        raise UserError(f"{where}: 'title' must be text, but is {type(title).__name__}; write it in quotes")
    origin = metadata or inner
    files = [file for name in FILE if isinstance(file := origin.get(name), str) and file.strip()]
    # LlamaIndex' PyMuPDFReader has the page, from 1, as `source`.
    page_as_source = files[0] if len(files) > 1 and files[0].isdecimal() else None
    shown = next(iter(files[page_as_source is not None :]), None)
    above = _stated(inner, metadata, HIERARCHY, lambda value: isinstance(value, str), "headings in quotes", where)
    headings = [heading for heading in above if heading.strip()] or _headings(metadata)
    titles = [title or "", " > ".join(headings), PurePosixPath(shown).stem if metadata and shown else ""]
    pages = sorted(set(_stated(inner, metadata, PAGES, _is_page, "whole numbers from 0", where)))
    page, further = (pages[0], tuple(pages[1:])) if pages else (_page({**origin, "source": page_as_source}), ())
    title = single_spaced(next(filter(None, titles), ""))
    passage = Passage(_id(inner, where) or "", title, text, shown, page, further)
    # Rerankers of LangChain write it into the metadata.
    reranked = metadata.get("relevance_score")
    score = reranked if score is None and isinstance(reranked, int | float) else score
    return passage, None if score is None else read_score(score, where)


def _unwrapped(record: object, where: str) -> tuple[Mapping, Any]:
    """The object with the text, and the score, which may be outside it."""
    score = None
    while True:
        if not isinstance(record, Mapping):
            raise NoText(f"{where}: expected a JSON object with a 'text', found {quoted(record)}")
        inner_score = _first(record, SCORE)
        score = inner_score if inner_score is not None else score
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
    stated = metadata.get("headings", metadata.get("heading"))
    headings = stated if isinstance(stated, list) else [stated, *(metadata.get(name) for name in HEADINGS)]
    return [heading for heading in headings if isinstance(heading, str) and heading.strip()]


def _stated(inner: Mapping, metadata: Mapping, name: str, fits: Callable[[Any], bool], wanted: str, where: str) -> list:
    """The list of a chunk of a paper, next to its text or in its metadata; one value counts as a list of it."""
    stated = inner.get(name, metadata.get(name))
    values = [] if stated is None else stated if isinstance(stated, list) else [stated]
    for value in values:
        if not fits(value):
            raise UserError(f"{where}: '{name}' must be a list of {wanted}, but has {quoted(value)}")
    return values


def _is_page(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _page(metadata: Mapping) -> int | None:
    """The printed page number, or else the splitter's page; None if it is no integer.

    The splitter's page does not stand in for a printed `iv`: the two number pages differently.
    """
    stated = (str(metadata[name]).strip() for name in (*PAGE, "source") if metadata.get(name) is not None)
    page = next(filter(None, stated), "").removesuffix(".0")
    return int(page) if page.isdecimal() else None


def read_score(value: Any, where: str) -> float:
    """The score of a chunk; `UserError` beginning with `where` for NaN, infinity and anything that is no number."""
    try:
        score = float(value)
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not math.isfinite(score):
        raise UserError(f"{where}: the score must be a number, found {quoted(value)}")
    return score
