"""The first screen as lines of a terminal: the headline, tables, advice, warnings and files.

Where there are more lines than `MOST`, warnings are shortened to their beginnings, then tables are left out, and it is
said what and where it is.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from litm.findings.advice_words import advice_sentences
from litm.findings.console_tables import Terminal, mark, table_lines, wrapped
from litm.findings.first_screen import FirstScreen
from litm.findings.record import StudyFindings
from litm.findings.words import headline, sentence, warning_sentence

#: Lines of the screen, of its headline, of its advice and of log-probabilities, and of its warnings where not all lines
#: fit, at most.
MOST, MOST_HEADLINE, MOST_SENTENCES, MOST_WARNINGS = 40, 3, 6, 10
ADVICE, PROBABILITIES, WARNINGS = "What to do:", "By log-probability:", "Before you quote this:"


class Texts(NamedTuple):
    """The sentences of the screen."""

    headline: str = ""
    advice: Sequence[Sequence[str]] = ()
    """The sentences of each advice."""
    probabilities: Sequence[str] = ()
    warnings: Sequence[tuple[int, str]] = ()
    """Number of the marks, 0 without one, and the sentence."""


def texts_of(screen: FirstScreen, findings: StudyFindings) -> Texts:
    """The sentences of a screen and of the findings that it is made of."""
    # Advice stands below.
    first = [finding for finding in screen.headline if finding.kind != "advice"]
    return Texts(
        headline(first) if first else "",
        [advice_sentences(finding) for finding in screen.advice],
        [sentence(finding) for finding in findings.of_kind("log_probability")],
        [(group.number, warning_sentence(group.findings)) for group in screen.warnings],
    )


def console_lines(
    screen: FirstScreen,
    texts: Texts,
    units: Mapping[str, str],
    files: Sequence[str],
    terminal: Terminal,
    with_positions: bool = True,
) -> list[str]:
    """The lines of the screen, at most `MOST`.

    units: of the sizes of each experiment, such as documents; files: lines that say where the results are;
    with_positions: whether one model has a column for each position, if there is room.
    """
    width = terminal.width
    first = _cut(wrapped(texts.headline, width), MOST_HEADLINE, width)
    probabilities = [("", text) for text in texts.probabilities]
    others = _advice(texts.advice, terminal) + _sentences(probabilities, MOST_SENTENCES, terminal, PROBABILITIES)
    ending = [line for file in files for line in wrapped(file, width)]
    room = MOST - len(first) - len(others) - len(ending)
    marked = [(f"{mark((number,), terminal)} " if number else "- ", text) for number, text in texts.warnings]
    n_marked = sum(number > 0 for number, _ in texts.warnings)
    warnings = _sentences(marked, MOST, terminal, WARNINGS, n_marked)
    tables = table_lines(screen, units, room - min(len(warnings), MOST_WARNINGS), terminal, with_positions)
    warnings = _sentences(marked, room - len(tables), terminal, WARNINGS, n_marked)
    sections = [section for section in (first, tables, others, warnings, ending) if section]
    if sum(map(len, sections)) + len(sections) - 1 <= MOST:
        sections = [["", *section] if place else section for place, section in enumerate(sections)]
    return [_plain(line) if terminal.is_ascii else line for section in sections for line in section]


def _advice(advice: Sequence[Sequence[str]], terminal: Terminal) -> list[str]:
    """What to do, with as many of the other sentences of each advice as there is room for."""
    lines: list[str] = []
    for most in range(1, max(map(len, advice), default=0) + 1):
        title = ADVICE if most >= max(map(len, advice)) else f"{ADVICE.removesuffix(':')} (in full: {terminal.rest}):"
        more = _sentences([("", " ".join(sentences[:most])) for sentences in advice], MOST, terminal, title)
        if lines and len(more) > MOST_SENTENCES:
            break
        lines = more if len(more) <= MOST_SENTENCES else lines
    first = [("", sentences[0]) for sentences in advice]
    return lines or _sentences(first, MOST_SENTENCES, terminal, ADVICE)


def _sentences(
    texts: Sequence[tuple[str, str]], most: int, terminal: Terminal, title: str, n_first: int = 0
) -> list[str]:
    """A title and sentences, each with its sign, at most `most` lines.

    n_first: sentences that are shortened, if they are too long, and not left out; how many others are is said.
    """
    if not texts:
        return []
    whole = [wrapped(text, terminal.width, f"  {sign}") for sign, text in texts]
    fitting = (_section(title, whole, n, terminal) for n in range(len(whole), max(n_first, 1) - 1, -1))
    in_full = f"{title.removesuffix(':')} (in full: {terminal.rest}):"
    n_first = max(n_first, 1)
    cut = (
        _section(in_full, [_cut(lines, longest, terminal.width) for lines in whole], n_first, terminal)
        for longest in range(most, 0, -1)
    )
    ends = [_cut(lines, 1, terminal.width) for lines in whole]
    fewer = (_section(in_full, ends, n, terminal) for n in range(n_first, -1, -1))
    return next((lines for lines in chain(fitting, cut, fewer) if len(lines) <= most), [])


def _section(title: str, sentences: Sequence[Sequence[str]], n_shown: int, terminal: Terminal) -> list[str]:
    """The title, the lines of the first sentences, and how many there are more."""
    n_more = len(sentences) - n_shown
    more = [f"  and {n_more:,} more: {terminal.rest}"] if n_more else []
    return [*wrapped(title, terminal.width), *chain.from_iterable(sentences[:n_shown]), *more]


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
