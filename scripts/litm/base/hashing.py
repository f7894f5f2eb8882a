"""Content hashes of JSON values, texts and files, for journal keys and names in the store."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

#: Bytes at each end of a file that count for its state.
END = 65536


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
    """The state of a file: the target of its links, its size, the times in ns of the last change of content and of
    metadata, and the sha256 of its ends.

    The time of metadata cannot be set back, while `cp -p`, `rsync -a` and `tar` set the time of the content. Its ends
    tell apart files of images that are mounted in turn, whose times may all be equal. The inode is left out: on some
    network disks it differs at each look, and large weights would be hashed at every batch.
    """
    facts = path.stat()
    return [os.path.realpath(path), facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, _ends_sha256(path)]


def _ends_sha256(path: Path) -> str:
    """The sha256 of the first and last `END` bytes of a file; "" for a folder."""
    if path.is_dir():
        return ""
    with path.open("rb") as raw:
        first = raw.read(END)
        raw.seek(max(0, raw.seek(0, os.SEEK_END) - END))
        return hashlib.sha256(first + raw.read(END)).hexdigest()


def state_with_links(path: Path) -> list | None:
    """The `file_state` of a path, and the target and time (ns) of each link on the way to it; None for a missing file.

    It differs after a link was moved and put back.
    """
    if not path.exists():
        return None
    links = [one for one in (path.absolute(), *path.absolute().parents) if one.is_symlink()]
    return [file_state(path), *([str(one), str(one.readlink()), one.lstat().st_ctime_ns] for one in links)]
