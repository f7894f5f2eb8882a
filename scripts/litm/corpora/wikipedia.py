"""Passages of Wikipedia: those of DPR, and a MediaWiki dump as plain text."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, HTMLEntity, Node, Tag, Template, Text, Wikilink
from mwparserfromhell.wikicode import Wikicode

from litm.base.delimited_files import read_table
from litm.base.files import open_bytes, reading
from litm.base.messages import UserError, note, shortened
from litm.corpora.passages import CorpusSettings, Passage, cut_text

HEADER = ["id", "text", "title"]


def dpr_passages(path: Path, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """Yield (file and line, passage), with the file's ids; a block that is cut gets `id:n`, n from 0.

    Raises `UserError` for a wrong header, a wrong number of fields, a blank text or id, and as `read_table`.
    """
    rows = read_table(path, delimiter="\t")
    _check_header(path, next(rows, None))
    for line, row in rows:
        try:
            id_, text, title = row
        except ValueError:
            raise UserError(
                f"{path}, line {line}: {len(row)} fields between tabs, but id, text and title are 3; fix the line"
            ) from None
        if not id_ or not text or text.isspace() or id_.isspace():
            empty = "text" if id_.strip() else "id"
            raise UserError(f"{path}, line {line}: the {empty} is empty; fill it or remove the line")
        where = f"{path}, line {line}"
        if settings.passage_words is None:
            yield where, Passage(id_, title, text)
        else:
            blocks = cut_text(text, settings.passage_words)
            for number, block in enumerate(blocks):
                yield where, Passage(id_ if len(blocks) == 1 else f"{id_}:{number}", title, block)


def _check_header(path: Path, first: tuple[int, list[str]] | None) -> None:
    if first is None:
        raise UserError(f"{path}: the file is empty; get it again")
    if first[1] != HEADER:
        header = "\t".join(first[1])
        raise UserError(
            f"{path}, line {first[0]}: the header is {header[:80]!r}, but must be {chr(9).join(HEADER)!r}; "
            f"for another table use the source 'documents'"
        )


#: Numbers of the namespaces of files and categories, whose links show no text; English names work everywhere.
UNSEEN_NAMESPACES = ("6", "14")
UNSEEN_PREFIXES = frozenset({"file", "image", "media", "category"})
DISAMBIGUATION = {
    "disambiguation", "disambig", "disamb", "dab", "hndis", "geodis", "mathdab", "numberdis", "roaddis", "schooldis",
    "surname", "given name", "sia", "set index article",
}  # fmt: skip
#: Tags whose content is no prose.
DROPPED_TAGS = {
    "ref", "references", "gallery", "math", "chem", "ce", "score", "timeline", "hiero", "graph", "imagemap", "mapframe",
    "maplink", "table", "ul", "ol", "dl", "pre", "source", "syntaxhighlight", "templatedata", "categorytree",
    "inputbox", "indicator", "section", "includeonly", "h1", "h2", "h3", "h4", "h5", "h6", "style", "templatestyles",
}  # fmt: skip
LIST_MARKUP = ("*", "#", ":", ";")
#: Mark at the start of the rest of a list line; XML cannot contain it.
LIST_MARK = "\0"
UNSEEN_LINES = re.compile(rf"^(?:[^\n]*{LIST_MARK}|[ \t]*(?:\{{\||\|))[^\n]*$", re.MULTILINE)
MAGIC_WORD = re.compile(r"__[A-Z]+__")
QUOTE_MARKS = re.compile("'{2,}")
LANGUAGE_LINK = re.compile(r"(?:[a-z]{2,3}(?:-[a-z]+)*|simple):\S")
#: Remains of a parenthesis whose templates were removed: "( , ; born 1912)" and "()".
OPENED_WITH_NOTHING = re.compile(r"\(\s*(?:[,;:]\s*)+")
EMPTY_PARENTHESES = re.compile(r"\s*\(\s*\)")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the dump."""

    id: str
    """Id of the page."""
    title: str
    """Title of the page."""
    namespace: str
    """Number of the namespace."""
    is_redirect: bool
    """Whether it leads to another page."""
    wikitext: str
    """Text with its markup; "" if the dump has none."""


