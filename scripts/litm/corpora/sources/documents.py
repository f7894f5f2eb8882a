"""A user's own documents: a folder, or one file, of .txt, .jsonl, .tsv and .csv, each plain or gzip (.gz).

- .txt: one document, its title the file's name without suffix.
- .jsonl: an object a line with `text` and, if it has them, `title` and `id` (text or a whole number).
- .tsv, .csv: the header names `text` and, if it has them, `title` and `id`; other columns are left out.

Whitespace becomes single spaces. Documents of more than `passage_words` words are cut into disjoint passages, numbered
n from 0; None keeps them whole. A document's own id stays as it is if the document is one passage, and is `id:n`
otherwise; without one it is `file:n` for .txt and `file:line:n` for the others, the file relative to the folder.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.base.errors import UserError
from litm.base.formatting import quoted
from litm.base.json_files import read_jsonl
from litm.base.messages import note
from litm.base.text_files import open_text, read_table, reading
from litm.corpora.passages import Passage, cut_lines, cut_text
from litm.corpora.source import CorpusSettings, needed

#: Words of the longest passage, unless the corpus sets its own.
PASSAGE_WORDS = 100

KINDS = "documents as .txt, .jsonl, .tsv or .csv, each also with .gz"
SUFFIXES = (".txt", ".jsonl", ".tsv", ".csv")
DELIMITERS = {".tsv": "\t", ".csv": ","}
#: Ignored files that are named in the note.
NAMED = 3


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its title; `id` as the user gave it or None, `where` its file and line."""

    where: str
    line: int
    id: str | None
    title: str
    text: str


def passages(source: Path | None, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """Yield (file and line, passage) for all documents, files in the order of their paths.

    Raises `UserError` naming file and line for a document without text, a title or id of another type, a header without
    `text`, rows longer or shorter than the header, broken and non-UTF-8 files, and for a folder without documents.
    """
    path = needed(source, f"a folder or file of {KINDS}")
    files = source_files(path)
    _note_ignored(path, files)
    for file in files:
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        if _kind(file) == ".txt":
            yield from _text_passages(file, name, settings.passage_words)
        else:
            for document in READERS[_kind(file)](file):
                yield from _cut(document, name, settings.passage_words)


def source_files(folder: Path) -> list[Path]:
    """The usable files of the folder and all folders in it, sorted by relative POSIX path; hidden ones are not used.

    A path of one file gives that file. Raises `UserError` if there is no usable file.
    """
    if folder.is_file():
        files = [folder] if _kind(folder) in SUFFIXES else []
    else:
        files = [path for path in _all_files(folder) if _kind(path) in SUFFIXES and not _is_hidden(path, folder)]
    if not files:
        missing = "is not one of these" if folder.is_file() else "has none" if folder.is_dir() else "does not exist"
        raise UserError(f"{folder}: {missing}; give a folder or file of {KINDS}")
    return files


def _all_files(folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(files, key=lambda path: path.relative_to(folder).as_posix())


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _base_name(path: Path) -> Path:
    """The file's name without .gz."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name)


def _kind(path: Path) -> str:
    return _base_name(path).suffix.lower()


def _note_ignored(folder: Path, files: list[Path]) -> None:
    if not folder.is_dir():
        return
    used = set(files)
    ignored = [path.relative_to(folder).as_posix() for path in _all_files(folder) if path not in used]
    if ignored:
        more = ", ..." if len(ignored) > NAMED else ""
        note(f"{folder}: ignored {len(ignored)} hidden or other files ({', '.join(ignored[:NAMED])}{more})")


def _text_passages(path: Path, name: str, words: int | None) -> Iterator[tuple[str, Passage]]:
    """The passages of a text file, which may be longer than memory if it is cut."""
    title = _base_name(path).stem
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
    for number, block in enumerate(blocks):
        if document.id is None:
            id_ = f"{name}:{document.line}:{number}"
        else:
            id_ = document.id if len(blocks) == 1 else f"{document.id}:{number}"
        yield document.where, Passage(id_, document.title, block)


def _read_jsonl(path: Path) -> Iterator[Document]:
    for line, record in read_jsonl(path):
        yield _document(path, line, record)


def _read_table(path: Path) -> Iterator[Document]:
    rows = read_table(path, DELIMITERS[_kind(path)])
    start, header = next(rows, (1, []))
    if "text" not in header:
        found = quoted(", ".join(header)) if header else "nothing"
        raise UserError(f"{path}, line {start}: the header must have a column 'text', but has {found}")
    if len(set(header)) < len(header):
        raise UserError(
            f"{path}, line {start}: the header names a column twice ({quoted(', '.join(header))}); rename one"
        )
    for line, row in rows:
        if len(row) != len(header):
            raise UserError(
                f"{path}, line {line}: {len(row)} fields, but the header has {len(header)}; "
                f"put a text with {DELIMITERS[_kind(path)]!r} in it between quotes"
            )
        yield _document(path, line, dict(zip(header, row, strict=True)))


def _document(path: Path, line: int, record: dict[str, Any]) -> Document:
    """The checked document of a record."""
    where = f"{path}, line {line}"
    text, title, id_ = record.get("text"), record.get("title"), record.get("id")
    if not isinstance(text, str) or not text.strip():
        raise UserError(f"{where}: 'text' must be text that is not empty; fill it or remove the line")
    if title is not None and not isinstance(title, str):
        raise UserError(f"{where}: 'title' must be text, but is {type(title).__name__}; write it in quotes")
    if id_ is not None and (isinstance(id_, bool) or not isinstance(id_, str | int) or not str(id_).strip()):
        raise UserError(
            f"{where}: 'id' must be text or a whole number, but is {quoted(id_)}; mend it, or leave ids out"
        )
    return Document(where, line, None if id_ is None else str(id_), " ".join((title or "").split()), text)


READERS: dict[str, Callable[[Path], Iterator[Document]]] = {
    ".jsonl": _read_jsonl,
    ".tsv": _read_table,
    ".csv": _read_table,
}
