"""The readable text of HTML pages."""

from html.parser import HTMLParser

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


class _Reader(HTMLParser):
    """Collects the texts of a page, and those of its title."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.content: list[str] = []
        self.titles: list[str] = []
        self._unread = 0
        self._in_title = False
        self._in_content = False
        self._in_pronunciation = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
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


def html_text(page: str) -> tuple[str, str]:
    """Title and text of a page, without scripts, styles and navigation; only the main content if the page marks it. The
    title is empty if the page has none.
    """
    reader = _Reader()
    reader.feed(page)
    reader.close()
    content = "".join(reader.content)
    return " ".join("".join(reader.titles).split()), content if content.strip() else "".join(reader.texts)
