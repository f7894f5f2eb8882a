"""Word documents, presentations, workbooks and books for tests."""

import zipfile
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def write_archive(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def paragraph(text: str, further: str = "") -> str:
    return f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r>{further}</w:p>"


def table(*rows: Sequence[str]) -> str:
    cells = ["".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows]
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def write_word(path: Path, body: str, title: str = "", footnote: str = "", header: str = "") -> Path:
    """A Word document with a body of WordprocessingML, its footnote 2 and its header."""
    xmlns = f'xmlns:w="{W}" xmlns:r="{OFFICE}" xmlns:m="{OFFICE.replace("relationships", "math")}"'
    relations = "".join(
        f'<Relationship Id="r{kind}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for kind, target in (("footnotes", "footnotes.xml"), ("header", "header1.xml"))
    )
    kinds = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{WORD}.{kind}+xml"/>'
        for name, kind in (("document", "document.main"), ("footnotes", "footnotes"), ("header1", "header"))
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{kinds}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f"<w:document {xmlns}><w:body>{body}</w:body></w:document>",
        "word/footnotes.xml": f'<w:footnotes {xmlns}><w:footnote w:id="2">{paragraph(footnote)}</w:footnote>'
        "</w:footnotes>",
        "word/header1.xml": f"<w:hdr {xmlns}>{paragraph(header)}</w:hdr>",
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{relations}</Relationships>',
        "docProps/core.xml": f'<p:coreProperties xmlns:p="{PACKAGE}/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}</dc:title></p:coreProperties>',
    }
    return write_archive(path, parts)


def write_workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[Any]]]) -> Path:
    """A workbook; a cell that begins with = is a formula, whose value is 7."""
    from xlsxwriter import Workbook

    with Workbook(str(path), {"default_date_format": "yyyy-mm-dd hh:mm", "constant_memory": False}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for row, cells in enumerate(rows):
                for column, cell in enumerate(cells):
                    if isinstance(cell, str) and cell.startswith("="):
                        sheet.write_formula(row, column, cell, None, 7)
                    elif cell is not None:
                        sheet.write(row, column, cell)
    return path


#: What marks the table of contents of EPUB 3.
NAV, NAV_FILE = ' properties="nav"', "nav.xhtml"
CONTAINER = (
    '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile '
    'full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def write_book(path: Path, chapters: Mapping[str, str], contents: str, further: Mapping[str, str | bytes] = {}) -> Path:
    """A book with chapters in XHTML by file name, and its table of contents: the body of nav.xhtml, which is the first
    file of the reading order, or toc.ncx if it begins with <navPoint.
    """
    is_old = contents.startswith("<navPoint")
    named = [*([] if is_old else [NAV_FILE]), *chapters]
    items = "".join(
        f'<item id="i{number}" href="{quote(name)}" media-type="application/xhtml+xml"{NAV * (name == NAV_FILE)}/>'
        for number, name in enumerate(named)
    )
    ncx = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>' if is_old else ""
    spine = "".join(f'<itemref idref="i{number}"/>' for number in range(len(named)))
    xhtml = '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">'
    toc = (
        f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{contents}</navMap></ncx>'
        if is_old
        else f"{xhtml}<body>{contents}</body></html>"
    )
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/content.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Town Guide</dc:title></metadata>'
        f"<manifest>{items}{ncx}</manifest><spine>{spine}</spine></package>",
        f"OEBPS/{'toc.ncx' if is_old else 'nav.xhtml'}": toc,
        **{f"OEBPS/{name}": f"{xhtml}<body>{body}</body></html>" for name, body in chapters.items()},
        **further,
    }
    return write_archive(path, parts)
