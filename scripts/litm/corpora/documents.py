"""Chunks: pieces of text from text splitters, document stores and retrievers, in one form.

Supported are the JSON objects of LangChain (`page_content`, `metadata`; also inside `kwargs`), LlamaIndex (`text`,
`metadata`, `id_`; with a score inside `node`), Haystack (`content`, `meta`), unstructured (`text`, `element_id`,
`metadata`) and BEIR (`_id`, `title`, `text`), chunks of papers (`content`, `heading_hierarchy`, `page_numbers`,
`metadata`), and plain ones (`id`, `title`, `text`).
"""

import logging
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from itertools import chain, groupby, islice
from pathlib import Path, PurePosixPath
from typing import Any

from litm.base.files import file_kind, open_text, reading, unpacked_name
from litm.base.formats import DELIMITERS, is_json_lines, json_elements, parse_json, read_lines, read_named_columns
from litm.base.messages import UNREADABLE, UserError, counted, first_of, note, quoted, single_spaced, without_invisible
from litm.corpora.passages import DOCUMENT_KINDS, CorpusSettings, Passage, cut_lines

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
    above = _stated(inner, metadata, HIERARCHY, lambda one: isinstance(one, str), "headings in quotes", where)
    headings = [one for one in above if one.strip()] or _headings(metadata)
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


def _stated(inner: Mapping, metadata: Mapping, name: str, fits: Callable[[Any], bool], wanted: str, where: str) -> list:
    """The list of a chunk of a paper, next to its text or in its metadata; one value counts as a list of it."""
    given = inner.get(name, metadata.get(name))
    found = [] if given is None else given if isinstance(given, list) else [given]
    for one in found:
        if not fits(one):
            raise UserError(f"{where}: '{name}' must be a list of {wanted}, but has {quoted(one)}")
    return found


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


#: Elements without readable content.
UNREAD = {"script", "style", "template", "noscript", "svg", "nav"}
#: Element of a page's main content, if it has one: the text around it repeats on all pages of a site.
CONTENT = "main"
#: Elements within a line of text; any other element ends a paragraph.
INLINE = {
    "a", "abbr", "b", "bdi", "cite", "code", "em", "i", "kbd", "mark", "rb", "rp", "rt", "rtc", "ruby", "s", "small",
    "span", "strong", "sub", "sup", "tt", "u", "var", "wbr",
}  # fmt: skip
#: A pronunciation beside characters, or its parenthesis; end tags may be missing. Elements that do not end them.
PRONUNCIATION = {"rp", "rt", "rtc"}
WITHIN = INLINE - PRONUNCIATION - {"rb", "ruby"}


class _Reader(HTMLParser):
    """Collects the texts of a page, and those of its title."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.content: list[str] = []
        self.titles: list[str] = []
        self._unread = 0
        self._in_title = False
        self._in_content = False
        self._in_pronunciation = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._unread += tag in UNREAD
        self._in_title = tag == "title" and not self._unread
        self._in_content |= tag == CONTENT
        self._in_pronunciation = tag in PRONUNCIATION or (self._in_pronunciation and tag in WITHIN)
        if tag not in INLINE:
            self._add("\n\n")

    def handle_endtag(self, tag: str) -> None:
        self._unread -= tag in UNREAD and self._unread > 0
        self._in_title = False
        self._in_pronunciation &= tag in WITHIN
        if tag not in INLINE:
            self._add("\n\n")
        self._in_content &= tag != CONTENT

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.titles.append(data)
        elif not self._unread and not self._in_pronunciation:
            self._add(data)

    def _add(self, text: str) -> None:
        self.texts.append(text)
        if self._in_content:
            self.content.append(text)


def html_text(page: str) -> tuple[str, str]:
    """Title and text of a page, without scripts, styles and navigation; only the main content if the page marks it. The
    title is empty if the page has none.
    """
    reader = _Reader()
    reader.feed(page)
    reader.close()
    content = "".join(reader.content)
    return " ".join("".join(reader.titles).split()), content if content.strip() else "".join(reader.texts)


def pdf_pages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (page from 1, text) of each page; `UserError` for a file that is no PDF or has a password."""
    # Imported here: the code of the rules must not need it.
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    # pypdf warns of every flaw that it can repair.
    logging.getLogger("pypdf").setLevel(logging.ERROR)
    page = 0
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise UserError(f"{path}: the PDF has a password: save it without one, or remove the file")
        for page, content in enumerate(reader.pages, start=1):
            # Damaged fonts give lone surrogates, which UTF-8 files cannot hold.
            yield page, content.extract_text().encode("utf-8", "replace").decode()
    except DependencyError as error:
        raise UserError(f"{path}: the PDF is encrypted ({error}): save it without, or remove the file") from error
    except UserError:
        raise
    except Exception as error:  # damaged files make the library raise errors of any kind
        raise UserError(
            f"{path}, after page {page}: not a readable PDF ({str(error) or type(error).__name__}); save it again as "
            f"PDF or as text, or remove the file"
        ) from error


