"""Digests of contents, locks, and the store, which keeps large intermediates under the digests of their inputs.

An index of 21 million passages must not be rebuilt because of a changed comment, and Snakemake deletes the outputs of a
job before running it. So the output of such a job is a small manifest, and the index lies in the store, which is no
output: an existing entry is not made again.
"""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from litm.base.json_files import read_json, write_json
from litm.base.messages import UserError, note

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
    links = [part for part in (path.absolute(), *path.absolute().parents) if part.is_symlink()]
    return [file_state(path), *([str(link), str(link.readlink()), link.lstat().st_ctime_ns] for link in links)]


#: Error numbers on file systems without locks.
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


SECONDS_BETWEEN_TRIES = 1.0


def lock(file: IO, wait: bool = False) -> bool:
    """Lock an open file against other processes; False if another one holds the lock, unless `wait`.

    The system releases it when the file is closed or the process ends in any way. On a file system without locks a
    message says this, and the file counts as locked. Not `filelock.FileLock`, which falls back to a marker file where
    locks are missing, and a killed process leaves that file.
    """
    # Imported here: the rules import this module, and Snakemake does not bring the package.
    from filelock import lock_descriptor

    try:
        return lock_descriptor(file.fileno(), blocking=wait, poll_interval=SECONDS_BETWEEN_TRIES)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        note(f"{Path(file.name)}: this file system has no locks; make sure that no other run writes to it")
        return True


def stored(
    folder: str | Path,
    fields: Mapping[str, Any],
    build: Callable[[Path], dict],
    is_whole: Callable[[Path, dict], bool] = lambda entry, facts: True,
) -> tuple[Path, dict]:
    """The entry for `fields` in the store `folder`, and its facts.

    If it is missing, `build(path)` makes it, a file or a folder at a temporary path, and returns its facts, a JSON
    object. After a crash `build` finds its leftovers at that path and may continue from them. Two jobs that need the
    same entry wait for each other. An entry is removed and rebuilt if `is_whole(entry, facts)` is False.
    """
    name = digest(fields)[:32]
    entry, about = Path(folder) / name, Path(folder) / f"{name}.json"
    entry.parent.mkdir(parents=True, exist_ok=True)
    with _locked(entry.with_name(f".{name}.lock")):
        if not (entry.exists() and about.exists() and is_whole(entry, read_json(about)["facts"])):
            # A folder or a file.
            shutil.rmtree(entry, ignore_errors=True)
            entry.unlink(missing_ok=True)
            partial = entry.with_name(f".{name}.partial")
            # The entry gets its name last: after an earlier crash `build` continues from the leftovers.
            write_json(about, {"made_of": fields, "facts": build(partial)})
            partial.replace(entry)
    return entry, read_json(about)["facts"]


def existing(entry: str | Path, made_by: str) -> Path:
    """The path of an entry that a manifest names; `UserError` if the entry was deleted."""
    if not Path(entry).exists():
        raise UserError(f"{entry} is gone from the store: make it again with `snakemake --forcerun {made_by} ...`")
    return Path(entry)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        if not lock(file):
            note(f"another job is making {path.stem.lstrip('.')}, waiting for it")
            lock(file, wait=True)
        yield
