"""Folders packed as zip files."""

import shutil
import zipfile
from pathlib import Path

from litm.base.atomic_write import atomic_writer

#: Files that are compressed already.
COMPRESSED = (".gz", ".png")


def write_zip(path: str | Path, folder: str | Path, name: str) -> None:
    """All files of a folder as a folder `name`: the same files give the same bytes."""
    folder = Path(folder)
    files = {f"{name}/{file.relative_to(folder).as_posix()}": file for file in folder.rglob("*") if file.is_file()}
    with atomic_writer(path) as raw, zipfile.ZipFile(raw, "w") as packed:
        for entry in sorted(files):
            info = zipfile.ZipInfo(entry, date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o100644 << 16
            info.compress_type = zipfile.ZIP_STORED if entry.endswith(COMPRESSED) else zipfile.ZIP_DEFLATED
            with files[entry].open("rb") as source, packed.open(info, "w") as target:
                shutil.copyfileobj(source, target)
