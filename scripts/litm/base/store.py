"""Large intermediates, kept under the digest of what they are made of.

An index of 21 million passages must not be built again because a comment changed in the code that builds it, and
Snakemake deletes the outputs of a job before it runs it. So the job's output is a small manifest, and the index
lies in a store that is no output: what is there is not made again.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from litm.base.errors import UserError
from litm.base.hashing import digest
from litm.base.json_files import read_json, write_json
from litm.base.locks import lock
from litm.base.messages import note


def store_digest(fields: Mapping[str, Any]) -> str:
    """A short name for an entry: of the sha256 of all that it is made of, the first 32 hex digits."""
    return digest(fields)[:32]


def stored(
    folder: str | Path,
    fields: Mapping[str, Any],
    build: Callable[[Path], dict],
    is_whole: Callable[[Path, dict], bool] = lambda entry, facts: True,
) -> tuple[Path, dict]:
    """The entry of the store `folder` that is made of `fields`, and what is known of it.

    If it is not there, `build(path)` makes it, a file or a folder at a path that gets its name once it is complete,
    and returns a JSON object about it. After a crash, `build` finds what it had left at that path and may go on
    with it. Two jobs that want the same entry wait for one another. An entry for which `is_whole(entry, facts)` is
    False is removed and made again.
    """
    name = store_digest(fields)
    entry, about = Path(folder) / name, Path(folder) / f"{name}.json"
    entry.parent.mkdir(parents=True, exist_ok=True)
    with _locked(entry.with_name(f".{name}.lock")):
        if not (entry.exists() and about.exists() and is_whole(entry, read_json(about)["facts"])):
            _remove(entry)
            partial = entry.with_name(f".{name}.partial")
            # Last of all the entry gets its name: a crash before that leaves what `build` goes on with.
            write_json(about, {"made_of": fields, "facts": build(partial)})
            partial.replace(entry)
    return entry, read_json(about)["facts"]


def existing(entry: str | Path, made_by: str) -> Path:
    """The path of an entry that a manifest names; `UserError` if somebody has deleted it since."""
    if not Path(entry).exists():
        raise UserError(f"{entry} is gone from the store: make it again with `snakemake --forcerun {made_by} ...`")
    return Path(entry)


def _remove(entry: Path) -> None:
    if entry.is_dir():
        shutil.rmtree(entry)
    else:
        entry.unlink(missing_ok=True)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        if not lock(file):
            note(f"another job is making {path.stem.lstrip('.')}, waiting for it")
            lock(file, wait=True)
        yield
