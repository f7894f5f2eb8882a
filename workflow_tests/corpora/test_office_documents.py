"""Word documents, presentations, workbooks and books as documents, and what is no such file."""

import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from office_files import paragraph, table, write_archive, write_book, write_word, write_workbook
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.util import Cm
from programs import refused

from litm.corpora import archives, documents
from litm.corpora.documents import missing_packages
from litm.corpora.passages import CorpusSettings, Passage

INSERTED = '<w:ins w:id="1" w:author="a"><w:r><w:t xml:space="preserve"> of oak</w:t></w:r></w:ins>'
DELETED = '<w:del w:id="2" w:author="a"><w:r><w:delText> of stone</w:delText></w:r></w:del>'
NOTED = '<w:r><w:footnoteReference w:id="2"/></w:r>'


def passages_of(path: Path) -> list[Passage]:
    return [passage for _, passage in documents.documents(path, CorpusSettings(100))]


def test_a_word_document_has_tables_notes_and_accepted_changes_but_no_headers_and_deletions(tmp_path, capsys):
    equation = "<m:oMath><m:r><m:t>x=2</m:t></m:r></m:oMath>"
    body = paragraph("The mill is", INSERTED + DELETED + NOTED) + table(["Town", "Year"], ["Ash", "1700"])
    write_word(tmp_path / "mill.docx", body, footnote="By Ada Quill.", header="Page 1", title="Word Document")
    write_word(tmp_path / "guide.DOCX", paragraph("A guide to mills", equation), title="A Guide to  Mills")
    assert passages_of(tmp_path) == [
        Passage("guide.DOCX:0", "A Guide to Mills", "A guide to mills"),
        Passage("mill.docx:0", "mill", "The mill is of oak[1] Town | Year; Ash | 1700; [1] By Ada Quill."),
    ]
    said = capsys.readouterr().err.strip()
    assert said == f"{tmp_path}: left out 1 equation ({tmp_path}/guide.DOCX: 1)"


