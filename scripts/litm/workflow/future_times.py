"""Files that were made while the clock was ahead, and would count as newer than all that is made from now on."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

#: The clock of a disk on the network may be ahead by seconds.
SECONDS_AHEAD = 60


def files_of_the_future(folder: str | Path, now: float) -> list[str]:
    """The files of a folder, and of those in it, whose times are later than `now` (seconds since 1970), sorted."""
    return sorted(path for path, changed in _times(str(folder)) if changed > now + SECONDS_AHEAD)


def _times(folder: str) -> Iterator[tuple[str, float]]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _times(entry.path)
            else:
                # A job of another run may delete it meanwhile.
                with suppress(OSError):
                    yield entry.path, entry.stat(follow_symlinks=False).st_mtime


def set_back(folder: str | Path, only_say: bool = False) -> str:
    """Give such files the time that it is now; a line that says so, "" where there are none.

    Otherwise what is made of another input from now on counts as older than what is made of it in turn, and that is
    not made again if the run is interrupted between the two. only_say: for a dry run, which changes nothing.
    """
    now = time.time()
    files = files_of_the_future(folder, now)
    if not files:
        return ""
    for file in files if not only_say else ():
        with suppress(OSError):
            os.utime(file, (now, now), follow_symlinks=False)
    what = "get" if only_say else "are given"
    return (
        f"{len(files)} files in {folder} have times in the future ({files[0]}, ...): the clock was ahead when they "
        f"were made; they {what} the time of {'the next run' if only_say else 'now'}"
    )
