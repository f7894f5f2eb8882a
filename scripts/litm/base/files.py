"""Files and folders: written whole under their names, opened unpacked, with errors that name file and place."""

import bz2
import codecs
import gzip
import io
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from litm.base.messages import UserError


def can_write(path: Path) -> bool:
    """Whether this folder can be written or, if there is none, be made."""
    there = next(folder for folder in (path.absolute(), *path.absolute().parents) if os.access(folder, os.F_OK))
    return os.access(there, os.W_OK | os.X_OK)


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


def force(raw: IO[bytes]) -> None:
    """Sync written data to the disk."""
    raw.flush()
    os.fsync(raw.fileno())


def force_names(folder: Path) -> None:
    """Sync the names of a folder's files to the disk."""
    opened = os.open(folder, os.O_RDONLY)
    # Not every file system can sync a folder; most write the names with the next data.
    with suppress(OSError):
        os.fsync(opened)
    os.close(opened)


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


def unpacked_name(path: str | Path) -> Path:
    """The base name of a file without .gz."""
    name = Path(Path(path).name)
    return Path(name.stem) if name.suffix.lower() == ".gz" else name


def file_kind(path: str | Path) -> str:
    """The ending that tells the format of a file, in lower case and without .gz: `.jsonl`; "" without one."""
    return unpacked_name(path).suffix.lower()


def is_result(path: str | Path) -> bool:
    """Whether a file is in the folder of results, whose files this workflow makes."""
    return Path(path).absolute().is_relative_to(Path("results").absolute())


def from_here(path: str | Path) -> str:
    """A path relative to the working directory if that is around it, so that it stays the same where both are moved,
    and so do paths from elsewhere where the working directory is moved.
    """
    return os.path.relpath(path) if Path(path).absolute().is_relative_to(Path.cwd()) else str(path)


def remedy(path: str | Path) -> str:
    """What to do about a damaged file."""
    made_again = "remove it and run the same command, which makes it again where it is needed"
    return made_again if is_result(path) else "get the file again"


def read_text(path: str | Path) -> str:
    """The text of a file in UTF-8; `UserError` naming the file for one that is not."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text ({error.reason}); save the file as UTF-8") from error


def write_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8; the file appears under its name only when it is complete."""
    with atomic_writer(path) as raw:
        raw.write(text.encode())


def open_text(path: Path) -> IO[str]:
    """The file opened as UTF-8 text, or UTF-16 after its byte order mark, which Excel writes; without this mark, and
    unpacked as in `open_bytes`.
    """
    raw = open_bytes(path)
    is_wide = raw.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return io.TextIOWrapper(raw, encoding="utf-16" if is_wide else "utf-8-sig", newline="")


def open_bytes(path: Path) -> io.BufferedReader:
    """The file opened for reading, unpacked if its name ends in .gz or .bz2."""
    unpack: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
    return unpack.get(path.suffix.lower(), open)(path, "rb")


@contextmanager
def reading(path: Path, reached: Callable[[], str]) -> Iterator[None]:
    """Turns errors of damaged data in `path` into a `UserError`; `reached` names the last good place."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: not UTF-8 text{_after(reached)} ({error.reason}); save the file as UTF-8 (in Excel: CSV UTF-8)"
        ) from error
    except (EOFError, zlib.error, OSError) as error:
        # Errors of the operating system have a number, those of compressed data have none.
        if getattr(error, "errno", None) is not None:
            raise
        raise UserError(f"{path}: broken compressed data{_after(reached)} ({error}); {remedy(path)}") from error


def _after(reached: Callable[[], str]) -> str:
    return "" if (place := reached()) in ("line 0", "its beginning") else f" after {place}"


def with_parts(page: str, parts: Mapping[str, str]) -> str:
    """The page with each text between the lines `<!-- PART: from here on ... -->` and `<!-- PART: up to here -->`;
    `ValueError` if it lacks one of them.
    """
    for part, text in parts.items():
        lines = re.compile(rf"(<!-- {part}: from here on [^\n]*-->\n).*?(<!-- {part}: up to here -->)", re.DOTALL)
        if not (match := lines.search(page)):
            raise ValueError(f"the page lacks the lines around its part '{part}'")
        page = f"{page[: match.start()]}{match[1]}\n{text}\n\n{match[2]}{page[match.end() :]}"
    return page
