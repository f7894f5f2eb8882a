"""Web pages, PDFs and chunks of text splitters as documents."""

import hashlib
import json
from pathlib import Path

import pytest
from pdf_files import write_pdf
from programs import refused, run_program

from litm.corpora.chunks import is_chunk, read_chunk
from litm.corpora.documents import documents, has_chunks
from litm.corpora.embedded_data import without_data
from litm.corpora.html import article_text, html_text
from litm.corpora.passages import (
    SHARDS,
    CorpusSettings,
    Passage,
    copies_of,
    corpus_passages,
    cut_text,
    left_out_of,
    write_shards,
)

PAGE = """<html><head><title>The  mill</title><style>p {color: red}</style></head><body><nav>Home About</nav>
<p>Built in <b>17</b>00 &amp; rebuilt<br>later.</p><script>var x = "no";</script></body></html>"""
NODE = {"text": "The mill.", "metadata": {"file_path": "/data/guide.pdf", "page_label": "4", "headings": ["Towns"]}}
CHUNK = {"page_content": "The mill.", "metadata": {"source": "/data/guide.pdf", "page": 4, "Header 1": "Towns"}}

PAPER_CHUNK = {
    "content": "The mill.", "heading_hierarchy": ["Guide", "Towns"], "page_numbers": [4, 5],
    "metadata": {"source": "/data/guide.pdf", "chunk_index": 0},
}  # fmt: skip


def passages_of(path: Path, words: int | None = None) -> list[Passage]:
    return [passage for _, passage in documents(path, CorpusSettings(words))]


def test_a_web_page_is_its_title_and_what_people_read():
    title, text = html_text(PAGE)
    assert (title, " ".join(text.split())) == ("The mill", "Built in 1700 & rebuilt later.")
    # Pronunciations are left out, also where their end tags are.
    ruby = "<p>は<ruby>鈴木<rp>(</rp><rt>すずき</rt><rp>)</rp></ruby>一<ruby>郎<rt>ろう</ruby>、<ruby>漢<rt>かん</p>字"
    assert html_text(ruby)[1].split() == ["は鈴木一郎、漢", "字"]
    marked = "<ruby>鈴<rt><span>す</span><!-- x -->ず</rt>木<rtc>き</rtc></ruby>は<ruby>修<rt>し<rb>一</ruby>と"
    assert html_text(f"{marked}<rt-text>医</rt-text>")[1].split() == ["鈴木は修一と", "医"]
    assert cut_text(html_text("<p>伊藤\n  修<br>は<p>医")[1], None) == ["伊藤修 は 医"]
    assert html_text("<body>Menu<main><p>Text</p></main>Imprint</body>")[1].split() == ["Text"]


PROSE = "The mill was built of oak in 1700, and the town has ground its corn there ever since, but for two winters. "
AROUND = {
    "header": '<header><a href="/">Home</a> <a href="/news">News of the town</a></header>',
    "banner": '<div class="cookie-banner"><p>We and our partners store cookies.</p><button>Accept</button></div>',
    "comments": "<div id=comments><p>Lovely mill!</p><p>I was there in spring.</p></div>",
    "footer": "<footer><p>Imprint</p><p>All rights reserved by the town of Ash</p></footer>",
}


def test_a_page_is_its_article_without_header_cookie_banner_comments_and_footer(tmp_path, capsys):
    story = "".join(f"<p>{number}. {PROSE * 2}</p>" for number in range(4))
    page = f"<title>Mill</title>{AROUND['header']}{AROUND['banner']}<article><h1>Mill</h1>{story}</article>"
    page += AROUND["comments"] + AROUND["footer"]
    title, text, around = article_text(page)
    assert title == "Mill" and " ".join(text.split()) == "Mill " + " ".join(
        f"{n}. {PROSE * 2}".strip() for n in range(4)
    )
    assert around == 28
    assert article_text(page) == (title, text, around)
    (tmp_path / "a.html").write_text(page)
    passages_of(tmp_path)
    said = capsys.readouterr().err
    assert said == f"{tmp_path}: left out 28 words around the articles of web pages ({tmp_path}/a.html: 28)\n"


