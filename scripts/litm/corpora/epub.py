"""The chapters of books in EPUB, versions 2 and 3."""

import posixpath
import re
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from litm.base.messages import UserError
from litm.corpora.archives import named, parsed, unpacked
from litm.corpora.html import html_text

CONTAINER, ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
#: Media types of chapters, and of the table of contents of EPUB 2.
CHAPTERS, NCX = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml"), "application/x-dtbncx+xml"
#: What a list of links is for.
TYPE = "{http://www.idpf.org/2007/ops}type"
ENCODING = re.compile(rb"""<\?xml[^>]*encoding=["']([\w.-]+)["']""")
HEADING = re.compile(r"<h([1-3])\b[^>]*>(.*?)</h\1\s*>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Chapter:
    """A file of a book in the order of reading."""

    title: str
    """Its title in the table of contents, else its first heading; "" without both."""
    text: str
    """Text."""


@dataclass(frozen=True)
class _Item:
    """A file of a book."""

    part: str
    """Name in the archive."""
    kind: str
    """Media type."""
    is_contents: bool
    """Whether it is the table of contents of EPUB 3."""


def book(path: Path) -> tuple[str, list[Chapter]]:
    """The title of a book and its chapters, without the page of contents; `UserError` as `unpacked`, and for a book
    that is protected against copying.
    """
    with unpacked(path) as archive:
        root = next(named(parsed(archive, CONTAINER), "rootfile")).attrib["full-path"]
        package = parsed(archive, root)
        items = {
            item.attrib["id"]: _Item(
                _part(root, item.attrib["href"]),
                item.attrib.get("media-type", ""),
                "nav" in item.attrib.get("properties", "").split(),
            )
            for item in named(package, "item")
        }
        ids = (itemref.attrib["idref"] for itemref in named(package, "itemref"))
        spine = [items[id_] for id_ in ids if id_ in items]
        references = [reference.attrib for reference in named(package, "reference")]
        contents = {item.part for item in items.values() if item.is_contents} | {
            _part(root, reference["href"]) for reference in references if reference.get("type") == "toc"
        }
        chapters = [item.part for item in spine if item.kind in CHAPTERS and item.part not in contents]
        if _encrypted(archive) & {*chapters}:
            raise UserError(f"{path}: the book is protected against copying; get it without, or remove the file")
        titles: dict[str, str] = {}
        for item in items.values():
            if item.is_contents or item.kind == NCX:
                # A table of contents that is no XML leaves the chapters with their headings.
                with suppress(ElementTree.ParseError, LookupError, StopIteration):
                    titles = _titles(archive, item) | titles
        title = next((_text(element) for element in named(package, "title")), "")
        return title, [_chapter(archive, part, titles.get(part, "")) for part in chapters]


def _part(file: str, href: str) -> str:
    """The name in the archive of what a file refers to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), unquote(href.partition("#")[0])))


def _text(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _encrypted(archive: zipfile.ZipFile) -> set[str]:
    """Names of encrypted parts; fonts are, in many books without protection."""
    if ENCRYPTION not in archive.namelist():
        return set()
    references = named(parsed(archive, ENCRYPTION), "CipherReference")
    return {unquote(reference.attrib.get("URI", "")) for reference in references}


def _titles(archive: zipfile.ZipFile, item: _Item) -> dict[str, str]:
    """The title of each part in a table of contents: the first, where a part has several."""
    tree = parsed(archive, item.part)
    if item.kind == NCX:
        named_parts = named(tree, "navPoint")
        points = [(next(named(point, "content")).attrib["src"], next(named(point, "text"))) for point in named_parts]
    else:
        # Others are landmarks and pages.
        lists = [nav for nav in named(tree, "nav") if nav.attrib.get(TYPE, "toc") == "toc"]
        points = [(link.attrib["href"], link) for nav in lists for link in named(nav, "a") if "href" in link.attrib]
    titles: dict[str, str] = {}
    for href, element in points:
        titles.setdefault(_part(item.part, href), _text(element))
    return titles


def _chapter(archive: zipfile.ZipFile, part: str, title: str) -> Chapter:
    raw = archive.read(part)
    stated = ENCODING.match(raw)
    wide = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
    page = raw.decode("utf-16" if wide else stated[1].decode() if stated else "utf-8-sig").removeprefix("\ufeff")
    _, text = html_text(page)
    heading = HEADING.search(page)
    return Chapter(title or (" ".join(html_text(heading[2])[1].split()) if heading else ""), text)
