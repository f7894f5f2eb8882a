"""Documents that are archives of parts (.docx, .pptx, .xlsx, .epub): what is checked before they are unpacked."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

from litm.base.files import file_kind
from litm.base.messages import UserError

#: Bytes of all parts of an archive, pictures among them, and of those with text. The reader of Word documents needs 20
#: to 60 times as much memory as there is text, that of workbooks four times.
LARGEST, LARGEST_TEXT, LARGEST_WORKBOOK = 1 << 30, 30 << 20, 500 << 20
#: Endings of parts with text.
TEXT_PARTS = (".xml", ".rels", ".html", ".xhtml", ".htm", ".opf", ".ncx")
#: Bytes read at a time.
PIECE = 1 << 20
#: Kinds by the beginning of a part's name.
CONTENTS = {"word/": ".docx", "ppt/": ".pptx", "xl/": ".xlsx", "META-INF/container.xml": ".epub"}
#: Beginnings of files that bear a wrong ending, what they are, and what to do.
OTHERS = {
    b"%PDF": ("a PDF", "name it .pdf"),
    b"{\\rtf": ("RTF", "save it as {kind}"),
    b"<": ("HTML or XML", "name it .html, or save it as {kind}"),
}
#: Beginning of Microsoft's container of the time before these kinds, in which those with a password are too.
OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


@contextmanager
def unpacked(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive of a document of one of these kinds, its parts of text whole and of bounded size.

    `UserError` for a file of another kind, with a password, damaged, or too large, and for errors of any kind in the
    block, as readers raise them for damaged files.
    """
    kind = file_kind(path)
    reason = _why_no_archive(path, kind)
    if reason:
        raise UserError(f"{path}: {reason}, or remove the file")
    try:
        with zipfile.ZipFile(path) as archive:
            _check_parts(path, kind, archive)
            yield archive
    except (UserError, ModuleNotFoundError):
        raise
    # An error of the operating system is no damage; those of zipfile have no number.
    except Exception as error:
        if getattr(error, "errno", None) is not None:
            raise
        said = " ".join((str(error) or type(error).__name__).split())[:200]
        raise UserError(
            f"{path}: not a readable {kind} ({said}); save it again or as PDF, or remove the file"
        ) from error


def _why_no_archive(path: Path, kind: str) -> str:
    """What a file is instead of an archive, and what to do; "" for an archive."""
    with path.open("rb") as file:
        beginning = file.read(1024)
    if beginning.startswith(b"PK"):
        return ""
    if not beginning:
        return "the file is empty: save it again"
    if beginning.startswith(OLD):
        if ENCRYPTED in path.read_bytes():
            return "it has a password: save it without one"
        return f"its content is of an older format, such as .doc, .ppt or .xls: save it as {kind}"
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()
    what = ((name, remedy) for start, (name, remedy) in OTHERS.items() if text.startswith(start))
    name, remedy = next(what, (f"not a {kind}", f"save it as {kind} again"))
    return f"its content is {name}: {remedy.format(kind=kind)}"


def _check_parts(path: Path, kind: str, archive: zipfile.ZipFile) -> None:
    parts = archive.infolist()
    contents = {other for part in parts for start, other in CONTENTS.items() if part.filename.startswith(start)}
    if "content.xml" in archive.namelist():
        raise UserError(f"{path}: its content is an OpenDocument: save it as {kind}, or remove the file")
    if contents and kind not in contents:
        raise UserError(f"{path}: its content is a {min(contents)}: give it that ending, or remove the file")
    text = [part for part in parts if part.filename.lower().endswith(TEXT_PARTS)]
    largest = LARGEST_WORKBOOK if kind == ".xlsx" else LARGEST_TEXT
    for size, most in (
        (sum(part.file_size for part in text), largest),
        (sum(part.file_size for part in parts), LARGEST),
    ):
        if size > most:
            raise UserError(
                f"{path}: it unpacks to {size / 1e6:,.0f} MB, more than the {most / 1e6:,.0f} MB that are read; divide "
                "it, save it as text, or remove the file"
            )
    # zipfile ends a part at the size that the archive states, and then finds that the sum of its bytes is wrong; so no
    # reader unpacks more than is stated.
    for part in text:
        for _ in pieces(archive, part.filename):
            pass


def pieces(archive: zipfile.ZipFile, part: str) -> Iterator[bytes]:
    """The bytes of a part, at most `PIECE` at a time; errors of damaged data as zipfile raises them."""
    try:
        with archive.open(part) as file:
            while piece := file.read(PIECE):
                yield piece
    except zlib.error as error:
        raise zipfile.BadZipFile(f"{part}: {error}") from error


def parsed(archive: zipfile.ZipFile, part: str) -> ElementTree.Element:
    """The XML of a part; expat refuses entities that multiply."""
    return ElementTree.fromstring(archive.read(part))


def named(tree: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    """All elements of this name within another, in any namespace."""
    return tree.iterfind(f".//{{*}}{name}")
