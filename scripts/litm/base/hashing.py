"""Content hashes: of JSON values, texts and files. Journal keys and names in the store are made of them."""

import hashlib
import json
from pathlib import Path
from typing import Any


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values have equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest(value: object) -> str:
    """The sha256 (64 hex digits) of a JSON value; equal values have equal digests, whatever the order of their keys."""
    return text_sha256(canonical_json(value))


def text_sha256(text: str) -> str:
    """The sha256 of a text in UTF-8, as 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def file_sha256(path: str | Path) -> str:
    """The sha256 of a file, as 64 hex digits."""
    with Path(path).open("rb") as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()
