"""Sources of passages: reading, cutting and refusals."""

import bz2
import gzip
import re
from pathlib import Path
from unittest.mock import Mock
from xml.sax.saxutils import escape

import mwparserfromhell
import pytest
from conftest import dpr_file, write_lines
from programs import refused

from litm.base.messages import UserError
from litm.corpora.documents import source_files
from litm.corpora.passages import CorpusSettings, Passage, read_source
from litm.corpora.wikipedia import UNSEEN_PREFIXES, plain_text

WHOLE = CorpusSettings()
HEADER = "id\ttext\ttitle"


def passages_of(source: str, path: Path, settings: CorpusSettings = WHOLE) -> list[Passage]:
    return [passage for _, passage in read_source(source, path, settings)]


def refusal(source: str, path: Path | None, settings: CorpusSettings = WHOLE) -> str:
    return refused(lambda: list(read_source(source, path, settings)))


def test_doubled_quotes_and_unicode_of_dprs_table_are_read(tmp_path):
    path = dpr_file(tmp_path, '7\t"He said ""Größe"" to ""us"""\tA "title"', "", '8\t"""x"" y"\tT', "")
    read = [Passage("7", 'A "title"', 'He said "Größe" to "us"'), Passage("8", "T", '"x" y')]
    assert passages_of("dpr_passages", path) == read


def test_dprs_passages_stay_as_they_are_unless_shorter_ones_are_asked_for(tmp_path):
    path = dpr_file(tmp_path, "1\ta  b c\tT", "2\td\tU")
    assert passages_of("dpr_passages", path)[0].text == "a  b c"
    cut = passages_of("dpr_passages", path, CorpusSettings(passage_words=2))
    assert [(passage.id, passage.text) for passage in cut] == [("1:0", "a b"), ("1:1", "c"), ("2", "d")]


def test_the_real_sample_is_100_words_a_passage_as_it_is_packed_and_unpacked(data, tmp_path):
    packed = data / "psgs_w100.sample.tsv.gz"
    plain = tmp_path / "sample.tsv"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    read = passages_of("dpr_passages", packed)
    assert len(read) == 13712 and {len(passage.text.split()) for passage in read} == {100}
    assert read[0].id == "43" and read[0].title == "Alcohol"
    assert read[0].text.startswith('titled as "The Book of the chemistry of Perfume and Distillations". The Persian')
    assert passages_of("dpr_passages", plain) == read


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "the file is empty"),
        (["text\tid\ttitle", "a\t1\tT"], r"line 1: the header is 'text\tid\ttitle', but must be 'id\ttext\ttitle'"),
        ([HEADER, "1\ta\tT", "2\tb"], "line 3: 2 fields"),
        ([HEADER, "1\ta\tT\tmore"], "line 2: 4 fields"),
        ([HEADER, "1\t \tT"], "line 2: the text is empty"),
        ([HEADER, "1\ta\tT", "\ta\tT"], "line 3: the id is empty"),
        ([HEADER, "", " \ta\tT"], "line 3: the id is empty"),
        ([HEADER, "1\ta\tT", '2\t"b\tT', '3\t"c"\tT'], 'line 3: a quote (") in the row that begins here'),
        ([HEADER, "1\ta\tT", '2\t"b\tT', "3\tc\tT"], 'line 3: a quote (") in the row that begins here'),
    ],
)
def test_a_wrong_line_of_dprs_table_is_refused_by_its_number(tmp_path, lines, message):
    path = write_lines(tmp_path / "passages.tsv", lines)
    assert message in refusal("dpr_passages", path)
    assert refusal("dpr_passages", path).startswith(str(path))


def test_a_quote_that_swallows_the_file_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("litm.base.delimited_files.LONGEST_FIELD", 1000)
    path = dpr_file(tmp_path, '1\t"a\tT', *["2\tb\tT"] * 1000)
    said = refusal("dpr_passages", path)
    assert 'line 2: a quote (") in the row that begins here has no partner (field larger than' in said


def test_broken_gzip_and_text_that_is_not_utf8_are_refused_by_the_file(tmp_path):
    path = tmp_path / "passages.tsv.gz"
    whole = gzip.compress((HEADER + "\n" + "".join(f"{n}\ttext\tT\n" for n in range(5000))).encode())
    for broken in (whole[:-100], whole[:50] + b"\xff\xff\xff" + whole[53:], b"no gzip at all"):
        path.write_bytes(broken)
        assert "broken compressed data" in refusal("dpr_passages", path)
    plain = tmp_path / "passages.tsv"
    plain.write_bytes(HEADER.encode() + b"\n" + b"1\ta\tT\n" * 2000 + b"2\tGr\xf6\xdfe\tT\n")
    assert re.match(rf"{plain}: not UTF-8 text after line \d+ ", refusal("dpr_passages", plain))