#: Ignored files named in the note.
NAMED = 3


#: Where a text is, for messages; its line or page in the file, None for all of it; and the text with "" or its own id,
#: or why there is none.
Document = tuple[str, str | None, Passage | UserError]


@dataclass(frozen=True)
class Omissions:
    """What is left out of documents.

    unread, data: numbers of characters that cannot be read, by file with page or row, and of embedded data, by file.
    pages, entries: numbers of those without text, by file. files: why a file is left out, by its name.
    """

    unread: Counter[str] = field(default_factory=Counter)
    data: Counter[str] = field(default_factory=Counter)
    pages: Counter[str] = field(default_factory=Counter)
    entries: Counter[str] = field(default_factory=Counter)
    files: dict[str, str] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """A sentence on each kind, with its first places."""
        kinds = (
            (self.unread, "character", " that cannot be read"),
            (self.data, "character", " of pictures and other data in the text"),
            (self.pages, "page", " without text"),
            (self.entries, "document", " without text or not readable as JSON"),
        )
        for numbers, noun, what in kinds:
            if numbers:
                places = first_of([f"{where}: {number:,}" for where, number in numbers.items()], NAMED)
                yield f"left out {counted(numbers.total(), noun)}{what} ({places})"
        if self.files:
            reasons = first_of([*self.files.values()], NAMED, "; ")
            yield f"left out {counted(len(self.files), 'file')} that cannot be read: {reasons}"


#: The content of a data URI, and a word longer than texts with spaces have: data in a file of text.
DATA = (re.compile(r"data:[\w.+-]+/[\w.+-]+[;,][^\s\"'()<>]{100,}"), re.compile(r"(?<![!-~])[!-~]{1000,}"))
#: A line of data in base64, as mails and certificates have it, and the number of such lines of one length in a row that
#: is no accident.
BASE64, LINES_OF_DATA = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+/]{60,76}\s*"), 4


def without_data(lines: Iterable[str], cut: Callable[[int], object]) -> Iterator[str]:
    """The lines without embedded data (data URIs, base64, minified code), which no reader of a text sees.

    cut: called with each number of characters that is left out.
    """
    for is_base64, some in groupby(lines, lambda line: len(line.rstrip()) * bool(BASE64.fullmatch(line))):
        if is_base64 and len(block := [*some]) >= LINES_OF_DATA:
            cut(sum(map(len, block)))
            continue
        for line in block if is_base64 else some:
            text = line
            for pattern in DATA:
                text = pattern.sub("", text)
            if len(text) < len(line):
                cut(len(line) - len(text))
            yield text


