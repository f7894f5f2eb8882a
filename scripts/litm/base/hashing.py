"""Content hashes of JSON values, texts and files, for journal keys and names in the store."""

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


def git_blob_id(path: str | Path) -> str:
    """The id (40 hex digits) of a file's content in git: the sha1 of `blob SIZE`, a zero byte and the content."""
    path = Path(path)
    started = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as raw:
        return hashlib.file_digest(raw, lambda: started).hexdigest()


def file_checksum(path: str | Path, expected: str) -> str:
    """The checksum of a file, of the same kind as `expected`: sha256 or git blob id (shorter)."""
    return file_sha256(path) if len(expected) == 64 else git_blob_id(path)


def checksum_kind(expected: str) -> str:
    """The name of a kind of checksum in messages."""
    return "sha256" if len(expected) == 64 else "git blob id"


def file_state(path: Path) -> list:
    """The state of a file: the target of its links, its size, and the times in ns of the last change of content and of
    metadata.

    The last cannot be set back, while `cp -p`, `rsync -a` and `tar` set the time of the content. The inode is left out:
    on some network disks it differs at each look, and large weights would be hashed at every batch.
    """
    facts = path.stat()
    return [os.path.realpath(path), facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns]
