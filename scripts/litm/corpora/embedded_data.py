"""Data embedded in texts, such as pictures in base64, which no reader sees."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

#: The content of a data URI, and a word longer than texts with spaces have: data in a file of text.
DATA = (re.compile(r"data:[\w.+-]+/[\w.+-]+[;,][^\s\"'()<>]{100,}"), re.compile(r"(?<![!-~])[!-~]{1000,}"))
#: A line of data in base64, as mails and certificates have it, and the number of such lines of one length in a row that
#: is no accident.
BASE64, LINES_OF_DATA = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+/]{60,76}\s*"), 4


def without_data(lines: Iterable[str], cut: Callable[[int], object]) -> Iterator[str]:
    """The lines without embedded data (data URIs, base64, minified code), which no reader of a text sees.

    cut: called with each number of characters that is left out.
    """
    for is_base64, group in groupby(lines, lambda line: len(line.rstrip()) * bool(BASE64.fullmatch(line))):
        if is_base64 and len(block := [*group]) >= LINES_OF_DATA:
            cut(sum(map(len, block)))
            continue
        for line in block if is_base64 else group:
            text = line
            for pattern in DATA:
                text = pattern.sub("", text)
            if len(text) < len(line):
                cut(len(line) - len(text))
            yield text