@pytest.mark.parametrize("name", ["dpr_passages", "wikipedia_dump", "documents"])
def test_a_source_without_files_is_an_error_that_names_the_needed_ones(name):
    assert "needs an input: " in refusal(name, None)


ARTICLE = """{{short description|Capital of {{PAGENAME}}}}
{{Infobox settlement
| name = Lutria {{small|(city)}}
| image = [[File:P.jpg|thumb|caption with [[a link]]]]
| population = {{formatnum:{{{1|2}}}}}<ref name="pop">{{cite web|url=http://x.y|title=A|b}} note</ref>
}}
[[File:Tower.jpg|thumb|upright=1.2|The [[Iron Tower|tower]] by ''[[Someone]]''<ref>x</ref> [[Image:i.png|9px]] {{c|5}}]]
'''Lutria''' ({{IPA|lu}}; {{lang|fr|Lutrie}}) is the [[capital city|capital]] of [[France]],<ref name=a /> with ''many''
'''''visitors'''''&nbsp;&mdash; l''''amour'' &amp; more: {{convert|5|km|mi}} of [[bridge]]s.<!-- hidden
comment --> See [[:fr:Lutria|the page]].[[fr:Lutria]] __NOTOC__
== History ==
{| class="wikitable"
! {{a}} || head
|-
| [[cell]] || {| nested
| inner
|}
|}
First<br />second ([[help:IPA|sound]]) [http://a.b the site] and H<sub>2</sub>O <nowiki>[[raw]]</nowiki>.
:''indented''
* item [[one]]<ref>
of lines</ref> rest
# number
; term : definition
<ul><li>markup</li></ul>
<gallery>
File:a.jpg|shown
</gallery> <math>\\frac{1}{2}</math>
<blockquote>A quote.</blockquote> Unclosed '''bold and ''italic [[link]].
=== See also ===
[[Category:Cities|Lutria]]
[[Kategorie:Orte]]
"""
PROSE = (
    "Lutria is the capital of France, with many visitors — l'amour & more: of bridges. See the page. "
    "First second (sound) the site and H2O [[raw]]. A quote. Unclosed bold and italic link."
)


def page(number: int, title: str, text: str, namespace: int = 0, inside: str = "") -> str:
    revision = f"<revision><id>9{number}</id><text bytes='1' xml:space='preserve'>{escape(text)}</text></revision>"
    return f"<page><title>{escape(title)}</title><ns>{namespace}</ns><id>{number}</id>{inside}{revision}</page>\n"


DUMP_BEGIN = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de">\n<siteinfo><namespaces>'
    '<namespace key="0" /><namespace key="1">Diskussion</namespace><namespace key="14">Kategorie</namespace>'
    "</namespaces></siteinfo>\n"
)
DUMP_END = "</mediawiki>\n"
PAGES = [
    page(12, "Lutria", ARTICLE),
    page(13, "Talk:Lutria", "talk", namespace=1),
    page(14, "Lutria City", "#REDIRECT [[Lutria]]", inside='<redirect title="Lutria" />'),
    page(15, "Lutria (disambiguation)", "'''Lutria''' may be: a city\n{{Disambiguation|geo}}"),
    page(16, "Smith", "Smith is a name.\n{{surname}}"),
    page(17, "List", "* only\n* a list"),
    page(18, "A & B", "{{Other uses|A (disambiguation)}}\none two three four five{{disambiguation needed}}"),
]


def dump_file(path: Path, pages: list[str]) -> Path:
    """A dump, as multistream if packed: the beginning, each page and the end in a stream of its own."""
    pack = {".bz2": bz2.compress, ".gz": gzip.compress}.get(path.suffix, bytes)
    path.write_bytes(b"".join(pack(part.encode()) for part in [DUMP_BEGIN, *pages, DUMP_END]))
    return path


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        pytest.param(ARTICLE, PROSE, id="an article"),
        ("{|\n| a || b\n|-\n| unclosed\nAfter.", "After."),
        ("a {{unclosed template\n| x = 1\nafter", "a {{unclosed template after"),
        ("{{dropped|{{nested|[[x]]}}|<ref>{{y}}</ref>}}kept", "kept"),
        ("a<ref>b</ref>c<ref group=n name='x'/>d", "acd"),
        ("[[a|b [[c]] d]] [[Re: Zero]] [[Page#Part]] [[de:Seite]]", "b c d Re: Zero Page#Part"),
        ("[[:Category:Lakes]] [[FILE:x.png]] [[ Image : y.png ]]", "Category:Lakes"),
        ("(; {{x}}, born 1912) and ( {{x}} )", "(born 1912) and"),
        ("&lt;tag&gt; &eacute; &#233; &#xe9;", "<tag> é é é"),
        ("''''four'''' '''''five''''' ''''''six''''''", "'four' five 'six'"),
        ("http://bare.example and [http://no.label]", "and"),
        ("a\n----\nb", "a b"),
        ("", ""),
    ],
)
def test_what_is_shown_of_wikitext(wikitext, text):
    assert plain_text(wikitext, UNSEEN_PREFIXES | {"kategorie"}) == text


