"""The sha256 of files, looked up as long as a file is as it was when it was hashed."""

import os
from collections.abc import Iterable
from pathlib import Path

from litm.base.hashing import digest, file_sha256, text_sha256
from litm.base.json_files import read_json, write_json

#: In bytes; as `max-checksum-file-size` in the profiles, up to which Snakemake itself reads files before it starts.
HASHED_BEFORE_A_RUN = 104857600


class FileDigests:
    """Hashes a file again only where its state is another than when it was hashed.

    store: a folder that keeps the digests for other processes, None to keep them in this one only. They are no
    results: places and times are one machine's. location: where the files are; each has a file of digests.
    """

    def __init__(self, store: str | Path | None = None, location: str = "") -> None:
        self._kept = Path(store) / f"{text_sha256(location)[:32]}.json" if store else None
        self._known = read_json(self._kept) if self._kept and self._kept.exists() else {}

    def sha256(self, path: Path) -> str:
        """The sha256 of a file as it is now, as 64 hex digits."""
        # Before it is hashed: what is written to it meanwhile gives it another state.
        state = file_state(path)
        known = self._known.get(str(path))
        if known is None or known["state"] != state:
            known = {"state": state, "sha256": file_sha256(path)}
            self._known[str(path)] = known
            if self._kept:
                self._kept.parent.mkdir(parents=True, exist_ok=True)
                write_json(self._kept, self._known)
        return known["sha256"]


def file_state(path: Path) -> list:
    """Where links lead, size, and the times in ns at which the content, and anything of the file, were last changed.

    The last cannot be set back, as `cp -p`, `rsync -a` and `tar` do with the time of the content. No inode: on
    some network disks that is another whenever one looks, and large weights would be hashed at every batch.
    """
    facts = path.stat()
    return [os.path.realpath(path), facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns]


def content_digest(paths: Iterable[Path]) -> str:
    """What is another text if a file is replaced, whatever its time: the digest of names with the sha256 of each.

    Of files too large to be read whenever a workflow starts it is the size, and the time of the content.
    """
    return digest({str(path): _content(path) for path in paths})


def _content(path: Path) -> str | list[int]:
    facts = path.stat()
    return file_sha256(path) if facts.st_size <= HASHED_BEFORE_A_RUN else [facts.st_size, facts.st_mtime_ns]
