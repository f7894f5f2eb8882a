"""The text of Word documents, presentations and workbooks, by the libraries of the extra `[documents]`."""

import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, compress, islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from litm.base.messages import UserError
from litm.corpora.archives import named, parsed, pieces, unpacked
from litm.corpora.html import html_text

# The libraries are imported in functions: the code of the rules must not need them.

#: Between the cells of a row, and after a row of a table, whose lines are joined when it is cut.
CELL, ROW = " | ", ";"
#: Link back from a note of a Word document, its beginning, and where cells meet, as mammoth writes them.
BACK = re.compile(r'<a href="#(?:foot|end)note-ref-[^"]*">↑</a>')
NOTE = re.compile(r'<a href="#((?:foot|end)note-[^"]*)" id="[^"]*">(\[\d+\])</a>')
CELLS = re.compile(r"</p></(t[dh])>(?=<t[dh])")
EQUATION = re.compile(rb"<m:oMath[ >]")
#: A cell of a sheet's XML with a value, its column and row. A formula without a value, as libraries write it.
VALUE = re.compile(rb"""<c [^>]*?\br=["']([A-Z]{1,3})(\d{1,7})["'](?:[^>]*[^/>])?>""")
NO_VALUE = re.compile(rb'<c (?![^>]*\bt="str")[^>]*><f[^>]*(?:/>|>[^<]*</f>)(?:<v ?/>|<v></v>)?</c>')
#: Beginning of a cell.
START = b"<c "
#: Cells of the rectangle around a sheet's values, which the library holds in memory with 32 bytes each.
MOST_CELLS = 20_000_000


@dataclass(frozen=True)
class WordText:
    """What a Word document has."""

    title: str
    """Title of its properties if its text has it, since templates leave theirs; else ""."""
    text: str
    """Text with tables and notes."""
    equations: int
    """Number of equations, which are not in the text."""


