"""The source documents: a user's folder or file of texts, web pages, PDFs, tables and chunks.

- .txt, .md, .html (.htm): one document; its title is that of the web page, or else the file's name without suffix.
- .pdf: one document per page with text.
- .jsonl: one object per line with `text` and optional `title` and `id` (text or integer); or a chunk in the form of a
  text splitter, see `litm.corpora.chunks`.
- .json: a list of such objects, on as many lines as it likes.
- .tsv, .csv: the header names `text` and optional `title` and `id`; other columns are ignored.

All but .pdf may be gzipped (.gz). White space becomes single spaces. Documents of more than `passage_words` words are
cut into disjoint passages, numbered n from 0; None keeps them whole. A document's own id is kept if it is one passage,
and becomes `id:n` otherwise; without an id it is `file:n` for .txt, .md and .html, `file:page:n` for .pdf and
`file:line:n` for others, with the file's path relative to the folder. Of several objects that begin on one line, those
after the first have `line.m` for the line, m their number in the list from 1.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from litm.base.files import file_kind, open_text, reading, unpacked_name
from litm.base.messages import UserError, note
from litm.base.records import DELIMITERS, read_json_list, read_jsonl, read_named_columns, read_records
from litm.corpora.chunks import is_chunk, read_chunk
from litm.corpora.html_text import html_text
from litm.corpora.passages import Passage, cut_lines, cut_text
from litm.corpora.pdf_text import pdf_pages
from litm.corpora.source import CorpusSettings, needed

#: Words of the longest passage, unless the corpus sets its own limit.
PASSAGE_WORDS = 100

KINDS = "documents as .txt, .md, .html, .pdf, .jsonl, .json, .tsv or .csv, each but .pdf also with .gz"
#: Ignored files named in the note.
NAMED = 3


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its title; `id` as the user gave it or None; `where`: its file and line.

    place: its line or page, None if it is the whole file; file, page, further_pages: the origin that a chunk states.
    """

    where: str
    place: str | None
    id: str | None
    title: str
    text: str
    file: str | None = None
    page: int | None = None
    further_pages: tuple[int, ...] = ()


