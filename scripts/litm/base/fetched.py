"""Fetched files, looked at again before they are used: whether they are still what was checked when they came."""

from contextlib import suppress
from pathlib import Path

from litm.base.errors import UserError
from litm.base.hashing import file_sha256, file_state
from litm.base.json_files import read_json, write_json

#: Where it is kept which sum a fetched file had, and in which state it was then.
RECORDS = "results/store/fetched"


def note_fetched(path: Path, sha256: str, records: str = RECORDS) -> None:
    """Write down that a file has this sum as it is now."""
    record = _record(path, records)
    # It saves hashing, and no more: a dry run in a folder that cannot be written to works too.
    with suppress(OSError):
        record.parent.mkdir(parents=True, exist_ok=True)
        write_json(record, {"sha256": sha256, "state": file_state(path)})


def check_fetched(path: Path, sha256: str, where: str, records: str = RECORDS) -> None:
    """Raise `UserError` if a fetched file was changed since; hashed only if its state is not the one it was noted in.

    sha256: what it must have; where: the config's place that says so. A file that was fetched under another sum is
    not looked at, as the workflow fetches it again.
    """
    record = _record(path, records)
    noted = read_json(record) if record.exists() else {}
    is_other_file = noted.get("sha256", sha256) != sha256
    if not path.exists() or is_other_file or noted.get("state") == file_state(path):
        return
    found = file_sha256(path)
    if found != sha256:
        raise UserError(
            f"{path}: it was changed after it was downloaded (its sha256 is {found}, but {where} says {sha256}): "
            "delete it, and it is downloaded again"
        )
    note_fetched(path, sha256, records)


def _record(path: Path, records: str) -> Path:
    return Path(records) / f"{path.name}.json"