@pytest.mark.parametrize(
    "page",
    [
        # Saved by an office program: nothing marks what is around an article.
        f"<div><p>{PROSE * 9}</p></div><div class=WordSection2><p>Short.</p><table><tr><td>Ash</table></div>",
        # A table, a list of links, a short page, and damage.
        f"{AROUND['header']}<table>{'<tr><td>Ash<td>1700' * 40}</table>",
        f"{AROUND['header']}<ul>{'<li><a href=x>The mill of Ash</a>' * 40}</ul>{AROUND['footer']}",
        f"{AROUND['header']}<p>The mill.</p>{AROUND['footer']}",
        f"{AROUND['header']}<?xml <![CDATA[ \0 <p>The mill",
        "<header></header>",
    ],
)
def test_a_page_without_an_article_keeps_its_text(page):
    assert article_text(page) == (*html_text(page), 0)


def test_an_article_stands_for_a_page_from_three_fifths_of_its_prose_on(monkeypatch):
    page = AROUND["header"] + f"<p>{PROSE}</p>" * 10 + "<p>The mill.</p>"
    for paragraphs, is_used in ((5, False), (6, True), (10, True)):
        monkeypatch.setattr("litm.corpora.html._article", lambda _, many=paragraphs: f"{PROSE}\n\n" * many)
        assert (article_text(page)[2] > 0) is is_used


def test_web_pages_markdown_and_pages_of_a_pdf_are_documents_that_say_where_they_are_from(tmp_path):
    (tmp_path / "mill.html").write_text(PAGE)
    (tmp_path / "notes.md").write_text("# Notes\n\nOn mills.")
    write_pdf(tmp_path / "guide.pdf", ["First page.", "", "Third page."])
    read = passages_of(tmp_path)
    assert read == [
        Passage("guide.pdf:1:0", "guide", "First page.", page=1),
        Passage("guide.pdf:3:0", "guide", "Third page.", page=3),
        Passage("mill.html:0", "The mill", "Built in 1700 & rebuilt later."),
        Passage("notes.md:0", "notes", "# Notes On mills."),
    ]
    assert read[1].files == ["guide.pdf", "guide.pdf:3", "guide.pdf:3:0"]


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(CHUNK, id="langchain"),
        pytest.param({"lc": 1, "type": "constructor", "kwargs": CHUNK}, id="langchain dump"),
        pytest.param({"node": NODE, "score": 0.5}, id="llamaindex"),
        {"content": "The mill.", "meta": {"file_name": "/data/guide.pdf", "page_number": 4, "heading": "Towns"}},
    ],
)
def test_chunks_of_every_library_have_text_file_page_and_headings(record):
    chunk, _ = read_chunk(record, "x")
    assert (chunk.text, chunk.file, chunk.page, chunk.title) == ("The mill.", "/data/guide.pdf", 4, "Towns")
    assert is_chunk(record) and not is_chunk({"text": "a row of a table", "title": "T"})


@pytest.mark.parametrize(
    ("metadata", "file", "page"),
    [
        ({"source": "g.pdf", "page": 3, "page_label": "iv"}, "g.pdf", None),
        ({"source": "g.pdf", "page": 3, "page_label": "A-3"}, "g.pdf", None),
        ({"source": "g.pdf", "page": 3, "page_label": ""}, "g.pdf", 3),
        ({"source": "g.pdf", "page": 3, "page_label": "1"}, "g.pdf", 1),
        ({"source": "g.pdf", "page": 3.0}, "g.pdf", 3),
        ({"source": "4", "file_path": "g.pdf", "total_pages": 9}, "g.pdf", 4),
        ({"source": "4"}, "4", None),
    ],
)
def test_a_chunk_has_its_printed_page_or_the_splitters_and_never_one_for_the_other(metadata, file, page):
    chunk, _ = read_chunk({"text": "x", "metadata": metadata}, "x")
    assert (chunk.file, chunk.page) == (file, page)


