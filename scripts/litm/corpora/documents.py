"""Documents: folders and files of text, pages, tables and chunks as passages, and what is left out of them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any

from litm.base.delimited_files import DELIMITERS, read_named_columns
from litm.base.files import file_kind, open_text, reading, unpacked_name
from litm.base.json_files import is_json_lines, json_elements, parse_json, read_lines
from litm.base.messages import UNREADABLE, UserError, counted, first_of, install_command, note, without_invisible
from litm.corpora.chunks import NoText, is_chunk, read_chunk
from litm.corpora.embedded_data import without_data
from litm.corpora.epub import book
from litm.corpora.html import article_text
from litm.corpora.office import sheets, slides, word_text
from litm.corpora.passages import DOCUMENT_KINDS, CorpusSettings, Passage, cut_lines
from litm.corpora.pdf import pdf_pages

#: Ignored files named in the note.
NAMED = 3

#: Packages that read a kind of documents, with the names of their modules.
PACKAGES = {
    ".docx": ("mammoth", "mammoth"),
    ".pptx": ("python-pptx", "pptx"),
    ".xlsx": ("python-calamine", "python_calamine"),
}
#: Kinds with pages (pages, slides, sheets, chapters). Some pages may have no text.
PAGED = (".pdf", ".pptx", ".xlsx", ".epub")


@dataclass(frozen=True)
class Omitted:
    """What a reader leaves out of a file."""

    kind: str
    """Name of the field of `Omissions`."""
    number: int
    """Its number."""


#: Where a text is, for messages; its line or page in the file, None for all of it; and the text with "" or its own id,
#: or why there is none, or what is left out of it.
Document = tuple[str, str | None, Passage | UserError | Omitted]


@dataclass(frozen=True)
class Omissions:
    """What is left out of documents."""

    unread: Counter[str] = field(default_factory=Counter)
    """Numbers of characters that cannot be read, by file with page or row."""
    data: Counter[str] = field(default_factory=Counter)
    """Numbers of characters of embedded data, by file."""
    around: Counter[str] = field(default_factory=Counter)
    """Numbers of words around the articles of web pages, by file."""
    equations: Counter[str] = field(default_factory=Counter)
    """Numbers of equations, by file."""
    formulas: Counter[str] = field(default_factory=Counter)
    """Numbers of formulas of workbooks without a value, by file."""
    pages: Counter[str] = field(default_factory=Counter)
    """Numbers of pages, slides, sheets and chapters without text, by file."""
    entries: Counter[str] = field(default_factory=Counter)
    """Numbers of entries without text, by file."""
    files: dict[str, str] = field(default_factory=dict)
    """Reasons why files are left out, by the file's name."""

    def lines(self) -> Iterator[str]:
        """A sentence on each kind, with its first places."""
        kinds = (
            (self.unread, "character", " that cannot be read"),
            (self.data, "character", " of pictures and other data in the text"),
            (self.around, "word", " around the articles of web pages"),
            (self.equations, "equation", ""),
            (self.formulas, "formula", " without a value: save the workbook in Excel or LibreOffice to have them"),
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
    if lacking := missing_packages(files):
        kind, package = next(iter(lacking.items()))
        raise UserError(
            f"{next(file for file in files if file_kind(file) == kind)}: the package {package}, which reads {kind}, is "
            f"not installed: {install_command(package)}"
        )
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


def reading_packages(files: Iterable[Path]) -> dict[str, str]:
    """The packages that read documents of these files, by kind, apart from those that are always installed."""
    return {kind: PACKAGES[kind][0] for kind in sorted({file_kind(file) for file in files} & PACKAGES.keys())}


def missing_packages(files: Iterable[Path]) -> dict[str, str]:
    """Those of `reading_packages` that are not installed."""
    return {kind: package for kind, package in reading_packages(files).items() if find_spec(PACKAGES[kind][1]) is None}


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
    located: tuple[str, Passage] | None = None
    for located in passages:
        yield located
    if located is None:
        only = "only data such as base64 or minified code is" if omitted.data[str(file)] else "there is no text"
        omitted.files.setdefault(name, f"{file}: {only} in it; remove the file or write some text")


#: Endings of files that are read whole.
WHOLE = (".html", ".htm", ".json", ".docx", *PAGED)


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
    """The passages of documents; `UserError` for a wrong one, and if more of them lack text than have it, except in
    files with pages, which may be scans.
    """
    blank: list[UserError] = []
    with_text = 0
    for where, place, whole in documents:
        if isinstance(whole, Omitted):
            getattr(omitted, whole.kind)[str(file)] += whole.number
            continue
        if isinstance(whole, UserError):
            if not isinstance(whole, NoText):
                raise whole
            blank.append(whole)
            continue
        omitted.unread.update([where] * len(UNREADABLE.findall(whole.text)))
        passages = [*_cut(where, place, whole, name, words, lambda cut: omitted.data.update({str(file): cut}))]
        if passages:
            with_text += 1
        else:
            blank.append(NoText(f"{where}: there is no text in it; remove it or write some"))
        yield from passages
    if blank and not with_text:
        omitted.files[name] = str(blank[0])
    elif blank and file_kind(file) in PAGED:
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
    paths = [folder] if folder.is_file() else [path for path in _all_files(folder) if not _is_hidden(path, folder)]
    files = [path for path in paths if file_kind(path) in SUFFIXES]
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


#: Beginnings of hidden names, and of files that Office writes while a document is open.
HIDDEN = (".", "~$")


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(HIDDEN) for part in path.relative_to(folder).parts)


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
    file = whole.file or (name if whole.id and file_kind(name) in (*DELIMITERS, ".xlsx") else None)
    whole = replace(whole, title=without_invisible(whole.title), file=file)
    id_ = whole.id or (name if place is None else f"{name}:{place}")
    for number, block in enumerate(blocks):
        is_all = whole.id and len(blocks) == 1
        yield where, replace(whole, id=id_ if is_all else f"{id_}:{number}", text=block)


