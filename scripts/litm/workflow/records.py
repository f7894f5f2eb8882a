"""Results of which Snakemake has no record, so that it does not notice a change of what they were made of."""

from base64 import urlsafe_b64encode
from collections.abc import Iterable
from pathlib import Path

#: Where Snakemake keeps what each file was made of, from the working directory.
RECORDS = ".snakemake/metadata"
#: Snakemake divides longer names of records, which depends on the file system.
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
    """A line about such files, "" where there are none."""
    found = unrecorded(files, records)
    if not found:
        return ""
    return (
        f"{len(found)} results ({found[0]}, ...) have no record in {records} of what they were made of (was it "
        "deleted, or results/ copied without it?), so changes of config, data or code are not noticed: run once with "
        "--forceall, which asks no prompt that a journal has the answer of"
    )
