"""Secrets in texts: keys, tokens, passwords and addresses of mail, replaced by a word before anything is sent."""

import re
from collections import Counter
from collections.abc import Mapping

#: Kinds of secrets, each with its pattern; a group `value` is what is replaced, without one the whole match. Private
#: keys and addresses with passwords come first, because others occur in them.
PATTERNS: Mapping[str, re.Pattern[str]] = {
    "private key": re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
    ),
    "password": re.compile(r"(?<=://)[^\s/:@]+:(?P<value>[^\s/@]+)(?=@)"),
    "token": re.compile(
        r"\b(?:sk-[A-Za-z0-9_-]{16,}|(?:ghp|gho|ghu|ghs|ghr|github_pat)_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{16,}"
        r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|A(?:KIA|SIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{20,}"
        r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})"
    ),
    "key": re.compile(
        r"(?i)(?:\b|_)(?:api[_-]?key|access[_-]?key|secret(?:[_-]?key)?|auth[_-]?token|access[_-]?token|token|passwd|password"
        r"|authorization|bearer)\b[\"']?\s*(?:[:=]\s*|\s)(?:bearer\s+)?[\"']?"
        r"(?P<value>(?=[^\s\"']*\d)[A-Za-z0-9_+/=.~-]{12,})"
    ),
    "address of mail": re.compile(r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\b"),
}


def masked(text: str) -> tuple[str, Counter[str]]:
    """The text with `[masked KIND]` in place of each secret, and their numbers by kind."""
    numbers: Counter[str] = Counter()
    for kind, pattern in PATTERNS.items():

        def word(match: re.Match[str], kind: str = kind) -> str:
            numbers[kind] += 1
            value = match.groupdict().get("value") or match[0]
            return match[0].replace(value, f"[masked {kind}]")

        text = pattern.sub(word, text)
    return text, numbers
