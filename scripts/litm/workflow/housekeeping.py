"""Files and records that Snakemake leaves to us: lost records, leftovers, future times; and its scheduler's wakes."""

import json
import os
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

#: Folder of Snakemake's records, relative to the working directory.
RECORDS = ".snakemake/metadata"
#: Characters of a record's name from which on Snakemake splits it, depending on the file system.
LONGEST = 200


def unrecorded(files: Iterable[str], records: str | Path = RECORDS) -> list[str]:
    """Those of a workflow's files that are there without a record of what they were made of."""
    return [
        file for file in files if len(_name(file)) <= LONGEST and Path(file).exists() and not is_recorded(file, records)
    ]


def is_recorded(file: str, records: str | Path = RECORDS) -> bool:
    """Whether Snakemake has a record of a file or folder, of those whose records have short names."""
    name = _name(file)
    return len(name) <= LONGEST and (Path(records) / name).exists()


def _name(file: str) -> str:
    return urlsafe_b64encode(file.encode()).decode()


def say_unrecorded(files: Iterable[str], records: str | Path = RECORDS) -> str:
    """A line on such files, "" if there are none."""
    found = unrecorded(files, records)
    if not found:
        return ""
    return (
        f"{len(found)} results ({found[0]}, ...) have no record in {records} of what they were made of (was it "
        "deleted, or results/ copied without it?), so changes of config, data or code are not noticed: run once with "
        "--forceall, which asks no prompt that a journal has the answer of"
    )


#: Folders of results/ that people read, and where what is not of this study goes.
READ, ASIDE = ("tables", "figures", "summaries", "suite_export"), "other_selections"


def put_aside(
    config: str,
    is_output: Callable[[str], bool],
    results: str | Path = "results",
    records: str | Path = RECORDS,
) -> str:
    """Move what another selection left; a line that names it, '' where nothing was moved.

    Only if all tables are of this one, whose digest is `config`, and only what Snakemake has made. is_output: whether a
    rule of this selection makes a path.
    """
    if _recorded_config(Path(results)) != config:
        return ""
    left = [
        path
        for folder in READ
        for path in sorted((Path(results) / folder).glob("*"))
        if not is_output(path.as_posix()) and is_recorded(path.as_posix(), records)
    ]
    for path in left:
        target = Path(results) / ASIDE / path.parent.name / path.name
        _move(path, target)
    if not left:
        return ""
    named = ", ".join(f"{path.parent.name}/{path.name}" for path in left[:3])
    more = f" and {len(left) - 3} more" if len(left) > 3 else ""
    return f"of another selection, put aside in {results}/{ASIDE}: {named}{more}"


def _recorded_config(results: Path) -> str | None:
    """The digest of the tables' config; None if their record is missing or cut off, so that nothing is moved."""
    try:
        return json.loads((results / "tables" / "study.json").read_text(encoding="utf-8"))["config"]
    except (FileNotFoundError, ValueError):
        return None


def _move(path: Path, target: Path) -> None:
    """Move a file, or all files of a folder, over what was put aside before."""
    if path.is_dir():
        for one in sorted(path.rglob("*")):
            if one.is_file():
                _move(one, target / one.relative_to(path))
        for folder in sorted((one for one in path.rglob("*") if one.is_dir()), reverse=True):
            folder.rmdir()
        path.rmdir()
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    path.replace(target)


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


#: Snakemake's method, spelt as there: wakes the scheduler after a delay in seconds.
METHOD = "_schedule_reevalutation"
#: The semaphore that it releases.
WOKEN = "_open_jobs"


def wake_once_at_a_time(scheduler: Any) -> None:
    """Let a scheduler of Snakemake's have one wake pending at most; without effect if it lacks `METHOD` or `WOKEN`."""
    if hasattr(scheduler, METHOD) and hasattr(scheduler, WOKEN):
        setattr(scheduler, METHOD, OneWake(getattr(scheduler, WOKEN).release))


class OneWake:
    """Calls `wake` after a delay, unless a call is pending already."""

    def __init__(self, wake: Any) -> None:
        self._wake = wake
        self._pending = False
        self._lock = threading.Lock()

    def __call__(self, delay: float) -> None:
        """Call `wake` in `delay` seconds, in a thread."""
        with self._lock:
            if not self._pending:
                self._pending = True
                threading.Timer(delay, self._call).start()

    def _call(self) -> None:
        # Before the wake, which may ask for the next one.
        with self._lock:
            self._pending = False
        self._wake()
