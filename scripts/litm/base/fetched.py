"""Fetched files: checks before use that they are unchanged since their download."""

from contextlib import suppress
from pathlib import Path

from litm.base.errors import UserError
from litm.base.hashing import checksum_kind, file_checksum, file_state
from litm.base.json_files import read_json, write_json

#: Folder that records each fetched file's checksum and its state at that time.
RECORDS = "results/store/fetched"


def note_fetched(path: Path, checksum: str, records: str = RECORDS) -> None:
    """Record the checksum of a file in its current state."""
    record = _record(path, records)
    # The record only saves hashing, so a dry run in a read-only folder works too.
    with suppress(OSError):
        record.parent.mkdir(parents=True, exist_ok=True)
        write_json(record, {"checksum": checksum, "state": file_state(path)})


def check_fetched(path: Path, checksum: str, where: str, records: str = RECORDS) -> None:
    """Raise `UserError` if a fetched file has changed; it is hashed only if its state differs from the recorded one.

    checksum: the required one, a sha256 or a git blob id; where: the config entry that sets it. A file fetched under
    another checksum is skipped, because the workflow fetches it again.
    """
    record = _record(path, records)
    noted = read_json(record) if record.exists() else {}
    # Records of earlier versions use the kind of checksum as the key.
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
