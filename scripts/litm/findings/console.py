"""The first screen as lines of a terminal: the headline, tables, advice, warnings and files.

Where there are more lines than `MOST`, warnings are shortened to their beginnings, then tables are left out, and it is
said what and where it is.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from textwrap import wrap
from typing import NamedTuple

from litm.findings.console_tables import Terminal, mark, table_lines
from litm.findings.first_screen import FirstScreen

#: Lines of the screen, of its headline and advice, and of its warnings where not all lines fit, at most.
MOST, MOST_HEADLINE, MOST_ADVICE, MOST_WARNINGS = 40, 3, 6, 10
REPORT = "results/report.html"
ADVICE, WARNINGS = "What to do:", "Before you quote this:"


class Texts(NamedTuple):
    """The sentences of the screen."""

    headline: str
    advice: Sequence[str]
    warnings: Sequence[tuple[int, str]]
    """Number of the marks, 0 without one, and the sentence."""


def console_lines(
    screen: FirstScreen, texts: Texts, units: Mapping[str, str], files: Sequence[str], terminal: Terminal
) -> list[str]:
    """The lines of the screen, at most `MOST`.

    units: of the sizes of each experiment, such as documents; files: lines that say where the results are.
    """
    width = terminal.width
    headline = _cut(wrap(texts.headline, width), MOST_HEADLINE, width)
    advice = _sentences([("", text) for text in texts.advice], MOST_ADVICE, width, ADVICE)
    ending = [line for file in files for line in wrap(file, width, break_long_words=False)]
    room = MOST - len(headline) - len(advice) - len(ending)
    marked = [(f"{mark((number,), terminal)} " if number else "- ", text) for number, text in texts.warnings]
    n_marked = sum(number > 0 for number, _ in texts.warnings)
    warnings = _sentences(marked, MOST, width, WARNINGS, n_marked)
    tables = table_lines(screen, units, room - min(len(warnings), MOST_WARNINGS), terminal)
    warnings = _sentences(marked, room - len(tables), width, WARNINGS, n_marked)
    sections = [section for section in (headline, tables, advice, warnings, ending) if section]
    if sum(map(len, sections)) + len(sections) - 1 <= MOST:
        sections = [["", *section] if place else section for place, section in enumerate(sections)]
    return [_plain(line) if terminal.is_ascii else line for section in sections for line in section]


def _sentences(texts: Sequence[tuple[str, str]], most: int, width: int, title: str, n_first: int = 0) -> list[str]:
    """A title and sentences, each with its sign, at most `most` lines.

    n_first: sentences that are shortened, if they are too long, and not left out; how many others are is said.
    """
    if not texts:
        return []
    whole = [_hanging(sign, text, width) for sign, text in texts]
    for n_shown in range(len(whole), n_first, -1):
        lines = [title, *chain.from_iterable(whole[:n_shown]), *_more(len(whole) - n_shown)]
        if len(lines) <= most:
            return lines
    title = f"{title.removesuffix(':')} (in full: {REPORT}):"
    for longest in range(most, 0, -1):
        first = [_cut(lines, longest, width) for lines in whole[: max(n_first, 1)]]
        lines = [title, *chain.from_iterable(first), *_more(len(whole) - len(first))]
        if len(lines) <= most:
            return lines
    n_shown = max(0, most - 2)
    return [title, *chain.from_iterable(first[:n_shown]), *_more(len(whole) - n_shown)]


def _more(n: int) -> list[str]:
    return [f"  and {n:,} more: {REPORT}"] if n else []


def _hanging(sign: str, text: str, width: int) -> list[str]:
    indent = "  " + " " * len(sign)
    return wrap(text, width, initial_indent=f"  {sign}", subsequent_indent=indent, break_long_words=False)


def _cut(lines: list[str], most: int, width: int) -> list[str]:
    """The first lines; where there are more, dots at their end."""
    if len(lines) <= most:
        return lines
    last = lines[most - 1]
    while len(last) > width - 4:
        last = last.rpartition(" ")[0]
    return [*lines[: most - 1], f"{last} ..."]


def _plain(line: str) -> str:
    return line.replace("…", "~").encode("ascii", "replace").decode()
