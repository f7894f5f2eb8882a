"""The project's files, and files that other runs left: lost records, tables of other selections, times of the future.

rules/common.smk includes this file before the library can be imported, so it imports nothing of it.
"""

import os
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

#: Folder of Snakemake's records.
RECORDS = ".snakemake/metadata"
#: Seconds that a network disk's clock may be ahead without a message, and seconds between times that differed before; a
#: float can still distinguish them.
SECONDS_AHEAD, STEP = 60, 1e-6


def project_root(rules: Any) -> Path:
    """The project's folder. `rules`: Snakemake's folder of the rules (`workflow.current_basedir`).

    From a Git host Snakemake caches single files, but programs import other files, so the whole commit is unpacked into
    .snakemake/.
    """
    if rules.is_local:
        return Path(rules.get_path_or_uri(secret_free=False)).parent
    clone = rules.hosted_repo.repo
    commit = clone.commit(rules.ref).hexsha
    folder = Path(".snakemake", "lost_in_the_middle", commit)
    if not folder.exists():
        unpack_commit(clone, commit, folder)
    return folder.resolve()


def unpack_commit(clone: Any, commit: str, folder: Path) -> None:
    """Write the files of a commit of a `git.Repo` into a folder, atomically, safe for parallel processes."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as parts:
        archive = Path(parts, "files.tar")
        with archive.open("wb") as file:
            clone.archive(file, treeish=commit)
        files = Path(parts, "files")
        with tarfile.open(archive) as tar:
            # Python has these filters from 3.11.4 on.
            safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            tar.extractall(files, **safely)
        try:
            files.rename(folder)
        except OSError:
            if not folder.exists():
                raise


def unread_copies(catalogues: Iterable[str], root: Path) -> list[str]:
    """A line for each catalogue in config/ here that differs from the project's, which alone is read.

    `snakedeploy` copies the whole folder, and an edit of such a copy would change nothing.
    """
    copies = [Path("config", f"{kind}.yaml") for kind in catalogues]
    return [
        f"{copy} differs from the workflow's and is not read: put your entries under 'define' in config/config.yaml"
        for copy in copies
        if copy.is_file() and copy.read_bytes() != (root / copy).read_bytes()
    ]


def old_journals() -> list[str]:
    """A line if there are answers of an earlier version, which no sweep uses."""
    if not any(Path("results/journal").glob("*/*.jsonl")):
        return []
    return [
        "results/journal has answers of an earlier version, which are not used: take them in with "
        "`./litm answers import results`, then move that folder away"
    ]


def lost_records(results: Iterable[str]) -> list[str]:
    """A line if there are results, and no records of Snakemake's on what they were made of."""
    existing = [file for file in results if Path(file).exists()]
    if not existing or any(Path(RECORDS).glob("*")):
        return []
    return [
        f"{len(existing)} results ({existing[0]}, ...) have no record in {RECORDS} of what they were made of (was it "
        "deleted, or results/ copied without it?), so changes of config, data or code are not noticed: run once with "
        "--forceall, which asks no prompt whose answer is kept"
    ]


def other_tables(is_of_study: Callable[[str], bool]) -> list[str]:
    """A line if results/tables has tables that this selection does not have.

    is_of_study: whether this selection has a table of a path.
    """
    paths = (path.as_posix() for path in sorted(Path("results/tables").rglob("*.csv")))
    others = [path for path in paths if not is_of_study(path)]
    if not others:
        return []
    return [
        f"{len(others)} tables in results/tables are of another selection ({others[0]}): `--directory FOLDER` keeps "
        "studies apart"
    ]


def set_back(folder: str) -> list[str]:
    """Set files with future times to the present, keeping their order; a line if some are far ahead.

    They were made while the clock was ahead. A file remade from now on would count as older than the files made from
    it, and these would not be remade if the run is interrupted in between. The order tells which were still to be
    remade.
    """
    now = time.time()
    files = {path: changed for path, changed in _times(folder) if changed > now}
    rank = {changed: number for number, changed in enumerate(sorted({*files.values()}, reverse=True))}
    for file, changed in files.items():
        with suppress(OSError):
            os.utime(file, (now - STEP * rank[changed],) * 2, follow_symlinks=False)
    far = sorted(file for file, changed in files.items() if changed > now + SECONDS_AHEAD)
    if not far:
        return []
    return [
        f"{len(far)} files in {folder} had times in the future ({far[0]}, ...): the clock was ahead when they were "
        "made; they have the time of now"
    ]


def _times(folder: str) -> Iterator[tuple[str, float]]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _times(entry.path)
            else:
                # A job of another run may delete it meanwhile.
                with suppress(OSError):
                    yield entry.path, entry.stat(follow_symlinks=False).st_mtime
