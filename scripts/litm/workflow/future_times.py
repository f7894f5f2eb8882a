"""Files that were made while the clock was ahead, and would count as newer than all that is made from now on."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

#: The clock of a disk on the network may be ahead by seconds, of which nothing is said.
SECONDS_AHEAD = 60
#: Between times that differed before; what a file's time as a float in seconds still tells apart.
STEP = 1e-6


def files_of_the_future(folder: str | Path, now: float) -> dict[str, float]:
    """The files of a folder, and of those in it, whose times are later than `now`, with their times in seconds since
    1970, the latest first.
    """
    found = ((path, changed) for path, changed in _times(str(folder)) if changed > now)
    return dict(sorted(found, key=lambda file: (-file[1], file[0])))


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
    """Give such files the time that it is now, in their order; a line about those that are far ahead, "" without any.

    Otherwise what is made from now on, of an input that has changed, counts as older than what is made of it in turn,
    and that is not made again if the run is interrupted between the two. Their order tells which of them was still to
    be made again.
    """
    now = time.time()
    files = files_of_the_future(folder, now)
    rank = {changed: number for number, changed in enumerate(dict.fromkeys(files.values()))}
    for file, changed in files.items():
        with suppress(OSError):
            os.utime(file, (now - STEP * rank[changed],) * 2, follow_symlinks=False)
    far = sorted(file for file, changed in files.items() if changed > now + SECONDS_AHEAD)
    if not far:
        return ""
    return (
        f"{len(far)} files in {folder} had times in the future ({far[0]}, ...): the clock was ahead when they were "
        "made; they have the time of now"
    )
