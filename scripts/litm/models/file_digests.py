"""The sha256 of files, looked up as long as a file is as it was when it was hashed."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from litm.base.hashing import digest, file_sha256, file_state, text_sha256
from litm.base.json_files import read_json, write_json

#: Where they are kept, from the working directory.
DIGESTS = "results/store/file_digests"
#: In bytes; smaller files are hashed in less time than it takes to look them up.
KEPT_FROM = 1048576


class FileDigests:
    """Hashes a file again only where its state is another than when it was hashed.

    store: a folder that keeps the digests for other processes, None to keep them in this one only. They are no
    results: places and times are one machine's. location: where the files are; each has a file of digests. kept_from:
    digests of files of so many bytes are kept there.
    """

    def __init__(self, store: str | Path | None = None, location: str = "", kept_from: int = 0) -> None:
        self._kept = Path(store) / f"{text_sha256(location)[:32]}.json" if store else None
        self._kept_from = kept_from
        self._known = read_json(self._kept) if self._kept and self._kept.exists() else {}

    def sha256(self, path: Path, before: Callable[[Path], None] = lambda path: None) -> str:
        """The sha256 of a file as it is now, as 64 hex digits. before: called with it before it is read."""
        # Before it is hashed: what is written to it meanwhile gives it another state.
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
        # Where nothing can be written, as for a dry run in somebody else's folder, files are hashed again.
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_json(file, {path: known for path, known in self._known.items() if self._is_large(known)})

    def _is_large(self, known: dict) -> bool:
        return known["state"][1] >= self._kept_from


def content_digest(paths: Iterable[Path], sha256: Callable[[Path], str] = file_sha256) -> str:
    """What is another text if a file is replaced, whatever its time: the digest of names with the sha256 of each.

    A file that is not there has none.
    """
    return digest({str(path): sha256(path) if path.exists() else None for path in paths})
