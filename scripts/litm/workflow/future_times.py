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


def set_back(folder: str | Path) -> str:
    """Give such files the time that it is now; a line that says so, "" where there are none.

    Otherwise what is made from now on, of an input that has changed, counts as older than what is made of it in turn,
    and that is not made again if the run is interrupted between the two.
    """
    now = time.time()
    files = files_of_the_future(folder, now)
    for file in files:
        with suppress(OSError):
            os.utime(file, (now, now), follow_symlinks=False)
    if not files:
        return ""
    return (
        f"{len(files)} files in {folder} had times in the future ({files[0]}, ...): the clock was ahead when they were "
        "made; they have the time of now"
    )
