"""Store of large intermediates, each under the digest of its inputs.

An index of 21 million passages must not be rebuilt because of a changed comment, and Snakemake deletes the outputs of a
job before running it. So the output of such a job is a small manifest, and the index lies in the store, which is no
output: an existing entry is not made again.
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
    """The name of an entry: the first 32 hex digits of the sha256 of `fields`."""
    return digest(fields)[:32]


def stored(
    folder: str | Path,
    fields: Mapping[str, Any],
    build: Callable[[Path], dict],
    is_whole: Callable[[Path, dict], bool] = lambda entry, facts: True,
) -> tuple[Path, dict]:
    """The entry for `fields` in the store `folder`, and its facts.

    If it is missing, `build(path)` makes it, a file or a folder at a temporary path, and returns its facts, a JSON
    object. After a crash `build` finds its leftovers at that path and may continue from them. Two jobs that need the
    same entry wait for each other. An entry is removed and rebuilt if `is_whole(entry, facts)` is False.
    """
    name = store_digest(fields)
    entry, about = Path(folder) / name, Path(folder) / f"{name}.json"
    entry.parent.mkdir(parents=True, exist_ok=True)
    with _locked(entry.with_name(f".{name}.lock")):
        if not (entry.exists() and about.exists() and is_whole(entry, read_json(about)["facts"])):
            _remove(entry)
            partial = entry.with_name(f".{name}.partial")
            # The entry gets its name last: after an earlier crash `build` continues from the leftovers.
            write_json(about, {"made_of": fields, "facts": build(partial)})
            partial.replace(entry)
    return entry, read_json(about)["facts"]


def existing(entry: str | Path, made_by: str) -> Path:
    """The path of an entry that a manifest names; `UserError` if the entry was deleted."""
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