MARKS = [
    "{{Disambiguation}}",
    "{{disambig}}",
    "{{Dab}}",
    "{{hndis|A}}",
    "{{Human name disambiguation}}",
    "__DISAMBIG__",
]


@pytest.mark.parametrize("mark", MARKS)
def test_disambiguation_pages_have_no_text(mark):
    assert plain_text(f"A may be:\n{mark}") is None


@pytest.mark.parametrize("name", ["dump.xml", "dump.xml.gz", "dump-multistream.xml.bz2"])
def test_articles_of_a_dump_become_passages_with_their_titles(tmp_path, capsys, name):
    path = dump_file(tmp_path / name, PAGES)
    read = list(read_source("wikipedia_dump", path, CorpusSettings(passage_words=25)))
    words = PROSE.split()
    assert [passage for _, passage in read] == [
        Passage("12:0", "Lutria", " ".join(words[:25])),
        Passage("12:1", "Lutria", " ".join(words[25:])),
        Passage("18:0", "A & B", "one two three four five"),
    ]
    assert read[0][0] == f"{path}, page 12 (Lutria)"
    said = "2 pages became passages; left out: 2 disambiguations, 1 in other namespaces, 1 redirects, 1 without text"
    assert said in capsys.readouterr().err


def test_a_page_the_parser_fails_on_is_left_out_and_counted(tmp_path, capsys, monkeypatch):
    parse, lost = mwparserfromhell.parse, Mock(side_effect=mwparserfromhell.parser.ParserError("lost"))

    def failing(text, **options):
        return (lost if "poison" in text else parse)(text, **options)

    monkeypatch.setattr(mwparserfromhell, "parse", failing)
    path = dump_file(tmp_path / "dump.xml", [page(1, "A", "good"), page(2, "B", "poison"), page(3, "C", "fine")])
    assert [passage.text for passage in passages_of("wikipedia_dump", path)] == ["good", "fine"]
    assert "left out: 1 that could not be parsed (the first was page 2, B: ParserError" in capsys.readouterr().err


def test_hopeless_wikitext_does_not_end_the_run(tmp_path):
    hopeless = ["{{" * 9000, "[[a|" * 500, "<b>" * 500, "'''" * 9000, "{|\n" * 300, "[[File:a|" * 99 + "]]" * 99]
    pages = [page(number, "T", text) for number, text in enumerate(hopeless)]
    path = dump_file(tmp_path / "dump.xml", [*pages, page(99, "Last", "fine")])
    assert passages_of("wikipedia_dump", path)[-1] == Passage("99:0", "Last", "fine")


def test_a_dump_is_streamed_page_by_page(tmp_path):
    long = " ".join(map(str, range(50_000)))
    path = dump_file(tmp_path / "dump.xml.bz2", [page(number, "T", long) for number in range(3)])
    path.write_bytes(path.read_bytes()[:-250])
    read = read_source("wikipedia_dump", path, WHOLE)
    assert next(read)[1].id == "0:0"
    with pytest.raises(UserError, match=r"dump.xml.bz2: broken compressed data after page [01] "):
        list(read)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<html></html>", "this is no MediaWiki dump: it begins with <html>"),
        (DUMP_BEGIN + page(1, "A", "x"), "broken XML after page 1"),
        ("not XML", "broken XML after the beginning"),
        ("", "broken XML after the beginning"),
    ],
)
def test_what_is_no_dump_is_refused(tmp_path, content, message):
    path = tmp_path / "dump.xml"
    path.write_text(content)
    assert refusal("wikipedia_dump", path).startswith(f"{path}: {message}")