def test_the_score_next_to_or_inside_a_chunk_is_read():
    assert read_chunk({"node": {"text": "a"}, "score": 0.5}, "x")[1] == 0.5
    assert read_chunk({"document": {"page_content": "a", "score": "2"}}, "x")[1] == 2
    assert read_chunk({"text": "a"}, "x")[1] is None
    # As LangChain's rerankers write it.
    assert read_chunk({"page_content": "a", "metadata": {"relevance_score": 0.5}}, "x")[1] == 0.5
    assert read_chunk({"page_content": "a", "metadata": {"relevance_score": "high"}}, "x")[1] is None


def test_a_title_that_pandas_has_as_nan_is_none():
    assert read_chunk({"text": "a", "title": float("nan")}, "x")[0].title == ""


def test_a_list_of_chunks_is_read_with_the_line_of_each(tmp_path):
    path = tmp_path / "chunks.json"
    path.write_text(json.dumps([CHUNK, {"page_content": "b", "id": "own", "metadata": {}}], indent=1))
    first, second = passages_of(path)
    assert first == Passage("chunks.json:2:0", "Towns", "The mill.", "/data/guide.pdf", 4)
    assert second.id == "own" and has_chunks(path)
    # Those on one line have ids of their own.
    path.write_text('[{"content": "a"}, {"content": "b"},\n {"content": "c"}]')
    assert [passage.id for passage in passages_of(path)] == ["chunks.json:1:0", "chunks.json:1.2:0", "chunks.json:2:0"]


@pytest.mark.parametrize("name", ["chunks.json", "chunks.jsonl"])
def test_chunks_of_a_paper_have_their_headings_as_title_and_all_their_pages(tmp_path, name):
    stated = {key: PAPER_CHUNK[key] for key in ("heading_hierarchy", "page_numbers")}
    inside = {"content": "The mill.", "metadata": {**PAPER_CHUNK["metadata"], **stated}}
    records, path = [PAPER_CHUNK, inside], tmp_path / name
    path.write_text(json.dumps(records) if name.endswith(".json") else "\n".join(map(json.dumps, records)))
    assert has_chunks(path)
    for passage in passages_of(path):
        assert (passage.text, passage.title) == ("The mill.", "Guide > Towns")
        assert (passage.file, passage.pages) == ("/data/guide.pdf", (4, 5))


def test_the_origin_of_a_passage_is_kept_in_the_shards_and_is_optional(tmp_path):
    known, plain = Passage("a", "T", "x", "f.pdf", 3), Passage("b", "T", "y")
    spanning, path = Passage("c", "T", "z", "f.pdf", 3, (4, 7)), tmp_path / "manifest.json"
    path.write_text(json.dumps(write_shards([known, plain, spanning], tmp_path / "shards", 10, 1)))
    assert list(corpus_passages(path)) == [known, plain, spanning]
    alone = write_shards([plain], tmp_path / "shards", 10, 1)
    line = b'{"id": "b", "title": "T", "text": "y"}\n'
    assert alone["shards"][0]["sha256"] == hashlib.sha256(line).hexdigest()


def test_documents_lose_characters_that_nobody_sees_but_khmer_keeps_those_between_its_words(tmp_path):
    hidden = "Rechts\u00ada\u2060mt\ufeff im\u200b \u1780\u200b\u1781"
    page = "<p>Rechts&shy;amt im&#8203; \u1780\u200b\u1781"
    files = {"a.html": page, "b.md": hidden, "c.csv": f"text\n{hidden}\n", "d.json": json.dumps([{"text": hidden}])}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert [one.text for one in passages_of(tmp_path, 100)] == ["Rechtsamt im \u1780\u200b\u1781"] * len(files)


