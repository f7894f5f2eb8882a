"""What people bring: documents as converters, text splitters, mail programs and scanners write them."""

import base64
import contextlib
import io
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brought_study import DOCUMENTS, QUESTIONS, TOWNS, is_said, judged, study
from outcomes import RIGHT, WRONG, Arena, Case, Outcome, refused
from pdf_files import write_pdf
from pypdf import PdfWriter

from litm.base.messages import UserError
from litm.corpora.documents import documents
from litm.corpora.passages import CorpusSettings, Passage
from litm.questions.own_questions import OwnQuestion
from litm.retrieval.gold import find_named

MILL, OAK = "The mill was built in 1701.", "The bridge is made of oak."
#: Files that a folder has beside those of a variant.
SOUND = {f"sound{number}.txt": f"Sound text {number}." for number in range(3)}
SOUND_TEXTS = [*SOUND.values()]
DRAWN = random.Random(0)
PICTURE = base64.b64encode(DRAWN.randbytes(3000)).decode()
URI = f"data:image/png;base64,{PICTURE}"
NUMBERS = [{"t": DRAWN.random(), "v": DRAWN.random()} for _ in range(50)]


@dataclass(frozen=True)
class Read:
    """Documents that are read. content: of the file, or how it is written; texts: of its passages; noted: words of the
    notes, () for no note; others: files beside it, whose texts are read too.
    """

    file: str
    content: str | bytes | Callable[[Path], object]
    texts: Sequence[str]
    noted: tuple[str, ...] = ()
    others: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Refused:
    """Documents that are refused with these words."""

    file: str
    content: str | bytes | Callable[[Path], object]
    words: tuple[str, ...]


def _lines(*records: Any) -> str:
    return "".join(f"{record if isinstance(record, str) else json.dumps(record)}\n" for record in records)


def _langchain(*texts: str, **metadata: Any) -> list[dict]:
    """The chunks of one page each, as PyMuPDFLoader counts them."""
    return [
        {"page_content": text, "metadata": {"source": "guide.pdf", "total_pages": len(texts), "page": page, **metadata}}
        for page, text in enumerate(texts)
    ]


def _locked(path: Path) -> None:
    writer = PdfWriter(write_pdf(path, [MILL]))
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(path)


