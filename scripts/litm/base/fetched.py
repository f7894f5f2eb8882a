"""Fetched files, looked at again before they are used: whether they are still what was checked when they came."""

from contextlib import suppress
from pathlib import Path

from litm.base.errors import UserError
from litm.base.hashing import checksum_kind, file_checksum, file_state
from litm.base.json_files import read_json, write_json

#: Where it is kept which sum a fetched file had, and in which state it was then.
RECORDS = "results/store/fetched"


def note_fetched(path: Path, checksum: str, records: str = RECORDS) -> None:
    """Write down that a file has this sum as it is now."""
    record = _record(path, records)
    # It saves hashing, and no more: a dry run in a folder that cannot be written to works too.
    with suppress(OSError):
        record.parent.mkdir(parents=True, exist_ok=True)
        write_json(record, {"checksum": checksum, "state": file_state(path)})


def check_fetched(path: Path, checksum: str, where: str, records: str = RECORDS) -> None:
    """Raise `UserError` if a fetched file was changed since; hashed only if its state is not the one it was noted in.

    checksum: what it must have, a sha256 or a git blob id; where: the config's place that says so. A file that was
    fetched under another sum is not looked at, as the workflow fetches it again.
    """
    record = _record(path, records)
    noted = read_json(record) if record.exists() else {}
    # Records of earlier versions call it by its kind.
    is_other_file = noted.get("checksum", noted.get("sha256", checksum)) != checksum
    if not path.exists() or is_other_file or noted.get("state") == file_state(path):
        return
    found = file_checksum(path, checksum)
    if found != checksum:
        raise UserError(
            f"{path}: it was changed after it was downloaded (its {checksum_kind(checksum)} is {found}, but {where} "
            f"says {checksum}): delete it, and it is downloaded again"
        )
    note_fetched(path, checksum, records)


def _record(path: Path, records: str) -> Path:
    return Path(records) / f"{path.name}.json"
