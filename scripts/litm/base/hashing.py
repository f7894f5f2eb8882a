"""Content hashes: of JSON values, texts and files. Journal keys and names in the store are made of them."""

import hashlib
import json
import os
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


def file_state(path: Path) -> list:
    """Where links lead, size, and the times in ns at which the content, and anything of the file, were last changed.

    The last cannot be set back, as `cp -p`, `rsync -a` and `tar` do with the time of the content. No inode: on
    some network disks that is another whenever one looks, and large weights would be hashed at every batch.
    """
    facts = path.stat()
    return [os.path.realpath(path), facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns]