def test_documents_of_all_kinds_are_read_in_the_order_of_their_paths(tmp_path, capsys):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "My notes.txt").write_bytes("\ufeffFirst part.\n\nSecond\tpart.\n".encode())
    (tmp_path / "b" / "more.v2.txt.gz").write_bytes(gzip.compress(b"packed"))
    write_lines(tmp_path / "a.jsonl", [{"text": "one", "title": "T", "id": 5, "x": 0}, "", {"text": "two\nlines"}])
    write_lines(tmp_path / "c.csv", ["title,text", 'U,"x, ""y""\nz"', "V,w"])
    write_lines(tmp_path / "d.TSV.gz", ["id\ttext", "k\tlast"])
    for ignored in (".hidden.txt", "picture.png", "b/data.xml", "z.odt"):
        (tmp_path / ignored).write_bytes(b"\xff")
    assert passages_of("documents", tmp_path) == [
        Passage("5", "T", "one"),
        Passage("a.jsonl:3:0", "", "two lines"),
        Passage("b/My notes.txt:0", "My notes", "First part. Second part."),
        Passage("b/more.v2.txt.gz:0", "more.v2", "packed"),
        Passage("c.csv:2:0", "U", 'x, "y" z'),
        Passage("c.csv:4:0", "V", "w"),
        Passage("k", "", "last", "d.TSV.gz"),
    ]
    ignored = "ignored 4 hidden or other files (.hidden.txt, b/data.xml, picture.png and 1 more)"
    assert ignored in capsys.readouterr().err


def test_long_documents_are_cut_and_their_passages_numbered(tmp_path):
    lines = [{"text": "1 2 3 4 5", "id": "x"}, {"text": "6 7", "id": "y"}, {"text": "8 9 10"}]
    write_lines(tmp_path / "a.jsonl", lines)
    (tmp_path / "b.txt").write_text("1 2\n3\n")
    cut = passages_of("documents", tmp_path, CorpusSettings(passage_words=2))
    assert [(passage.id, passage.text) for passage in cut] == [
        *(("x:0", "1 2"), ("x:1", "3 4"), ("x:2", "5"), ("y", "6 7"), ("a.jsonl:3:0", "8 9"), ("a.jsonl:3:1", "10")),
        *(("b.txt:0", "1 2"), ("b.txt:1", "3")),
    ]


def test_one_file_is_a_source_too_and_may_have_a_very_long_text(tmp_path):
    path = write_lines(tmp_path / "long.tsv", ["text", "word " * 100_000])
    (passage,) = passages_of("documents", path)
    assert passage.id == "long.tsv:2:0" and len(passage.text) == 499_999
    assert source_files(path) == [path]


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        ("a.jsonl", [{"title": "T"}, {"title": "T"}, {"text": "x"}], "line 1: 'text' must be text that is not empty"),
        ("a.jsonl", [{"text": " "}], "line 1: 'text' must be text that is not empty"),
        ("a.jsonl", [{"text": "x", "title": 5}], "line 1: 'title' must be text, but is int"),
        ("a.jsonl", [{"text": "x", "id": 1.5}], "line 1: 'id' must be text or a whole number, but is 1.5"),
        ("a.jsonl", [{"text": "x", "id": True}], "line 1: 'id' must be text or a whole number, but is True"),
        ("a.jsonl", ['{"text": '], "line 1: not valid JSON"),
        ("a.csv", ["id,content", "1,x"], "line 1: the header must have a column 'text', but has 'id, content'"),
        ("a.csv", [], "line 1: the header must have a column 'text', but has nothing"),
        ("a.csv", ["text,text", "x,y"], "line 1: the header names a column twice"),
        ("a.csv", ["id,text", "1,x", "2,y, z"], "line 3: 3 fields, but the header has 2; put a text with ','"),
        ("a.csv", ["id,text", " ,x"], "line 2: 'id' must be text or a whole number, but is ' '"),
        ("a.tsv", ["id\ttext", '1\t"x', '2\t"y"'], 'line 2: a quote (") in the row that begins here'),
        ("a.txt", [" "], "there is no text in it"),
    ],
)
def test_a_document_that_is_wrong_is_refused_by_file_and_line(tmp_path, name, lines, message):
    path = write_lines(tmp_path / name, lines)
    said = refusal("documents", tmp_path)
    assert said.startswith(str(path)) and message in said


def test_damaged_text_files_are_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"fine\n" * 5000 + b"Gr\xf6\xdfe")
    assert re.search(r"a.txt: not UTF-8 text after line [1-4]\d\d\d ", refusal("documents", path))
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"text " * 5000)[:-9])
    assert f"{path}: broken compressed data (" in refusal("documents", path)


def test_a_folder_without_documents_and_other_files_are_refused(tmp_path):
    assert f"{tmp_path}: the folder is empty; give" in refusal("documents", tmp_path)
    (tmp_path / "a.odt").write_text("x")
    for name, said in (
        (".", f"{tmp_path}: no document among its files (a.odt); give a folder or file of documents as .txt"),
        ("a.odt", "a.odt: no file of documents by its ending"),
        ("missing", "missing: does not exist"),
    ):
        assert said in refusal("documents", tmp_path / name)