def documents(path: Path, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """Yield (file and line, passage) for all documents, files in the order of their paths.

    What is left out is counted in notes. A file that is left out is a passage without text whose id is its name. Raises
    `UserError` naming file and line for a title or id of another type, rows that do not match the header, a file or
    folder with more passages left out than used, and a folder without documents.
    """
    files = source_files(path)
    if ignored := ignored_files(path, files):
        note(f"{path}: {ignored}")
    omitted = Omissions()
    yield from passages_of(path, files, settings.passage_words, omitted)
    for line in omitted.lines():
        note(f"{path}: {line}")


def passages_of(
    folder: Path, files: Sequence[Path], words: int | None, omitted: Omissions
) -> Iterator[tuple[str, Passage]]:
    """The passages of these files of the folder, or of `folder` itself if it is one file; errors as in `documents`.

    Passages with the title and text of an earlier one are marked as copies, unless they have ids of their own. omitted:
    gets what is left out.
    """
    first: dict[int, str] = {}
    for file in files:
        name = file_name(folder, file)
        for where, passage in _file_passages(file, name, words, omitted):
            is_named = not passage.id.startswith(f"{name}:")
            same = passage.id if is_named else first.setdefault(hash((passage.title, passage.text)), passage.id)
            yield where, passage if same == passage.id else replace(passage, copy_of=same)
        if name in omitted.files:
            yield str(file), Passage(name, "", "")
    if (unusable := len(omitted.files)) > len(files) / 2:
        many = f" ({unusable:,} of {len(files):,} files cannot be read)" if unusable > 1 else ""
        raise UserError(f"{next(iter(omitted.files.values()))}{many}")


def _file_passages(file: Path, name: str, words: int | None, omitted: Omissions) -> Iterator[tuple[str, Passage]]:
    """The passages of a file. One that cannot be read has none; `omitted` gets the reason."""
    try:
        documents = _opened(file)
    except UserError as error:
        omitted.files[name] = str(error)
        return
    if file_kind(file) in LINES:
        passages = _text_passages(file, name, words, omitted)
    else:
        passages = _document_passages(documents, file, name, words, omitted)
    has_text = False
    for found in passages:
        has_text = True
        yield found
    if not has_text:
        only = "only data such as base64 or minified code is" if omitted.data[str(file)] else "there is no text"
        omitted.files.setdefault(name, f"{file}: {only} in it; remove the file or write some text")


#: Endings of files that are read whole.
WHOLE = (".html", ".htm", ".pdf", ".json")


def _opened(file: Path) -> Iterable[Document]:
    """The documents of a file, none of one that is read by lines; `UserError` if it cannot be read to its end."""
    kind = file_kind(file)
    if kind in WHOLE:
        return [*READERS[kind](file)]
    line = 0
    with reading(file, lambda: f"line {line}"), open_text(file) as lines:
        for _ in lines:
            line += 1
    documents = READERS[kind](file) if kind in READERS else iter(())
    # The first one needs the header of a table.
    return chain([*islice(documents, 1)], documents)


def _document_passages(
    documents: Iterable[Document], file: Path, name: str, words: int | None, omitted: Omissions
) -> Iterator[tuple[str, Passage]]:
    """The passages of documents; `UserError` for a wrong one, and if more of them lack text than have it, except in a
    PDF, which may have scanned pages.
    """
    blank: list[UserError] = []
    with_text = 0
    for where, place, whole in documents:
        if isinstance(whole, UserError):
            if not isinstance(whole, NoText):
                raise whole
            blank.append(whole)
            continue
        omitted.unread.update([where] * len(UNREADABLE.findall(whole.text)))
        made = [*_cut(where, place, whole, name, words, lambda cut: omitted.data.update({str(file): cut}))]
        if made:
            with_text += 1
        else:
            blank.append(NoText(f"{where}: there is no text in it; remove it or write some"))
        yield from made
    if blank and not with_text:
        omitted.files[name] = str(blank[0])
    elif blank and file_kind(file) == ".pdf":
        omitted.pages[str(file)] = len(blank)
    elif len(blank) > with_text:
        raise UserError(f"{blank[0]} ({len(blank):,} of {len(blank) + with_text:,} documents have no text)")
    elif blank:
        omitted.entries[str(file)] = len(blank)


def file_name(folder: Path, file: Path) -> str:
    """The name of a file in ids: its path within the folder, or the name of a single file."""
    return file.relative_to(folder).as_posix() if folder.is_dir() else file.name


def has_chunks(file: Path) -> bool:
    """Whether a file holds chunks of a text splitter, judged by its first object; true if it cannot be read, and so
    has no passages.
    """
    if file_kind(file) not in (".json", ".jsonl"):
        return False
    with suppress(UserError):
        first = next((value for _, value in _entries(file) if isinstance(value, Mapping)), None)
        return first is None or is_chunk(first)
    return True


def source_files(folder: Path) -> list[Path]:
    """The usable files of the folder and its subfolders, sorted by relative POSIX path, without hidden ones.

    For a path of one file, that file. Raises `UserError` if there is no usable file.
    """
    found = [folder] if folder.is_file() else [path for path in _all_files(folder) if not _is_hidden(path, folder)]
    files = [path for path in found if file_kind(path) in SUFFIXES]
    if not files:
        raise UserError(f"{folder}: {_why_unusable(folder)}; give a folder or file of {DOCUMENT_KINDS}")
    return files


def _why_unusable(folder: Path) -> str:
    if not folder.is_dir():
        return "no file of documents by its ending" if folder.is_file() else "does not exist"
    others = [path.relative_to(folder).as_posix() for path in _all_files(folder)]
    return f"no document among its files ({first_of(others, NAMED)})" if others else "the folder is empty"


def ignored_files(folder: Path, files: Sequence[Path]) -> str:
    """A sentence on the ignored files of a folder; '' if there are none."""
    if not folder.is_dir():
        return ""
    used = set(files)
    ignored = [path.relative_to(folder).as_posix() for path in _all_files(folder) if path not in used]
    return f"ignored {len(ignored)} hidden or other files ({first_of(ignored, NAMED)})" if ignored else ""


def _all_files(folder: Path) -> list[Path]:
    return sorted(filter(Path.is_file, folder.rglob("*")), key=lambda path: path.relative_to(folder).as_posix())


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _text_passages(path: Path, name: str, words: int | None, omitted: Omissions) -> Iterator[tuple[str, Passage]]:
    """The passages of a text file; if it is cut, it may be larger than memory."""
    title = unpacked_name(path).stem
    line = 0

    def read(lines: Iterator[str]) -> Iterator[str]:
        nonlocal line
        for text in lines:
            line += 1
            omitted.unread.update([str(path)] * len(UNREADABLE.findall(text)))
            yield without_invisible(text)

    with reading(path, lambda: f"line {line}"), open_text(path) as lines:
        shown = without_data(read(lines), lambda cut: omitted.data.update({str(path): cut}))
        for number, block in enumerate(cut_lines(shown, words)):
            yield f"{path}, line {line}", Passage(f"{name}:{number}", title, block)


def _cut(
    where: str, place: str | None, whole: Passage, name: str, words: int | None, cut: Callable[[int], object]
) -> Iterator[tuple[str, Passage]]:
    lines = without_data(without_invisible(whole.text).split("\n"), cut)
    blocks = [*cut_lines(lines, words)]
    # The own id of a row does not tell its table.
    file = whole.file or (name if whole.id and file_kind(name) in DELIMITERS else None)
    whole = replace(whole, title=without_invisible(whole.title), file=file)
    id_ = whole.id or (name if place is None else f"{name}:{place}")
    for number, block in enumerate(blocks):
        is_all = whole.id and len(blocks) == 1
        yield where, replace(whole, id=id_ if is_all else f"{id_}:{number}", text=block)


def _read_html(path: Path) -> Iterator[Document]:
    with reading(path, lambda: "its beginning"), open_text(path) as file:
        title, text = html_text(file.read())
    yield str(path), None, Passage("", title or unpacked_name(path).stem, text)


def _read_pdf(path: Path) -> Iterator[Document]:
    for page, text in pdf_pages(path):
        no_text = NoText(f"{path}: there is no text in it (a scan?); have its text recognised, or remove the file")
        whole = Passage("", path.stem, text, page=page) if text.strip() else no_text
        yield f"{path}, page {page}", str(page), whole


def _read_json(path: Path) -> Iterator[Document]:
    before = 0
    for element, (line, value) in enumerate(_entries(path), start=1):
        place = f"{line}.{element}" if line == before else str(line)
        yield _document(value, f"{path}, line {line}, element {element}", place)
        before = line


def _read_lines(path: Path) -> Iterator[Document]:
    entries = read_named_columns(path, needed="text") if file_kind(path) in DELIMITERS else _entries(path)
    for line, value in entries:
        yield _document(value, f"{path}, line {line}", str(line))


def _entries(path: Path) -> Iterator[tuple[int, Any]]:
    """The line and value of each entry of a file of JSON; `NoText` as the value of a line that is no JSON."""
    if not is_json_lines(path):
        yield from json_elements(path)
        return
    for line, text in read_lines(path):
        try:
            value = parse_json(text, f"{path}, line {line}")
        except UserError as error:
            value = NoText(str(error))
        yield line, value


def _document(value: Any, where: str, place: str) -> Document:
    try:
        return where, place, value if isinstance(value, NoText) else read_chunk(value, where)[0]
    except UserError as error:
        return where, place, error


READERS: dict[str, Callable[[Path], Iterator[Document]]] = {
    ".html": _read_html,
    ".htm": _read_html,
    ".pdf": _read_pdf,
    ".jsonl": _read_lines,
    ".json": _read_json,
    ".tsv": _read_lines,
    ".csv": _read_lines,
}
#: Endings of files that are read line by line.
LINES = (".txt", ".md")
SUFFIXES = (*LINES, *READERS)