def _read_html(path: Path) -> Iterator[Document]:
    with reading(path, lambda: "its beginning"), open_text(path) as file:
        title, text, around = article_text(file.read())
    if around:
        yield str(path), None, Omitted("around", around)
    yield str(path), None, Passage("", title or unpacked_name(path).stem, text)


def _read_word(path: Path) -> Iterator[Document]:
    read = word_text(path)
    if read.equations:
        yield str(path), None, Omitted("equations", read.equations)
    yield str(path), None, Passage("", read.title or path.stem, read.text)


def _read_slides(path: Path) -> Iterator[Document]:
    title, read = slides(path)
    for number, slide in enumerate(read, start=1):
        yield _page(path, "slide", number, _titled(title or path.stem, slide.title), slide.text)


def _read_workbook(path: Path) -> Iterator[Document]:
    """Sheets, or the rows of a sheet with a column `text`, as those of a .csv."""
    read = [*sheets(path)]
    if unvalued := sum(sheet.unvalued for sheet in read):
        yield str(path), None, Omitted("formulas", unvalued)
    for number, sheet in enumerate(read, start=1):
        header, *rows = [cells for _, cells in sheet.rows] or [()]
        if "text" not in header:
            title = _titled(path.stem, sheet.name if len(read) > 1 else "")
            yield _page(path, "sheet", number, title, sheet.text)
            continue
        for (row, _), cells in zip(sheet.rows[1:], rows, strict=True):
            value = {column: cell for column, cell in zip(header, cells, strict=False) if cell}
            yield _document(value, f"{path}, sheet {number}, row {row}", f"{number}.{row}")


def _read_book(path: Path) -> Iterator[Document]:
    title, chapters = book(path)
    for number, chapter in enumerate(chapters, start=1):
        yield _page(path, "chapter", number, _titled(title or path.stem, chapter.title), chapter.text)


def _titled(whole: str, part: str) -> str:
    return whole if part in ("", whole) else f"{whole} > {part}"


def _page(path: Path, noun: str, number: int, title: str, text: str) -> Document:
    """A slide, a sheet or a chapter."""
    no_text = NoText(f"{path}: there is no text in it (pictures?); have its text recognised, or remove the file")
    whole = Passage("", title, text, page=number) if text.strip() else no_text
    return f"{path}, {noun} {number}", str(number), whole


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
    ".docx": _read_word,
    ".pptx": _read_slides,
    ".xlsx": _read_workbook,
    ".epub": _read_book,
    ".jsonl": _read_lines,
    ".json": _read_json,
    ".tsv": _read_lines,
    ".csv": _read_lines,
}
#: Endings of files that are read line by line.
LINES = (".txt", ".md")
SUFFIXES = (*LINES, *READERS)
