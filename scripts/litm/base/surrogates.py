"""Halves of characters in texts: what is left of one that was cut, which no file in UTF-8 can hold."""

import re

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
#: Unicode's replacement character.
REPLACEMENT = "\ufffd"


def without_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate (`"\\ud83d"` in JSON: half an emoji); mostly the text itself."""
    return text if text.isascii() else LONE_SURROGATE.sub(REPLACEMENT, text)
