"""A secret that stands in no source, and a search for the files that have it all the same."""

import gzip
from contextlib import suppress
from pathlib import Path

CANARY = "sk-" + "CANARY" * 4


def files_with(folder: Path, text: str = CANARY) -> list[str]:
    """Files of a folder, hidden ones too, with a text in their names or bytes, those of gzip also unpacked."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            if path.suffix == ".gz":
                with suppress(OSError, EOFError):
                    data += gzip.decompress(data)
            if text in path.name or text.encode() in data:
                found.append(str(path.relative_to(folder)))
    return found