def _cut_short(path: Path) -> None:
    whole = write_pdf(path, [MILL]).read_bytes()
    path.write_bytes(whole[: len(whole) // 3])


def _scan(*pages: str) -> Callable[[Path], object]:
    return lambda path: write_pdf(path, pages)


DATA = ("characters of pictures and other data in the text",)
EMBEDDED = {
    "Markdown, a picture inside": Read(
        "a.md", f"{MILL}\n\n![a mill]({URI})\n\n{OAK}", [f"{MILL} ![a mill]() {OAK}"], DATA
    ),
    "Markdown, pictures as references": Read(
        "a.md", f"{MILL} ![][image1]\n\n[image1]: <{URI}>\n", [f"{MILL} ![][image1] [image1]: <>"], DATA
    ),
    "Markdown, an element of HTML": Read(
        "a.md", f'{MILL} <img alt="mill" src="{URI}" width="20">', [f'{MILL} <img alt="mill" src="" width="20">'], DATA
    ),
    "Markdown, a drawing": Read(
        "a.md", f"![x](data:image/svg+xml;charset=utf-8,{'%3Csvg' * 40}) {OAK}", [f"![x]() {OAK}"], DATA
    ),
    "Markdown, a small picture": Read(
        "a.md", f"{OAK} ![x](data:image/gif;base64,R0lGODlhAQABAAAAACw=)",
        [f"{OAK} ![x](data:image/gif;base64,R0lGODlhAQABAAAAACw=)"],
    ),
    "HTML, a picture inside": Read("a.html", f'<p>{MILL}</p><img src="{URI}"><p>{OAK}</p>', [f"{MILL} {OAK}"]),
    "HTML, a picture as text": Read("a.html", f"<p>{MILL}</p><pre>{URI}</pre>", [MILL], DATA),
    "HTML, code and comments": Read(
        "a.html", f"<style>p{{}}</style><!-- {PICTURE} --><p>{MILL}</p><script>a={json.dumps(NUMBERS)}</script>", [MILL]
    ),
    "a mail, an attachment": Read(
        "a.txt", f"{MILL}\n\n--b1\n{base64.encodebytes(DRAWN.randbytes(2000)).decode()}", [], DATA
    ),
    "a certificate": Read(
        "a.txt",
        "\n".join([OAK, *(PICTURE[start : start + 64] for start in range(0, 640, 64)), MILL]), [f"{OAK} {MILL}"], DATA,
    ),
    "sums of files": Read("a.txt", "\n".join(["ab12" * 16] * 6), [" ".join(["ab12" * 16] * 6)]),
    "minified JSON": Read("a.txt", f"{MILL} {json.dumps(NUMBERS, separators=(',', ':'))}", [MILL], DATA),
    "minified code": Read("a.md", f"{MILL}\n{'!function(e){t=e+1};' * 90}\n{OAK}", [f"{MILL} {OAK}"], DATA),
    "a long address": Read("a.txt", f"{OAK} http://x.org/?{'a=1&' * 200}", [f"{OAK} http://x.org/?{'a=1&' * 200}"]),
    "Chinese without spaces": Read("a.txt", "桥是橡木做的。" * 14, ["桥是橡木做的。" * 14]),
    "a chunk with a picture": Read("a.json", json.dumps(_langchain(f"{MILL}\n![]({URI})")), [f"{MILL} ![]()"], DATA),
    "a row with a picture": Read("a.csv", f'text\n"{MILL}\n{URI}"\n', [MILL], DATA),
}  # fmt: skip

EMPTY = ("left out 1 document without text",)
LOST = {
    "LangChain, a blank page": Read("a.json", json.dumps(_langchain(MILL, "", OAK)), [MILL, OAK], EMPTY),
    "LangChain, white space": Read("a.json", json.dumps(_langchain(MILL, " \n\n", OAK)), [MILL, OAK], EMPTY),
    "LangChain, only signs that nobody sees": Read(
        "a.json", json.dumps(_langchain(MILL, "\u200b\ufeff\0", OAK)), [MILL, OAK], EMPTY
    ),
    "a page break of unstructured": Read(
        "a.json",
        json.dumps([
            {"type": "NarrativeText", "element_id": "e1", "text": MILL, "metadata": {"page_number": 1}},
            {"type": "PageBreak", "element_id": "e2", "text": "", "metadata": {}},
        ]),
        [MILL], EMPTY,
    ),
    "BEIR, an empty text": Read(
        "corpus.jsonl",
        _lines({"_id": "1", "text": MILL}, {"_id": "2", "title": "", "text": ""}, {"_id": "3", "text": OAK}),
        [MILL, OAK], EMPTY,
    ),
    "null and a missing key": Read(
        "a.jsonl", _lines({"text": MILL}, {"text": None}, {"title": "x"}, {"text": OAK}), [MILL, OAK],
        ("left out 2 documents without text", "a.jsonl: 2"),
    ),
    "NaN of pandas": Read(
        "a.json", json.dumps([{"text": MILL}, {"text": float("nan")}, {"text": OAK}]), [MILL, OAK], EMPTY
    ),
    "an element that is a text": Read("a.json", json.dumps([{"text": MILL}, "x", {"text": OAK}]), [MILL, OAK], EMPTY),
    "a last line that is cut": Read(
        "a.jsonl", _lines({"text": MILL}, {"text": OAK}) + '{"text": "The m', [MILL, OAK], EMPTY
    ),
    "a first line that is cut": Read("a.jsonl", 'ill."}\n' + _lines({"text": MILL}, {"text": OAK}), [MILL, OAK], EMPTY),
    "a .json of Hugging Face's datasets": Read(
        "a.json", _lines({"text": MILL}, {"text": None}, {"text": OAK}), [MILL, OAK], EMPTY
    ),
    "an empty cell": Read("a.csv", f"id,text\n1,{MILL}\n2,\n3,{OAK}\n", [MILL, OAK], EMPTY),
    "most without text": Refused(
        "a.jsonl", _lines({"text": ""}, {"body": OAK}, {"text": MILL}), ("a.jsonl, line 1", "2 of 3")
    ),
    "text under another name": Refused("a.jsonl", _lines({"body": OAK}, {"body": MILL}), ("a.jsonl, line 1", "'text'")),
    "scanned pages among others": Read(
        "a.pdf", _scan(MILL, "", "", "", OAK), [MILL, OAK], ("left out 3 pages without text", "a.pdf: 3")
    ),
    "a scan": Refused("a.pdf", _scan("", ""), ("a.pdf", "a scan?")),
}  # fmt: skip

UNREAD = ("left out 1 file that cannot be read", "a.")
UNREADABLE = {
    "Windows-1252": Read("a.txt", "Größe: 5".encode("cp1252"), [], (*UNREAD, "not UTF-8"), SOUND),
    "Shift-JIS": Read("a.md", "橋は樫の木でできている。".encode("shift_jis"), [], (*UNREAD, "not UTF-8"), SOUND),
    "an accent late in a long file": Read(
        "a.txt", b"fine text\n" * 9000 + b"Gr\xf6\xdfe", [], (*UNREAD, "not UTF-8"), SOUND
    ),
    "a table in Windows-1252": Read("a.csv", "text\nGröße\n".encode("cp1252"), [], (*UNREAD, "not UTF-8"), SOUND),
    "a table of numbers": Read("a.csv", "t,v\n0.1,0.2\n", [], (*UNREAD, "column 'text'"), SOUND),
    "JSON that is cut": Read("a.json", '[{"text": "x"}, {"te', [], (*UNREAD, "not valid JSON"), SOUND),
    "packed, and cut": Read("a.txt.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\xff", [], (*UNREAD, "compressed"), SOUND),
    "an empty file": Read("a.txt", "", [], (*UNREAD, "no text"), SOUND),
    "an empty list": Read("a.json", "[]", [], (*UNREAD, "no text"), SOUND),
    "an empty page": Read("a.html", "<script>x()</script>", [], (*UNREAD, "no text"), SOUND),
    "a scan among others": Read("a.pdf", _scan(""), [], (*UNREAD, "a scan?"), SOUND),
    "a PDF with a password": Read("a.pdf", _locked, [], (*UNREAD, "password"), SOUND),
    "a PDF that is cut": Read("a.pdf", _cut_short, [], UNREAD, SOUND),
    "an empty PDF": Read("a.pdf", b"", [], UNREAD, SOUND),
    "a page of an error as a PDF": Read("a.pdf", b"<html>404</html>", [], UNREAD, SOUND),
    "all in another encoding": Refused("a.txt", "Größe".encode("cp1252"), ("a.txt: not UTF-8 text",)),
}  # fmt: skip


def _read(variants: Mapping[str, Read | Refused]) -> Callable[[Arena], Iterator[Outcome]]:
    def run(arena: Arena) -> Iterator[Outcome]:
        for number, (name, variant) in enumerate(variants.items()):
            yield _outcome(name, variant, arena.folder / str(number))

    return run


def _outcome(name: str, variant: Read | Refused, folder: Path) -> Outcome:
    folder.mkdir()
    others = variant.others or {} if isinstance(variant, Read) else {}
    for other, text in others.items():
        (folder / other).write_text(text)
    path = folder / variant.file
    if callable(variant.content):
        variant.content(path)
    else:
        path.write_bytes(variant.content if isinstance(variant.content, bytes) else variant.content.encode())
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            texts = [one.text for _, one in documents(folder, CorpusSettings(100)) if one.text]
    except UserError as error:
        is_right = isinstance(variant, Refused) and all(word in str(error) for word in variant.words)
        return refused(name, str(error)) if is_right else Outcome(name, WRONG, f"refused: {error}")
    if isinstance(variant, Refused):
        return Outcome(name, WRONG, f"read: {texts}")
    wanted = [*variant.texts, *others.values()]
    # What is left of the last line of an attachment does not matter.
    is_right = texts == wanted or (not variant.texts and not others and len(texts) == 1 and len(texts[0]) < 150)
    notes = said.getvalue()
    is_noted = all(word in notes for word in variant.noted) and bool(variant.noted) == bool(notes)
    return Outcome(name, RIGHT if is_right and is_noted else WRONG, f"{texts} {notes}"[:600])


ANSWERS = tuple(who for _, who in TOWNS.values())


def _page_chunks(start: int, metadata: Callable[[int], dict]) -> str:
    """A chunk for each town on a page of its own. metadata: of a page, from 0."""
    texts = [f"{who} paid for it." for who in ANSWERS]
    chunks = [{"page_content": text, "metadata": metadata(page)} for page, text in enumerate(texts)]
    return json.dumps(chunks[start:])


PDF = {"source": "/home/me/guide.pdf"}
#: Metadata of a page (from 0) by program, and the page (from 0) of the first chunk.
PAGED: dict[str, tuple[Callable[[int], dict], int]] = {
    "PyPDFLoader": (lambda page: {**PDF, "total_pages": 10, "page": page, "page_label": str(page + 1)}, 0),
    "PyPDFLoader, old": (lambda page: {**PDF, "page": page}, 0),
    "PyMuPDFLoader": (lambda page: {**PDF, "file_path": "x", "total_pages": 10, "title": "", "page": page}, 0),
    "PyMuPDFLoader, blank cover": (lambda page: {**PDF, "total_pages": 10, "page": page}, 1),
    "PDFPlumberLoader": (lambda page: {**PDF, "file_path": "x", "page": page, "total_pages": 10}, 0),
    "LlamaIndex": (lambda page: {"page_label": str(page + 1), "file_name": "guide.pdf"}, 0),
    "LlamaIndex, PyMuPDFReader": (lambda page: {"file_path": "/d/guide.pdf", "source": str(page + 1)}, 0),
    "Haystack": (lambda page: {"file_path": "guide.pdf", "page_number": page + 1, "split_id": page}, 0),
    "unstructured": (lambda page: {"filename": "guide.pdf", "page_number": page + 1}, 0),
    "pandas": (lambda page: {**PDF, "page": float(page)}, 0),
    "chunks of a paper": (lambda page: {**PDF, "page_numbers": [page + 1]}, 0),
    "front matter in Roman numbers": (
        lambda page: {**PDF, "page": page, "page_label": str(page - 2) if page > 2 else "i" * (page + 1)}, 3,
    ),
}  # fmt: skip


def _pages(arena: Arena) -> Iterator[Outcome]:
    """Tables that count from 1 and from 0, on chunks of every program: the passage is the one with the answer."""
    for number, (name, (metadata, start)) in enumerate(PAGED.items()):
        folder = arena.folder / str(number)
        folder.mkdir()
        (folder / "chunks.json").write_text(_page_chunks(start, metadata))
        passages = [passage for _, passage in documents(folder, CorpusSettings(None))]
        for base in (1, 0):
            for asked in (range(start, 10), range(start + 2, start + 5)):
                case = f"{name}, a table from {base}, {len(asked)} pages"
                yield _named(case, passages, [(page + base, ANSWERS[page]) for page in asked])


def _named(case: str, passages: Sequence[Passage], pages: Sequence[tuple[int, str]]) -> Outcome:
    questions = [OwnQuestion(who, (who,), line, "guide.pdf", page) for line, (page, who) in enumerate(pages, start=2)]
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            named = find_named(questions, passages, Path("questions.csv"))
    except UserError as error:
        return refused(case, str(error))
    texts = {passage.id: passage.text for passage in passages}
    shown = [[texts[id_] for id_ in one.passages] if one else [] for one in named]
    is_right = all(who in " ".join(some) for some, (_, who) in zip(shown, pages, strict=True))
    return Outcome(case, RIGHT if is_right else WRONG, f"{shown} {said.getvalue()}"[:600])


CONFIG: dict[str, Any] = {"models": ["served"], "my_data": {"documents": "docs", "questions": "questions.csv"}}


def _table(*rows: str, header: str = "question,answer,file") -> str:
    return "\n".join((header, *rows)) + "\n"


QUESTION_ROWS = [f"{question},{answer}" for question, answer in QUESTIONS.items()]
NAMED_ROWS = [f"{row},{town}.txt" for row, town in zip(QUESTION_ROWS, TOWNS, strict=True)]


def _is_exact(found: Any) -> bool:
    return set(found.accuracy()) == {1.0}


def _shifted(arena: Arena) -> Iterator[Outcome]:
    chunks = json.dumps(_langchain(*DOCUMENTS.values(), ""))
    rows = [f"{row},guide.pdf,{page}" for page, row in enumerate(QUESTION_ROWS, start=1)]
    table = _table(*rows, header="question,answer,file,page")
    found = study(arena, {"docs/chunks.json": chunks, "questions.csv": table}, CONFIG)
    said = ("page 1 is taken to be page 0", "left out 1 document without text")
    yield judged("pages from 0 and a blank page", found, lambda it: _is_exact(it) and is_said(it, *said))


def _swollen(arena: Arena) -> Iterator[Outcome]:
    picture = base64.b64encode(DRAWN.randbytes(60_000)).decode()
    files = {**DOCUMENTS, "docs/a.md": f"# Notes\n\n![x](data:image/png;base64,{picture})\n\nThe bridge is of stone.\n"}
    model = {"served": {"context_window": 4096}}
    found = study(arena, {**files, "questions.csv": _table(*NAMED_ROWS)}, {**CONFIG, "define": {"models": model}})
    yield judged(
        "a picture in Markdown",
        found,
        lambda it: _is_exact(it) and is_said(it, "80,022 characters of pictures", "a.md"),
    )


def _unread(arena: Arena) -> Iterator[Outcome]:
    files = {**DOCUMENTS, "docs/Arvik.txt": "Größe".encode("cp1252")}
    found = study(arena, {**files, "questions.csv": _table(*NAMED_ROWS)}, CONFIG)
    said = ("1 questions have no gold passage, because their files are left out: Arvik.txt", "not UTF-8")
    yield judged("a question on a file that cannot be read", found, lambda it: _is_exact(it) and is_said(it, *said))


def _nowhere(arena: Arena) -> Iterator[Outcome]:
    table = _table(*(f"{question},nobody" for question in QUESTIONS), header="question,answer")
    found = study(arena, {**DOCUMENTS, "questions.csv": table}, CONFIG)
    is_whole = is_said(found, "no question has a gold passage (none of the answers is in the")
    outcome = judged("answers that are nowhere", found, lambda _: False)
    yield outcome if is_whole else Outcome(outcome.case, WRONG, found.said[-800:])


CASES = [
    Case("embedded data", _read(EMBEDDED), fast=True),
    Case("texts that are missing", _read(LOST), fast=True),
    Case("files that cannot be read", _read(UNREADABLE), fast=True),
    Case("pages by program", _pages, fast=True),
    Case("pages of chunks from 0, a study", _shifted),
    Case("a picture in Markdown, a study", _swollen),
    Case("a file that cannot be read, a study", _unread),
    Case("answers that are nowhere, a study", _nowhere),
]