def test_a_passage_with_the_title_and_text_of_an_earlier_one_is_its_copy_unless_it_has_an_id(tmp_path):
    files = {
        "a.txt": "one two three", "b/a.txt": "one two four", "b/c.txt": "one two",
        "d.csv": "id,title,text\nx,a,one two\ny,a,one two\n",
    }  # fmt: skip
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    assert {one.id: one.copy_of for one in passages_of(tmp_path, 2)} == {
        "a.txt:0": None, "a.txt:1": None, "b/a.txt:0": "a.txt:0", "b/a.txt:1": None, "b/c.txt:0": None, "x": None,
        "y": None,
    }  # fmt: skip
    done = run_program(
        *("make_passages", "--source", "documents", "--settings", '{"passage_words": 2}', "--input", tmp_path),
        *("--passages-per-shard", 9, "--shards", 1, "--folder", tmp_path / "s" / SHARDS),
        *("--manifest", tmp_path / "s" / "m.json"),
    )
    assert "6 passages of 1.7 words in 1 of 1 shards; left out as copies of these: 1" in done.stderr
    assert copies_of(tmp_path / "s" / "m.json") == [Passage("b/a.txt:0", "a", "", copy_of="a.txt:0")]


def test_characters_that_cannot_be_read_are_left_out_and_told_by_file_and_page(tmp_path, capsys):
    write_pdf(tmp_path / "a.pdf", ["The mill", "b\0\0r\1idge"])
    (tmp_path / "b.txt").write_text("\x00\ue000oak\x0c\ufffd \x9f\U00100000elm")
    assert [one.text for one in passages_of(tmp_path, 100)] == ["The mill", "bridge", "oak \ufffd elm"]
    assert capsys.readouterr().err.splitlines() == [
        f"{tmp_path}: left out 7 characters that cannot be read ({tmp_path}/a.pdf, page 2: 3, {tmp_path}/b.txt: 4)"
    ]


BASE64 = "iVBORw0KGgoAAAANSUhEUgAA" * 3


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        ([f"![a mill](data:image/png;base64,{BASE64 * 2}) oak"], ["![a mill]() oak"]),
        ([f"[1]: <data:image/svg+xml;charset=utf-8,{'%3C' * 50}>"], ["[1]: <>"]),
        (["a mill", *[BASE64] * 4, BASE64[:50]], ["a mill", BASE64[:50]]),
        (["a mill", "x" * 1000, f"({'[1,2]' * 300}) oak"], ["a mill", "", " oak"]),
        # Texts with spaces, addresses, short pictures, sums, and scripts without spaces.
        *(
            (lines, lines)
            for lines in (
                [BASE64] * 3,
                ["ab12" * 16] * 9,
                [BASE64[:60], BASE64[:61], BASE64[:62], BASE64[:63]],
                ["data:image/gif;base64,R0lGODlhAQABAAAAACw=", f"http://x.org/{'a' * 900}", "1 2.5 3 " * 400],
                ["桥是橡木做的。" * 300, "สะพาน" * 300],
            )
        ),
    ],
)
def test_embedded_data_is_left_out_and_its_characters_are_counted(lines, kept):
    cut = []
    assert [*without_data(lines, cut.append)] == kept
    assert sum(cut) == len("".join(lines)) - len("".join(kept))


def test_what_is_left_out_is_counted_by_file_and_a_file_is_a_passage_without_text(tmp_path, capsys):
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(f"Text {number}.")
    for name in ("a", "b", "c", "d"):
        (tmp_path / f"{name}.txt").write_bytes(b"Gr\xf6\xdfe")
    (tmp_path / "e.jsonl").write_text('{"text": "A mill."}\n{"text": ""}\n{"text": "x", "id": "own"}\n{"text":')
    write_pdf(tmp_path / "f.pdf", ["", "", "A bridge."])
    read = passages_of(tmp_path)
    texts = [*(f"Text {number}." for number in range(5)), "", "", "", "", "A mill.", "x", "A bridge."]
    assert [one.text for one in read] == texts
    assert [one.id for one in read if not one.text] == ["a.txt", "b.txt", "c.txt", "d.txt"]
    pages, entries, files = capsys.readouterr().err.splitlines()
    assert pages == f"{tmp_path}: left out 2 pages without text ({tmp_path}/f.pdf: 2)"
    assert entries == f"{tmp_path}: left out 2 documents without text or not readable as JSON ({tmp_path}/e.jsonl: 2)"
    assert files.startswith(f"{tmp_path}: left out 4 files that cannot be read: {tmp_path}/a.txt: not UTF-8 text")
    assert files.endswith("and 1 more")


