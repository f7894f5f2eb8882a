"""Snakemake's records: results without one, for which Snakemake does not notice changed inputs."""

from base64 import urlsafe_b64encode
from collections.abc import Iterable
from pathlib import Path

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
