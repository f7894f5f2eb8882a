"""The readable text of HTML pages, and the article among it."""

import logging
import re
from html.parser import HTMLParser

from litm.corpora.passages import word_count

#: Elements without readable content.
UNREAD = {"script", "style", "template", "noscript", "svg", "nav"}
#: Element of a page's main content, if it has one: the text around it repeats on all pages of a site.
CONTENT = "main"
#: Elements within a line of text; any other element ends a paragraph.
INLINE = {
    "a", "abbr", "b", "bdi", "cite", "code", "em", "i", "kbd", "mark", "rb", "rp", "rt", "rtc", "ruby", "s", "small",
    "span", "strong", "sub", "sup", "tt", "u", "var", "wbr",
}  # fmt: skip
#: A pronunciation beside characters, or its parenthesis; end tags may be missing. Elements that do not end them.
PRONUNCIATION = {"rp", "rt", "rtc"}
WITHIN = INLINE - PRONUNCIATION - {"rb", "ruby"}
#: Elements, and words in ids, classes and roles, that mark what is around the article of a page.
AROUND = {"aside", "dialog", "footer", "header", "nav"}
AROUND_NAMES = re.compile(
    r"(?<![a-z])(aside|banner|comments?|complementary|contentinfo|cookies?|footer|header|menu|nav(bar|igation)?|sidebar)"
    r"(?![a-z])"
)
#: Words of a paragraph that counts as prose: menus, links and lines of a footer are shorter. Share of a page's prose
#: that an article must have to stand for the page. Of 311 pages whose articles are known, the text has 98 % of the
#: article's words, and 89 % of its words are the article's (68 % of those of whole pages).
LONG_PARAGRAPH, MOST_PROSE = 20, 0.6


class _Reader(HTMLParser):
    """Collects the texts of a page, and those of its title."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.content: list[str] = []
        self.titles: list[str] = []
        self.has_surroundings = False
        self._unread = 0
        self._in_title = False
        self._in_content = False
        self._in_pronunciation = False

    @property
    def title(self) -> str:
        return " ".join("".join(self.titles).split())

    @property
    def text(self) -> str:
        content = "".join(self.content)
        return content if content.strip() else "".join(self.texts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.has_surroundings |= tag in AROUND or any(
            name in ("id", "class", "role") and AROUND_NAMES.search((value or "").lower()) for name, value in attrs
        )
        self._unread += tag in UNREAD
        self._in_title = tag == "title" and not self._unread
        self._in_content |= tag == CONTENT
        self._in_pronunciation = tag in PRONUNCIATION or (self._in_pronunciation and tag in WITHIN)
        if tag not in INLINE:
            self._add("\n\n")

    def handle_endtag(self, tag: str) -> None:
        self._unread -= tag in UNREAD and self._unread > 0
        self._in_title = False
        self._in_pronunciation &= tag in WITHIN
        if tag not in INLINE:
            self._add("\n\n")
        self._in_content &= tag != CONTENT

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.titles.append(data)
        elif not self._unread and not self._in_pronunciation:
            self._add(data)

    def _add(self, text: str) -> None:
        self.texts.append(text)
        if self._in_content:
            self.content.append(text)


def _read(page: str) -> _Reader:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader


def html_text(page: str) -> tuple[str, str]:
    """Title and text of a page, without scripts, styles and navigation; only the main content if the page marks it. The
    title is empty if the page has none.
    """
    reader = _read(page)
    return reader.title, reader.text


def article_text(page: str) -> tuple[str, str, int]:
    """Title and text as by `html_text`, but only the page's article, and the number of words around it.

    The text stays whole if the page marks nothing around an article, such as one that an office program has saved, and
    if the article has less than `MOST_PROSE` of the page's prose, such as that of a list, a table or a forum.
    """
    reader = _read(page)
    whole = reader.text
    if not reader.has_surroundings or not whole.strip():
        return reader.title, whole, 0
    article = _article(page)
    words, all_words = word_count(article), word_count(whole)
    prose, all_prose = _prose(article), _prose(whole)
    is_page = words >= all_words or not prose or prose < MOST_PROSE * all_prose
    return (reader.title, whole, 0) if is_page else (reader.title, article, all_words - words)


def _article(page: str) -> str:
    """The text of the page's article; "" if there is none."""
    # Imported here: the code of the rules must not need it.
    from readability import Document

    # It logs each page without an article, with a traceback.
    logging.getLogger("readability").setLevel(logging.CRITICAL)
    try:
        return html_text(Document(page).summary())[1]
    except Exception:  # damaged pages make the library raise errors of any kind
        return ""


def _prose(text: str) -> int:
    """Words in long paragraphs."""
    counts = map(word_count, re.split(r"\n\s*\n", text))
    return sum(count for count in counts if count >= LONG_PARAGRAPH)