def test_folders_of_which_most_files_cannot_be_read_are_refused(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_bytes(b"Gr\xf6\xdfe")
    (tmp_path / "c.txt").write_text("Text.")
    assert refused(passages_of, tmp_path).endswith("(2 of 3 files cannot be read)")


def test_a_corpus_says_in_its_manifest_which_files_it_was_made_without(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("A mill.")
    (tmp_path / "in" / "b.pdf").write_text("no pdf")
    run_program(
        *("make_passages", "--source", "documents", "--settings", "{}", "--input", tmp_path / "in"),
        *("--passages-per-shard", 9, "--shards", 1, "--folder", tmp_path / SHARDS, "--manifest", tmp_path / "m.json"),
    )
    assert left_out_of(tmp_path / "m.json") == [Passage("b.pdf", "", "")]
    assert [one.id for one in corpus_passages(tmp_path / "m.json")] == ["a.txt:0"]


@pytest.mark.parametrize("header", ["id;title;text\n", "sep=;\r\nid;title;text\r\n"])
def test_a_table_as_excel_writes_it_is_documents_that_say_their_file(tmp_path, header):
    (tmp_path / "tickets.csv").write_text(f'\ufeff{header}T-1;Screen;"Black, then; F9"\n')
    assert passages_of(tmp_path) == [Passage("T-1", "Screen", "Black, then; F9", "tickets.csv")]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.pdf", "no pdf", "a.pdf, after page 0: not a readable PDF"),
        ("a.html", "<script>x</script>", "a.html: there is no text in it"),
        ("a.md", "x" * 1000, "a.md: only data such as base64 or minified code is in it; remove the file"),
        ("a.json", "[]", "a.json: there is no text in it"),
        ("a.json", "7", "a.json: expected a list of JSON objects"),
        ("a.json", '[7,\n 8]', "a.json, line 1, element 1: expected a JSON object with a 'text', found 7"),
        ("a.json", '[{"text": "x"},\n {"text": }]', "a.json: not valid JSON (Expecting value, line 2, column 11)"),
        ("a.json", '[{"page_content": " "}]', "json, line 1, element 1: 'page_content' must be text that is not empty"),
        (
            "a.json", json.dumps([PAPER_CHUNK, {**PAPER_CHUNK, "page_numbers": ["iv"]}]),
            "a.json, line 1, element 2: 'page_numbers' must be a list of whole numbers from 0, but has 'iv'",
        ),
        (
            "a.jsonl", json.dumps({**PAPER_CHUNK, "heading_hierarchy": [{"level": 1}]}),
            "a.jsonl, line 1: 'heading_hierarchy' must be a list of headings in quotes, but has {'level': 1}",
        ),
        ("a.jsonl", '{"text": "x", "score": "high"}', "a.jsonl, line 1: the score must be a number, found 'high'"),
    ],
)  # fmt: skip
def test_a_document_that_cannot_be_read_is_one_line_with_its_place(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    assert said in refused(passages_of, tmp_path)
    assert "there is no text in it (a scan?)" in refused(passages_of, write_pdf(tmp_path / "scan.pdf", [""]))


def test_a_json_file_may_be_one_chunk(tmp_path):
    path = tmp_path / "chunk.json"
    path.write_text(json.dumps(PAPER_CHUNK, indent=2))
    assert passages_of(path) == [Passage("chunk.json:1:0", "Guide > Towns", "The mill.", "/data/guide.pdf", 4, (5,))]
    assert has_chunks(path)