@dataclass(frozen=True)
class Slide:
    """A slide of a presentation."""

    title: str
    """Its title; "" without one."""
    text: str
    """The texts of its shapes and of its notes."""


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook."""

    name: str
    """Name of the sheet."""
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    """Number, from 1, and cells of each row with text."""
    unvalued: int
    """Number of formulas without a value."""

    @property
    def text(self) -> str:
        """All its rows."""
        return _table(cells for _, cells in self.rows)


def _table(rows: Iterable[Iterable[str]]) -> str:
    return "\n".join(f"{line}{ROW}" for cells in rows if (line := CELL.join(cells).strip(" |")))


def word_text(path: Path) -> WordText:
    """The text of a Word document, without headers, footers, comments and deletions; `UserError` as `unpacked`."""
    import mammoth

    with unpacked(path) as archive:
        with path.open("rb") as file:
            # Pictures are not read.
            page = mammoth.convert_to_html(file, convert_image=lambda _: []).value
        for anchor, number in NOTE.findall(page):
            page = page.replace(f'<li id="{anchor}"><p>', f'<li id="{anchor}"><p>{number} ')
        page = CELLS.sub(rf"{CELL}</p></\1>", BACK.sub("", page)).replace("</p></td></tr>", f"{ROW}</p></td></tr>")
        text = html_text(page)[1]
        parts = [part for part in archive.namelist() if part.startswith("word/document")]
        equations = sum(len(EQUATION.findall(archive.read(part))) for part in parts)
        return WordText(_title(archive, text), text, equations)


def _title(archive: zipfile.ZipFile, text: str) -> str:
    """The title in the properties if the text has it."""
    if "docProps/core.xml" not in archive.namelist():
        return ""
    title = next((element.text or "" for element in named(parsed(archive, "docProps/core.xml"), "title")), "")
    title = " ".join(title.split())
    return title if title.casefold() in " ".join(text.split()).casefold() else ""


def slides(path: Path) -> tuple[str, list[Slide]]:
    """The title of a presentation, as in `WordText`, and its slides, hidden ones too; `UserError` as `unpacked`."""
    from pptx import Presentation

    with unpacked(path) as archive:
        read = [_slide(slide) for slide in Presentation(str(path)).slides]
        return _title(archive, "\n".join(slide.text for slide in read)), read


def _slide(slide: Any) -> Slide:
    texts = [*_shape_texts(slide.shapes)]
    parts = [relation for relation in slide.part.rels.values() if relation.reltype.endswith("/diagramData")]
    texts += [_diagram(relation.target_part.blob) for relation in parts]
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        texts.append(_lines(slide.notes_slide.notes_text_frame.text))
    title = slide.shapes.title
    shown = "" if title is None else " ".join(_lines(title.text_frame.text).split())
    return Slide(shown, "\n\n".join(filter(str.strip, texts)))


def _shape_texts(shapes: Iterable[Any]) -> Iterator[str]:
    from pptx.enum.shapes import PP_PLACEHOLDER
    from pptx.shapes.group import GroupShape

    repeated = (PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER)
    for shape in shapes:
        if shape.is_placeholder and shape.placeholder_format.type in repeated:
            continue
        if isinstance(shape, GroupShape):
            yield from _shape_texts(shape.shapes)
        elif shape.has_text_frame:
            yield _lines(shape.text_frame.text)
        elif getattr(shape, "has_table", False):
            # The rest of a merged cell is empty.
            yield _table((" ".join(_lines(cell.text).split()) for cell in row.cells) for row in shape.table.rows)
        elif getattr(shape, "has_chart", False):
            yield _chart(shape.chart.part.blob)


def _chart(xml: bytes) -> str:
    """The title, categories and series of a chart of any type."""
    chart = ElementTree.fromstring(xml)
    title = " ".join(text.text or "" for head in islice(named(chart, "title"), 1) for text in named(head, "t"))
    series = [[_values(group, part) for part in ("tx", "cat", "val")] for group in named(chart, "ser")]
    categories = next((categories for _, categories, _ in series if categories), [])
    rows = [["", *categories], *([" ".join(name), *values] for name, _, values in series)]
    return f"{title}\n{_table(rows)}"


def _values(series: ElementTree.Element, part: str) -> list[str]:
    return [value.text or "" for element in named(series, part) for value in named(element, "v")]


def _diagram(xml: bytes) -> str:
    """The texts of a diagram (SmartArt)."""
    points = named(ElementTree.fromstring(xml), "pt")
    return "\n".join("".join(text.text or "" for text in named(point, "t")) for point in points)


def _lines(text: str) -> str:
    """The text with its line breaks, which a presentation has as vertical tabs."""
    return text.replace("\v", "\n")


def sheets(path: Path) -> Iterator[Sheet]:
    """The sheets of a workbook, hidden ones too; `UserError` as `unpacked`, and for values that are far apart."""
    from python_calamine import CalamineWorkbook, SheetTypeEnum

    with unpacked(path) as archive:
        unvalued = [
            _check_sheet(path, archive, part)
            for part in sorted(archive.namelist())
            if part.startswith("xl/worksheets/") and part.endswith(".xml")
        ]
        with path.open("rb") as file:
            book = CalamineWorkbook.from_filelike(file)
            names = [entry.name for entry in book.sheets_metadata if entry.typ == SheetTypeEnum.WorkSheet]
            for number, name in enumerate(names):
                sheet = book.get_sheet_by_name(name)
                first = sheet.start[0] + 1 if sheet.start else 1
                shown = ((row, [*map(_shown, cells)]) for row, cells in enumerate(sheet.iter_rows(), start=first))
                rows = [(row, cells) for row, cells in shown if any(cells)]
                # Columns without text would be bars in every row.
                used = [any(column) for column in zip(*(cells for _, cells in rows), strict=True)]
                kept = tuple((row, tuple(compress(cells, used))) for row, cells in rows)
                yield Sheet(name, kept, sum(unvalued) if number == 0 else 0)


def _check_sheet(path: Path, archive: zipfile.ZipFile, part: str) -> int:
    """The number of formulas without a value; `UserError` for values in a rectangle of too many cells."""
    columns: set[bytes] = set()
    last_row = unvalued = 0
    rest = b""
    for piece in chain(pieces(archive, part), (START,)):
        text = rest + piece
        # The last cell, or the beginning of one, is looked at with the next piece.
        end = text.rfind(START)
        end = end if end >= 0 else max(len(text) - len(START) + 1, 0)
        whole, rest = text[:end], text[end:]
        cells = VALUE.findall(whole)
        columns |= {column for column, _ in cells}
        last_row = max(last_row, max((int(row) for _, row in cells), default=0))
        unvalued += len(NO_VALUE.findall(whole))
    if last_row * max(map(_column, columns), default=0) > MOST_CELLS:
        last = max(columns, key=_column).decode()
        raise UserError(
            f"{path}: {Path(part).stem} has values as far as column {last} and row {last_row:,}, which are "
            "too many cells; remove those that are far from the others, or save the sheet as .csv"
        )
    return unvalued


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


def _shown(value: Any) -> str:
    """A cell's value as text: 12 for 12.0, TRUE for true, and a date without a time of 00:00:00."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, datetime):
        return str(value).removesuffix(" 00:00:00")
    return " ".join(str(value).split())
