"""Codes in texts, used by the scorer and by the checks of examples."""

import re
from collections.abc import Collection

_HYPHENS = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")

#: Pattern of a code: letters, a hyphen, and digits.
_CODE = re.compile(r"(?<!\w)(?<!\w-)[a-z]{2,}-[0-9]{3,}(?!-?\w)", re.IGNORECASE)


def contains_no_other_code(text: str, codes: Collection[str]) -> bool:
    """Whether every code in the text is one of these, in any case and with any kind of hyphen."""
    ours = {code.translate(_HYPHENS).lower() for code in codes}
    return all(found.lower() in ours for found in _CODE.findall(text.translate(_HYPHENS).replace("_", " ")))


def contains_code(text: str, code: str) -> bool:
    """Whether the code is in the text as a separate token, in any case and with any kind of hyphen.

    Further letters, digits or hyphenated parts on either side make it another code: "TRK-5938" is in "it's
    **trk-5938**." but not in "TRK-59381", "XTRK-5938", "TRK-5938-B" or "TRK 5938".
    """
    pattern = rf"(?<!\w)(?<!\w-){re.escape(code.translate(_HYPHENS))}(?!-?\w)"
    # Markdown's emphasis does not belong to a word, but the regular expression counts its underscore.
    return re.search(pattern, text.translate(_HYPHENS).replace("_", " "), re.IGNORECASE) is not None
