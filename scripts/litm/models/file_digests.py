"""File digests: sha256 sums, looked up while a file is unchanged since it was hashed."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from litm.base.records import read_json, write_json
from litm.base.store import digest, file_sha256, file_state, text_sha256

#: Folder of the digests, relative to the working directory.
DIGESTS = "results/store/file_digests"
#: Bytes: smaller files are hashed faster than looked up.
KEPT_FROM = 1048576


class FileDigests:
    """Hashes a file again only if its state has changed.

    store: a folder that keeps the digests for other processes, None to keep them in this one only. Digests are no
    results: they depend on paths and times of one machine. location: the folder of the files; each has its own file of
    digests. kept_from: bytes from which on a file's digest is kept.
    """

    def __init__(self, store: str | Path | None = None, location: str = "", kept_from: int = 0) -> None:
        self._kept = Path(store) / f"{text_sha256(location)[:32]}.json" if store else None
        self._kept_from = kept_from
        self._known = read_json(self._kept) if self._kept and self._kept.exists() else {}

    def sha256(self, path: Path, before: Callable[[Path], None] = lambda path: None) -> str:
        """The current sha256 of a file, 64 hex digits. before: called with the file before it is read."""
        # Taken before hashing: a write during hashing then changes the state.
        state = file_state(path)
        known = self._known.get(str(path))
        if known is None or known["state"] != state:
            before(path)
            known = {"state": state, "sha256": file_sha256(path)}
            self._known[str(path)] = known
            if self._kept and path.stat().st_size >= self._kept_from:
                self._keep(self._kept)
        return known["sha256"]

    def _keep(self, file: Path) -> None:
        # In a read-only folder (a dry run in somebody else's, say), files are hashed again.
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_json(file, {path: known for path, known in self._known.items() if self._is_large(known)})

    def _is_large(self, known: dict) -> bool:
        return known["state"][1] >= self._kept_from


def content_digest(paths: Iterable[Path], sha256: Callable[[Path], str] = file_sha256) -> str:
    """The digest of names with the sha256 of each file, which changes if a file is replaced, whatever its time.

    A missing file has no sha256.
    """
    return digest({str(path): sha256(path) if path.exists() else None for path in paths})
