"""Lone surrogates: halves of characters in cut texts, which UTF-8 cannot encode."""

import re

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
#: Unicode's replacement character.
REPLACEMENT = "\ufffd"


def without_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate (`"\\ud83d"` in JSON: half an emoji); usually the text itself."""
    return text if text.isascii() else LONE_SURROGATE.sub(REPLACEMENT, text)
