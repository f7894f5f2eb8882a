"""Text files: written whole, and those of users opened, decompressed and read as tables, with errors that name the file
and line.
"""

import bz2
import csv
import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from litm.base.atomic_write import atomic_writer
from litm.base.errors import UserError
from litm.base.formatting import quoted

#: Characters: longest field of a table, which also bounds the text after an unclosed quote.
LONGEST_FIELD = 10_000_000
#: Delimiters of tables by the kind of their files.
DELIMITERS = {".csv": ",", ".tsv": "\t"}


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


def remedy(path: str | Path) -> str:
    """What to do about a damaged file."""
    made_again = "remove it and run the same command, which makes it again where it is needed"
    return made_again if is_result(path) else "get the file again"


def read_result_rows(path: str | Path) -> list[dict[str, str]]:
    """The rows of a CSV file that this workflow wrote, as texts; `UserError` for a damaged file."""
    check_whole(path)
    return [row for _, row in read_named_columns(Path(path), DELIMITERS[".csv"])]


def check_whole(path: str | Path) -> None:
    """Raise `UserError` for a CSV file of the results that does not end with a line end: a part of it is missing."""
    with Path(path).open("rb") as raw:
        raw.seek(max(0, raw.seek(0, os.SEEK_END) - 1))
        if is_result(path) and raw.read() != b"\n":
            raise UserError(f"{path}: its last line is incomplete: {remedy(path)}")


def read_text(path: str | Path) -> str:
    """The text of a file in UTF-8; `UserError` naming the file for one that is not."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text ({error.reason}); save the file as UTF-8") from error


def read_table(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number of its start, fields) for each non-blank row of a quoted table, plain or gzip.

    Raises `UserError` naming file and line for an unclosed quote, a broken file and text that is not UTF-8.
    """
    csv.field_size_limit(LONGEST_FIELD)
    line = 1
    with reading(path, lambda: f"line {line - 1}"), open_text(path) as lines:
        # Strict: otherwise an unclosed quote silently swallows lines up to the next quote.
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


def write_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8; the file appears under its name only when it is complete."""
    with atomic_writer(path) as raw:
        raw.write(text.encode())


def read_named_columns(path: Path, delimiter: str, needed: str | None = None) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line number of its start, fields by column) for each row after the header of a table.

    Raises `UserError` naming file and line as `read_table`, and for a header without the column `needed` or with two
    of one name, and a row of another length.
    """
    rows = read_table(path, delimiter)
    first, header = next(rows, (1, []))
    if needed is not None and needed not in header:
        found = quoted(", ".join(header)) if header else "nothing"
        raise UserError(f"{path}, line {first}: the header must have a column '{needed}', but has {found}")
    if len(set(header)) < len(header):
        raise UserError(
            f"{path}, line {first}: the header names a column twice ({quoted(', '.join(header))}); rename one"
        )
    for line, row in rows:
        if len(row) != len(header):
            raise UserError(
                f"{path}, line {line}: {len(row)} fields, but the header has {len(header)}; "
                f"put a text with {delimiter!r} in it between quotes"
            )
        yield line, dict(zip(header, row, strict=True))


def open_text(path: Path) -> IO[str]:
    """The file opened as UTF-8 text without a byte order mark, unpacked if its name ends in .gz."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def open_bytes(path: Path) -> IO[bytes]:
    """The file opened for reading, unpacked if its name ends in .gz or .bz2."""
    match path.suffix.lower():
        case ".gz":
            return cast(IO[bytes], gzip.open(path, "rb"))
        case ".bz2":
            return cast(IO[bytes], bz2.open(path, "rb"))
        case _:
            return path.open("rb")


@contextmanager
def reading(path: Path, reached: Callable[[], str]) -> Iterator[None]:
    """Turns errors of damaged data in `path` into a `UserError`; `reached` names the last good place."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text after {reached()} ({error.reason}); save the file as UTF-8") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _broken(path, reached(), error) from error
    except OSError as error:
        # Errors of the operating system have a number, errors in bz2 data have none.
        if error.errno is None:
            raise _broken(path, reached(), error) from error
        raise


def _broken(path: Path, reached: str, error: Exception) -> UserError:
    return UserError(f"{path}: broken compressed data after {reached} ({error}); {remedy(path)}")