def write_slides(path: Path) -> Path:
    deck = Presentation()
    first, second, _ = (deck.slides.add_slide(deck.slide_layouts[layout]) for layout in (5, 5, 6))
    first.shapes.title.text = "Mills\vof Ash"
    box = first.shapes.add_group_shape().shapes.add_textbox(0, 0, Cm(5), Cm(5))
    box.text_frame.text = "Oak & stone"
    first.notes_slide.notes_text_frame.text = "Ask Ada."
    grid = second.shapes.add_table(2, 2, 0, 0, Cm(5), Cm(5)).table
    for number, text in enumerate(("Town", "Year", "Ash", "1700")):
        grid.cell(number // 2, number % 2).text = text
    data = CategoryChartData()
    data.categories = ["2019", "2020"]
    data.add_series("Visits", (3, 4.5))
    second.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Cm(5), Cm(5), data)
    points = b'<d:dataModel xmlns:d="d" xmlns:a="a"><d:pt><a:t>Grind</a:t></d:pt><d:pt/></d:dataModel>'
    part = Part(PackURI("/ppt/diagrams/data1.xml"), "application/xml", deck.part.package, points)
    second.part.relate_to(part, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/diagramData")
    deck.save(str(path))
    return path


def test_slides_are_pages_with_their_titles_tables_charts_diagrams_and_notes(tmp_path, capsys):
    assert passages_of(write_slides(tmp_path / "talk.pptx")) == [
        Passage("talk.pptx:1:0", "talk > Mills of Ash", "Mills of Ash Oak & stone Ask Ada.", page=1),
        Passage("talk.pptx:2:0", "talk", "Town | Year; Ash | 1700; 2019 | 2020; Visits | 3 | 4.5; Grind", page=2),
    ]
    assert "left out 1 page without text" in capsys.readouterr().err


def test_sheets_are_pages_and_cells_are_as_they_are_read_in_a_spreadsheet(tmp_path, capsys):
    rows = [
        ["Town", "Built", "Share"], [], ["Ash", None, 0.1 + 0.2], ["Elm", datetime(1950, 3, 4), 12.0],
        ["Oak", datetime(2020, 1, 2, 3, 4), True], [None, None, "=SUM(C3:C4)"],
    ]  # fmt: skip
    path = write_workbook(tmp_path / "mills.xlsx", {"Mills": rows, "Empty": [], "Notes": [[], [None, "two\nlines"]]})
    assert passages_of(path) == [
        Passage(
            "mills.xlsx:1:0", "mills > Mills",
            "Town | Built | Share; Ash | | 0.3; Elm | 1950-03-04 | 12; Oak | 2020-01-02 03:04:00 | TRUE; 7;", page=1,
        ),
        Passage("mills.xlsx:3:0", "mills > Notes", "two lines;", page=3),
    ]  # fmt: skip
    assert "left out 1 page without text" in capsys.readouterr().err


def test_a_sheet_with_a_column_text_is_documents_as_a_csv_file(tmp_path):
    rows = [["id", "title", "text"], [7, "Mill", "Of oak."], [], ["T-2", None, "Of stone."]]
    path = write_workbook(tmp_path / "tickets.xlsx", {"Open": rows, "Closed": [["text"], ["Of elm."]]})
    assert passages_of(path) == [
        Passage("7", "Mill", "Of oak.", "tickets.xlsx"),
        Passage("T-2", "", "Of stone.", "tickets.xlsx"),
        Passage("tickets.xlsx:2.2:0", "", "Of elm."),
    ]


def _sheet_written_by_a_library(path: Path, cells: str) -> Path:
    write_workbook(path, {"A": [["x", "y"]]})
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"].decode()
    head, _, rest = sheet.partition("<sheetData>")
    data = f"{head}<sheetData>{cells}</sheetData>{rest.partition('</sheetData>')[2]}"
    return write_archive(path, {**parts, "xl/worksheets/sheet1.xml": data})


def test_formulas_that_a_library_wrote_without_values_are_counted(tmp_path, capsys):
    cells = '<row r="1"><c r="A1"><v>3</v></c><c r="B1"><f>A1+1</f><v></v></c><c r="C1"><f>A1</f></c></row>'
    shown = '<row r="2"><c r="A2"><f>A1</f><v>3</v></c><c r="B2" t="str"><f>""</f><v></v></c></row>'
    (passage,) = passages_of(_sheet_written_by_a_library(tmp_path / "a.xlsx", cells + shown))
    assert passage.text == "3; 3;"
    assert "left out 2 formulas without a value: save the workbook" in capsys.readouterr().err


def test_values_far_apart_are_refused_before_they_fill_the_memory(tmp_path, monkeypatch):
    far = '<row r="1"><c r="A1"><v>3</v></c></row><row r="1048576"><c r="XFD1048576"><v>3</v></c></row>'
    assert "as far as column XFD and row 1,048,576" in refused(
        passages_of, _sheet_written_by_a_library(tmp_path / "a.xlsx", far)
    )
    # Cells that are only formatted are not held.
    formatted = far.replace('<c r="XFD1048576"><v>3</v></c>', '<c r="XFD1048576" s="1"/>')
    assert passages_of(_sheet_written_by_a_library(tmp_path / "b.xlsx", formatted))[0].text == "3;"
    # A cell is seen where a piece ends within it.
    monkeypatch.setattr(archives, "PIECE", 7)
    assert "as far as column XFD" in refused(passages_of, tmp_path / "a.xlsx")


CHAPTERS = {"a.xhtml": "<h1>One</h1><p>The mill.</p>", "b c.xhtml": "<h2>Of <i>oak</i></h2><p>The bridge&nbsp;.</p>"}
NAV = '<nav epub:type="landmarks"><a href="a.xhtml">Begin</a></nav><nav epub:type="toc"><a href="a.xhtml#x">I</a></nav>'
NCX = '<navPoint><navLabel><text>I</text></navLabel><content src="a.xhtml"/></navPoint>'


@pytest.mark.parametrize("contents", [NAV, NCX, NAV.replace("Begin", "&nbsp;").replace(">I<", ">One<")])
def test_a_books_chapters_are_pages_with_their_titles_without_the_table_of_contents(tmp_path, contents):
    path = write_book(tmp_path / "guide.epub", CHAPTERS, contents)
    first = "I" if ">I<" in contents else "One"
    assert passages_of(path) == [
        Passage("guide.epub:1:0", f"Town Guide > {first}", "One The mill.", page=1),
        Passage("guide.epub:2:0", "Town Guide > Of oak", "Of oak The bridge .", page=2),
    ]


def test_a_protected_book_is_refused_but_not_one_with_hidden_fonts(tmp_path):
    def encrypted(part: str) -> dict[str, str]:
        return {"META-INF/encryption.xml": f'<e><CipherReference xmlns="x" URI="{part}"/></e>'}

    path = tmp_path / "a.epub"
    assert "protected against copying" in refused(
        passages_of, write_book(path, CHAPTERS, NCX, encrypted("OEBPS/a.xhtml"))
    )
    assert passages_of(write_book(path, CHAPTERS, NCX, encrypted("OEBPS/font.otf")))


OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.docx", b"", "the file is empty: save it again"),
        ("a.docx", OLD, "its content is of an older format, such as .doc, .ppt or .xls: save it as .docx"),
        ("a.xlsx", OLD + "EncryptedPackage".encode("utf-16-le"), "it has a password: save it without one"),
        ("a.xlsx", b"\xef\xbb\xbf\n<html><table>", "its content is HTML or XML: name it .html, or save it as .xlsx"),
        ("a.docx", b"{\\rtf1 x}", "its content is RTF: save it as .docx"),
        ("a.pptx", b"%PDF-1.7", "its content is a PDF: name it .pdf"),
        ("a.epub", b"Some text", "its content is not a .epub: save it as .epub again"),
        ("a.docx", b"PK\x03\x04 damaged", "not a readable .docx (File is not a zip file); save it again"),
    ],
)
def test_what_is_no_such_file_is_told_in_a_line_with_what_to_do(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    line = refused(passages_of, tmp_path)
    assert line.startswith(f"{tmp_path}/{name}: {said}") and line.endswith("or remove the file")


def test_an_archive_of_another_kind_or_a_damaged_or_large_one_is_told_in_a_line(tmp_path, monkeypatch):
    path = write_workbook(tmp_path / "a.xlsx", {"A": [["mill"]]}).rename(tmp_path / "a.docx")
    assert "a.docx: its content is a .xlsx: give it that ending" in refused(passages_of, path)
    write_archive(path, {"mimetype": "x", "content.xml": "x"})
    assert "its content is an OpenDocument: save it as .docx" in refused(passages_of, path)
    write_archive(path, {"word/document.xml": "<w:document"})
    assert "a.docx: not a readable .docx (" in refused(passages_of, path)
    # A byte of the text is wrong.
    whole = write_word(path, paragraph("The mill. " * 99)).read_bytes()
    at = whole.index(b"word/document.xml") + 40
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
    assert "a.docx: not a readable .docx (" in refused(passages_of, path)
    # A bomb: 40 MB in 40 kB.
    write_archive(path, {"word/document.xml": b" " * 40_000_000})
    assert "a.docx: it unpacks to 40 MB, more than the 31 MB that are read; divide it" in refused(passages_of, path)
    monkeypatch.setattr(archives, "LARGEST", 1000)
    write_archive(path, {"word/document.xml": "<x/>", "word/media/a.png": b" " * 2000})
    assert "it unpacks to 0 MB, more than" in refused(passages_of, path)


def test_an_archive_that_states_a_smaller_size_is_not_unpacked_further(tmp_path):
    path = write_word(tmp_path / "a.docx", paragraph("The mill. " * 1000))
    size = len(zipfile.ZipFile(path).read("word/document.xml"))
    path.write_bytes(path.read_bytes().replace(size.to_bytes(4, "little"), (9).to_bytes(4, "little")))
    assert "not a readable .docx (Bad CRC-32 for file 'word/document.xml')" in refused(passages_of, path)


def test_files_of_open_documents_are_ignored_and_the_rest_is_read(tmp_path, capsys):
    write_word(tmp_path / "a.docx", paragraph("The mill."))
    (tmp_path / "~$a.docx").write_bytes(b"owner")
    (tmp_path / "b.pptx").write_bytes(OLD)
    assert [one.text for one in passages_of(tmp_path)] == ["The mill.", ""]
    said = capsys.readouterr().err
    assert "ignored 1 hidden or other files (~$a.docx)" in said and "left out 1 file that cannot be read" in said


def test_a_document_without_text_is_told(tmp_path):
    write_word(tmp_path / "a.docx", paragraph(" "))
    assert "a.docx: there is no text in it" in refused(passages_of, tmp_path / "a.docx")
    deck = Presentation()
    deck.slides.add_slide(deck.slide_layouts[6])
    deck.save(str(tmp_path / "b.pptx"))
    assert "b.pptx: there is no text in it (pictures?)" in refused(passages_of, tmp_path / "b.pptx")


def test_a_reader_that_is_not_installed_is_named_with_its_extra_before_any_file_is_read(tmp_path, monkeypatch):
    files = [tmp_path / name for name in ("a.txt", "b.docx", "c.xlsx.gz")]
    assert missing_packages(files) == {}
    monkeypatch.setattr(documents, "find_spec", lambda module: None)
    monkeypatch.setattr("litm.base.messages.is_clone", lambda: False)
    assert missing_packages(files) == {".docx": "mammoth", ".xlsx": "python-calamine"}
    for file in files:
        file.write_text("x")
    assert refused(passages_of, tmp_path) == (
        f"{tmp_path}/b.docx: the package mammoth, which reads .docx, is not installed: "
        "pip install 'lost-in-the-middle[documents]'"
    )