def wikipedia_dump(path: Path, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """Yield (file and page, passage) in the order of the dump; a note at the end counts the pages left out.

    A page on which the wikitext parser fails is left out and counted. Raises `UserError` for a file that is no dump,
    and for damaged files.
    """
    used, left_out, first_failure = 0, Counter[str](), ""
    for page, unseen in read_pages(path):
        try:
            text, reason = _article_text(page, unseen)
        # Handwritten pages break the parser in many ways; one page must not cost the others.
        except Exception as error:
            text, reason = "", "that could not be parsed"
            first_failure = first_failure or f" (the first was page {page.id}, {page.title}: {error!r})"
        if not text:
            left_out[reason] += 1
            continue
        used += 1
        where = f"{path}, page {page.id} ({page.title})"
        for number, block in enumerate(cut_text(text, settings.passage_words)):
            yield where, Passage(f"{page.id}:{number}", page.title, block)
    without = ", ".join(f"{number} {reason}" for reason, number in sorted(left_out.items())) or "none"
    note(f"{path}: {used} pages became passages; left out: {without}{first_failure}")


def read_pages(path: Path) -> Iterator[tuple[Page, frozenset[str]]]:
    """Yield (page, lower-case names of namespaces whose links show no text), in constant memory."""
    reached = "the beginning"
    with reading(path, lambda: reached), open_bytes(path) as raw:
        try:
            for page, unseen in _parsed_pages(path, raw):
                reached = f"page {page.id}"
                yield page, unseen
        except ElementTree.ParseError as error:
            raise UserError(f"{path}: broken XML after {reached} ({error}); get the dump again") from error


def _parsed_pages(path: Path, raw: IO[bytes]) -> Iterator[tuple[Page, frozenset[str]]]:
    events = ElementTree.iterparse(raw, events=("start", "end"))
    _, root = next(events)
    if _name(root) != "mediawiki":
        raise UserError(
            f"{path}: this is no MediaWiki dump: it begins with <{shortened(_name(root))}>, not with <mediawiki>"
        )
    unseen = UNSEEN_PREFIXES
    for event, element in events:
        if event == "start":
            continue
        name = _name(element)
        if name == "siteinfo":
            unseen |= _unseen_namespaces(element)
        elif name == "page":
            yield _page(element), unseen
        else:
            continue
        # The root too, or it would keep an empty element for every page.
        root.clear()


def _name(element: ElementTree.Element) -> str:
    """The tag without its XML namespace, which contains the version of the dump."""
    return element.tag.rpartition("}")[2]


def _unseen_namespaces(siteinfo: ElementTree.Element) -> frozenset[str]:
    """Names of the namespaces of files and categories in the dump's own language."""
    named = siteinfo.iterfind("{*}namespaces/{*}namespace")
    return frozenset((space.text or "").lower() for space in named if space.get("key") in UNSEEN_NAMESPACES)


def _page(element: ElementTree.Element) -> Page:
    return Page(
        id=element.findtext("{*}id", ""),
        title=element.findtext("{*}title", ""),
        namespace=element.findtext("{*}ns", "0"),
        is_redirect=element.find("{*}redirect") is not None,
        wikitext=element.findtext("{*}revision/{*}text", ""),
    )


def _article_text(page: Page, unseen: frozenset[str]) -> tuple[str, str]:
    """The page's text, and if it is empty why the page is left out."""
    if page.namespace != "0":
        return "", "in other namespaces"
    if page.is_redirect:
        return "", "redirects"
    text = plain_text(page.wikitext, unseen)
    return text or "", "disambiguations" if text is None else "without text"


def plain_text(wikitext: str, unseen: frozenset[str] = UNSEEN_PREFIXES) -> str | None:
    """The prose of a page, with single spaces; None for a disambiguation page.

    `unseen` are the lower-case names of the namespaces of files and categories.
    """
    # Bold and italic marks are often unclosed and then hide links from the parser: they are removed below.
    code = mwparserfromhell.parse(wikitext, skip_style_tags=True)
    if "__DISAMBIG__" in wikitext or any(_is_disambiguation(node) for node in code.nodes):
        return None
    text = UNSEEN_LINES.sub("", _shown(code, unseen))
    text = QUOTE_MARKS.sub(_literal_apostrophes, MAGIC_WORD.sub("", text))
    text = EMPTY_PARENTHESES.sub("", OPENED_WITH_NOTHING.sub("(", text))
    return " ".join(text.split())


def _is_disambiguation(node: Node) -> bool:
    if not isinstance(node, Template):
        return False
    name = str(node.name).replace("_", " ").strip().lower()
    return name in DISAMBIGUATION or name.endswith(" disambiguation")


def _literal_apostrophes(marks: re.Match[str]) -> str:
    """The literal apostrophes among four in a row or more than five, as MediaWiki shows them."""
    length = len(marks.group())
    return "'" * (1 if length == 4 else max(0, length - 5))


def _shown(code: Wikicode | None, unseen: frozenset[str]) -> str:
    """The visible text of the wikitext, with `LIST_MARK` at the start of list lines."""
    return "".join(_shown_node(node, unseen) for node in code.nodes) if code is not None else ""


def _shown_node(node: Node, unseen: frozenset[str]) -> str:
    match node:
        case Text():
            return node.value
        case Wikilink():
            return _shown_link(node, unseen)
        case ExternalLink():
            return _shown(node.title, unseen)
        case HTMLEntity():
            return node.normalize() or ""
        case Tag():
            return _shown_tag(node, unseen)
        case _:
            # Templates and their arguments, comments, headings.
            return ""


def _shown_tag(node: Tag, unseen: frozenset[str]) -> str:
    name = str(node.tag).strip().lower()
    if node.wiki_markup in LIST_MARKUP:
        return LIST_MARK
    if name in ("br", "hr"):
        return "\n" if node.wiki_markup else " "
    return "" if name in DROPPED_TAGS else _shown(node.contents, unseen)


def _shown_link(node: Wikilink, unseen: frozenset[str]) -> str:
    title = str(node.title).strip()
    prefix = title.partition(":")[0].strip().lower() if ":" in title else ""
    # A link that begins with a colon is always shown.
    if prefix in unseen or LANGUAGE_LINK.match(title):
        return ""
    return _shown(node.text, unseen) if node.text is not None else title.removeprefix(":")
