"""Text files of users: opened, decompressed and read as tables, with errors that name the file and line."""

import bz2
import csv
import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from litm.base.errors import UserError

#: Characters: what a quote that is never closed may swallow, and the longest text in a table.
LONGEST_FIELD = 10_000_000


def read_table(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line it begins at, fields) for each row of a quoted table, plain or gzip, that is not blank.

    Raises `UserError` naming file and line for a quote without its partner, a broken file and text that is not UTF-8.
    """
    csv.field_size_limit(LONGEST_FIELD)
    line = 1
    with reading(path, lambda: f"line {line - 1}"), open_text(path) as lines:
        # Strict, because otherwise a quote that is not closed swallows the lines up to the next quote, in silence.
        rows = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            for row in rows:
                if row:
                    yield line, row
                line = rows.line_num + 1
        except csv.Error as error:
            raise UserError(
                f'{path}, line {line}: a quote (") in the row that begins here has no partner ({error}); '
                f'close it, or write a quote inside a text as ""'
            ) from error


def open_text(path: Path) -> IO[str]:
    """The file for reading as UTF-8 (a byte order mark is left out), unpacked if its name ends in .gz."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def open_bytes(path: Path) -> IO[bytes]:
    """The file for reading, unpacked if its name ends in .gz or .bz2."""
    match path.suffix.lower():
        case ".gz":
            return cast(IO[bytes], gzip.open(path, "rb"))
        case ".bz2":
            return cast(IO[bytes], bz2.open(path, "rb"))
        case _:
            return path.open("rb")


@contextmanager
def reading(path: Path, reached: Callable[[], str]) -> Iterator[None]:
    """Turns what damaged data in `path` raises into a `UserError`; `reached` says up to where it was fine."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text after {reached()} ({error.reason}); save the file as UTF-8") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _broken(path, reached(), error) from error
    except OSError as error:
        # An error of the operating system has a number, one of the data in a bz2 file has none.
        if error.errno is None:
            raise _broken(path, reached(), error) from error
        raise


def _broken(path: Path, reached: str, error: Exception) -> UserError:
    return UserError(f"{path}: broken compressed data after {reached} ({error}); get the file again")
