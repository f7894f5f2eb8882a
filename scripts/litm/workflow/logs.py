"""Error messages in the logs of jobs."""

from collections.abc import Iterator
from pathlib import Path


def error_messages(folder: str | Path, since: float) -> Iterator[tuple[Path, str]]:
    """(log, last line) of each log written after `since` that ends in an error message, sorted by log name.

    since: seconds since the epoch.
    """
    for path in sorted(Path(folder).rglob("*.log")):
        last = path.read_text(errors="replace").strip().rpartition("\n")[2]
        if last.startswith("error: ") and path.stat().st_mtime >= since:
            yield path, last
