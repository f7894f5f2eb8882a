"""Atomic writes: files and folders appear under their names only when they are complete."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def atomic_writer(path: str | Path) -> Iterator[IO[bytes]]:
    """A binary file that appears under its name only when it is complete."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as raw:
            yield raw
            raw.flush()
        partial.replace(path)
    except OSError as error:
        # Errors of writing and flushing do not name the file.
        error.filename = error.filename or str(path)
        raise
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def folder_writer(path: str | Path) -> Iterator[Path]:
    """A new folder that appears under its name only when it is complete, replacing an existing one."""
    path = Path(path)
    partial = path.with_name(f".{path.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        if path.exists():
            shutil.rmtree(path)
        partial.replace(path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
