"""Files with future times, made while the clock was ahead: they would count as newer than all later files."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

#: Seconds that a network disk's clock may be ahead without a message.
SECONDS_AHEAD = 60
#: Seconds between times that differed before; a float can still distinguish them.
STEP = 1e-6


def files_of_the_future(folder: str | Path, now: float) -> dict[str, float]:
    """The files in a folder and its subfolders with times later than `now`, latest first, in seconds since 1970."""
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
    """Set such files to the present, keeping their order; returns a line on those far ahead, "" without any.

    Otherwise a file remade from now on would count as older than the files made from it, and these would not be remade
    if the run is interrupted in between. The order tells which files were still to be remade.
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
