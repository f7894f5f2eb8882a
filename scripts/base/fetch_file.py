"""Fetch a remote file from the mirror folder or the network, and check it.

checksum: what the file must have: a sha256 or a git blob id
mirror: a folder to look in first, by base name
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.download import fetch, note_fetched
from litm.base.messages import note
from litm.base.store import checksum_kind


@program
def main(url: str, checksum: str, output: str, mirror: str | None = None) -> None:
    source = fetch(url, checksum, mirror, output)
    note_fetched(Path(output), checksum)
    note(f"{output}: from {source}, {checksum_kind(checksum)} is right")