def passages(source: Path | None, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """Yield (file and line, passage) for all documents, files in the order of their paths.

    Raises `UserError` naming file and line for a document without text, a title or id of another type, a header without
    `text`, rows that do not match the header, broken and non-UTF-8 files, and for a folder without documents.
    """
    path = needed(source, f"a folder or file of {KINDS}")
    files = source_files(path)
    _note_ignored(path, files)
    return passages_of(path, files, settings.passage_words)


def passages_of(folder: Path, files: Sequence[Path], words: int | None) -> Iterator[tuple[str, Passage]]:
    """The passages of these files of the folder, or of `folder` itself if it is one file; errors as in `passages`."""
    for file in files:
        name = file_name(folder, file)
        if file_kind(file) in LINES:
            yield from _text_passages(file, name, words)
        else:
            for document in READERS[file_kind(file)](file):
                yield from _cut(document, name, words)


def file_name(folder: Path, file: Path) -> str:
    """The name of a file in ids: its path within the folder, or the name of a single file."""
    return file.relative_to(folder).as_posix() if folder.is_dir() else file.name


def has_chunks(file: Path) -> bool:
    """Whether a file holds chunks of a text splitter, judged by its first object."""
    if file_kind(file) not in (".json", ".jsonl"):
        return False
    _, first = next(read_records(file), (0, None))
    return is_chunk(first)


def source_files(folder: Path) -> list[Path]:
    """The usable files of the folder and its subfolders, sorted by relative POSIX path, without hidden ones.

    For a path of one file, that file. Raises `UserError` if there is no usable file.
    """
    if folder.is_file():
        files = [folder] if file_kind(folder) in SUFFIXES else []
    else:
        files = [path for path in _all_files(folder) if file_kind(path) in SUFFIXES and not _is_hidden(path, folder)]
    if not files:
        missing = "is not one of these" if folder.is_file() else "has none" if folder.is_dir() else "does not exist"
        raise UserError(f"{folder}: {missing}; give a folder or file of {KINDS}")
    return files


def ignored_files(folder: Path, files: Sequence[Path]) -> str:
    """A sentence on the ignored files of a folder; '' if there are none."""
    if not folder.is_dir():
        return ""
    used = set(files)
    ignored = [path.relative_to(folder).as_posix() for path in _all_files(folder) if path not in used]
    more = ", ..." if len(ignored) > NAMED else ""
    return f"ignored {len(ignored)} hidden or other files ({', '.join(ignored[:NAMED])}{more})" if ignored else ""


def _all_files(folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(files, key=lambda path: path.relative_to(folder).as_posix())


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _note_ignored(folder: Path, files: list[Path]) -> None:
    if ignored := ignored_files(folder, files):
        note(f"{folder}: {ignored}")


def _text_passages(path: Path, name: str, words: int | None) -> Iterator[tuple[str, Passage]]:
    """The passages of a text file; if it is cut, it may be larger than memory."""
    title = unpacked_name(path).stem
    line = 0

    def counted(lines: Iterator[str]) -> Iterator[str]:
        nonlocal line
        for text in lines:
            line += 1
            yield text

    number = -1
    with reading(path, lambda: f"line {line}"), open_text(path) as lines:
        for number, block in enumerate(cut_lines(counted(lines), words)):
            yield f"{path}, line {line}", Passage(f"{name}:{number}", title, block)
    if number < 0:
        raise UserError(f"{path}: there is no text in it; remove the file or write some")


def _cut(document: Document, name: str, words: int | None) -> Iterator[tuple[str, Passage]]:
    blocks = cut_text(document.text, words)
    place = name if document.place is None else f"{name}:{document.place}"
    for number, block in enumerate(blocks):
        if document.id is None:
            id_ = f"{place}:{number}"
        else:
            id_ = document.id if len(blocks) == 1 else f"{document.id}:{number}"
        yield (
            document.where,
            Passage(id_, document.title, block, document.file, document.page, document.further_pages),
        )


def _read_whole(path: Path) -> str:
    with reading(path, lambda: "its beginning"), open_text(path) as file:
        return file.read()


def _read_html(path: Path) -> Iterator[Document]:
    title, text = html_text(_read_whole(path))
    if not text.strip():
        raise UserError(f"{path}: there is no text in it; remove the file or write some")
    yield Document(str(path), None, None, title or unpacked_name(path).stem, text)


def _read_pdf(path: Path) -> Iterator[Document]:
    page = None
    for page, text in pdf_pages(path):
        yield Document(f"{path}, page {page}", str(page), None, path.stem, text, page=page)
    if page is None:
        raise UserError(f"{path}: there is no text in it (a scan?); have its text recognised, or remove the file")


def _read_jsonl(path: Path) -> Iterator[Document]:
    for line, record in read_jsonl(path):
        yield _document(record, f"{path}, line {line}", str(line))


def _read_json(path: Path) -> Iterator[Document]:
    before = 0
    for element, (line, record) in enumerate(read_json_list(path), start=1):
        place = f"{line}.{element}" if line == before else str(line)
        yield _document(record, f"{path}, line {line}, element {element}", place)
        before = line
    if not before:
        raise UserError(f"{path}: there are no documents in it; remove the file or write some")


def _read_table(path: Path) -> Iterator[Document]:
    for line, record in read_named_columns(path, DELIMITERS[file_kind(path)], needed="text"):
        yield _document(record, f"{path}, line {line}", str(line))


def _document(record: object, where: str, place: str) -> Document:
    """The document of a record, checked."""
    chunk = read_chunk(record, where)
    return Document(where, place, chunk.id, chunk.title, chunk.text, chunk.file, chunk.page, chunk.further_pages)


READERS: dict[str, Callable[[Path], Iterator[Document]]] = {
    ".html": _read_html,
    ".htm": _read_html,
    ".pdf": _read_pdf,
    ".jsonl": _read_jsonl,
    ".json": _read_json,
    ".tsv": _read_table,
    ".csv": _read_table,
}
#: Endings of files that are read line by line.
LINES = (".txt", ".md")
SUFFIXES = (*LINES, *READERS)
