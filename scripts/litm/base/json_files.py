"""Reading and writing JSON Lines (plain or gzip) so that the same records give the same bytes."""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from litm.base.atomic_write import atomic_writer
from litm.base.errors import UserError

#: Prompts become 5 % larger than with the greatest, 9, in a quarter of the time.
GZIP_LEVEL = 4


def read_jsonl(path: str | Path) -> Iterator[tuple[int, dict]]:
    """Yield (line number from 1, record) for each line that is not blank.

    Raises `UserError` naming file and line for text that is not a JSON object, and for a broken gzip file.
    """
    path = Path(path)
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, parse_object(line, f"{path}, line {number}")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UserError(f"{path}: broken gzip data after line {number} ({error}); get the file again") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text after line {number} ({error.reason})") from error


def parse_object(text: str, where: str) -> dict:
    """The JSON object in `text`; `UserError` beginning with `where` when there is none."""
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"{where}: not valid JSON ({error.msg.removesuffix(' at')}, column {error.colno})") from error
    if not isinstance(record, dict):
        raise UserError(f"{where}: expected a JSON object, found {type(record).__name__}")
    return record


def typed_field(record: object, name: str, kind: type, where: str) -> Any:
    """The field of a record; `UserError` beginning with `where` if it is missing or not of that type."""
    if not isinstance(record, dict) or name not in record:
        raise UserError(f"{where}: the field '{name}' is missing")
    if not isinstance(record[name], kind):
        raise UserError(f"{where}: '{name}' must be a {kind.__name__}, found {type(record[name]).__name__}")
    return record[name]


def write_jsonl(path: str | Path, records: Iterable[dict]) -> None:
    """Write records one a line, gzip if the name ends in .gz; byte for byte reproducible, all or nothing."""
    with atomic_writer(path) as raw:
        if Path(path).suffix != ".gz":
            raw.writelines(json.dumps(record).encode() + b"\n" for record in records)
            return
        # No name and no time in the gzip header, so that equal records give equal bytes.
        with gzip.GzipFile(filename="", mode="wb", compresslevel=GZIP_LEVEL, fileobj=raw, mtime=0) as packed:
            for record in records:
                packed.write(json.dumps(record).encode() + b"\n")


def write_json(path: str | Path, value: Any) -> None:
    """Write one JSON value, indented and with sorted keys."""
    with atomic_writer(path) as raw:
        raw.write(json.dumps(value, indent=2, sort_keys=True).encode() + b"\n")


def read_json(path: str | Path) -> dict:
    """Read one JSON object; `UserError` naming the file if it is none."""
    return parse_object(Path(path).read_text(encoding="utf-8"), str(path))
