"""Texts of NaturalQuestions pages, in the original and the simplified format.

The original format has `document_tokens` [{token, html_token, start_byte, end_byte}] and perhaps `document_html`; the
simplified one has `document_text`, tokens between single spaces.
"""

import html
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from litm.base.messages import UserError
from litm.base.records import typed_field
from litm.questions.natural_questions_long_answer import Span


@dataclass(frozen=True)
class Document:
    """The tokens of a page, and the text of a span of them."""

    tokens: Sequence[str]
    text: Callable[[Span], str]


def original_document(record: dict, where: str) -> Document:
    """The page of a record in the original format; its text is cut from the HTML if the record has it."""
    entries = typed_field(record, "document_tokens", list, where)
    for number, entry in enumerate(entries):
        if not (isinstance(entry, dict) and isinstance(entry.get("token"), str)):
            raise UserError(f"{where}, document_tokens[{number}]: expected an object with 'token', a string")
    tokens = [entry["token"] for entry in entries]
    if "document_html" not in record:
        words = [None if entry.get("html_token") else token for entry, token in zip(entries, tokens, strict=True)]
        return Document(tokens, lambda span: join_tokens(word for word in words[slice(*span)] if word is not None))
    page = typed_field(record, "document_html", str, where).encode()

    def text(span: Span) -> str:
        first, last = (f"{where}, document_tokens[{n}]" for n in (span[0], span[1] - 1))
        start = typed_field(entries[span[0]], "start_byte", int, first)
        end = typed_field(entries[span[1] - 1], "end_byte", int, last)
        if not 0 <= start < end <= len(page):
            raise UserError(f"{first}: bytes {start} to {end} are outside document_html, which has {len(page)}")
        return text_of_html(page[start:end].decode(errors="replace"))

    return Document(tokens, text)


def simplified_document(record: dict, where: str) -> Document:
    """The page of a record in the simplified format."""
    # Not split(): tokens may contain other white space.
    tokens = typed_field(record, "document_text", str, where).split(" ")
    return Document(tokens, lambda span: join_tokens(t for t in tokens[slice(*span)] if not _TAG.fullmatch(t)))


def page_title(record: dict, where: str) -> str:
    """The page's title; the simplified format has it only in the URL: .../index.php?title=Some_page&amp;..."""
    if "document_title" in record:
        return typed_field(record, "document_title", str, where)
    if "document_url" not in record:
        raise UserError(f"{where}: the fields 'document_title' and 'document_url' are missing, one must be there")
    address = urlsplit(typed_field(record, "document_url", str, where))
    named = parse_qs(address.query).get("title", [unquote(address.path.rpartition("/")[2])])
    return named[0].replace("_", " ")


_TAG = re.compile(r"</?[A-Za-z][^>]*>")
#: HTML without text: comments, and citation marks, which the released paragraphs omit too.
_NO_TEXT = re.compile(r"<!--.*?-->|<sup[^>]*\breference\b.*?</sup>", re.DOTALL | re.IGNORECASE)
_LINE_BREAK = re.compile(r"<(br|p|li|div)\b[^>]*>", re.IGNORECASE)


def text_of_html(source: str) -> str:
    """The text of a piece of HTML on one line: no tags, entities as characters, single spaces."""
    return " ".join(html.unescape(_TAG.sub("", _LINE_BREAK.sub(" ", _NO_TEXT.sub("", source)))).split())


#: Spacing of written text, where tokens have single spaces: (pattern, replacement).
_SPACING = (
    (re.compile(r"`` | ''"), '"'),
    (re.compile(r"`` ?|''"), '"'),
    (re.compile(r" (?=[.,;:!?%)\]}](?: |$))| (?='(?:s|re|ve|ll|d|m|t)?(?: |$))| (?=n't(?: |$))"), ""),
    (re.compile(r"(?<=[(\[{$£€]) "), ""),
    (re.compile(r"(?<=\w) ([-/]) (?=\w)|(?<=\d) (\u2013) (?=\d)"), lambda match: match[1] or match[2]),
)


def join_tokens(tokens: Iterable[str]) -> str:
    """Tokens of NaturalQuestions as written text, as close as possible without the page."""
    text = " ".join(" ".join(tokens).split())
    for pattern, replacement in _SPACING:
        text = pattern.sub(replacement, text)
    return text
