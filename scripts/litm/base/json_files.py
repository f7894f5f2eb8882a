"""Reading and writing JSON Lines (plain or gzip) so that the same records give the same bytes."""

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from litm.base.atomic_write import atomic_writer
from litm.base.errors import UserError
from litm.base.text_files import open_text, reading

#: Prompts become 5 % larger than with the greatest, 9, in a quarter of the time.
GZIP_LEVEL = 4


#: What may be half a character: a high surrogate without a low one behind it, or a low one with no high one before it.
HALF_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


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


def read_json_list(path: str | Path) -> Iterator[tuple[int, dict]]:
    """Yield (line number from 1 where it begins, record) for each object of a file that is one JSON list.

    Raises `UserError` naming file and line for text that is not such a list, and for a broken file.
    """
    path = Path(path)
    with reading(path, lambda: "its beginning"), open_text(path) as file:
        text = file.read()
    records = parse_json(text, str(path))
    if not isinstance(records, list):
        raise UserError(f"{path}: expected a list of JSON objects, [{{...}}, ...], found {type(records).__name__}")
    decoder, line, counted = json.JSONDecoder(), 1, 0
    begin = _BETWEEN.match(text).end()  # type: ignore[union-attr]
    for record in records:
        line, counted = line + text.count("\n", counted, begin), begin
        if not isinstance(record, dict):
            raise UserError(f"{path}, line {line}: expected a JSON object, found {type(record).__name__}")
        yield line, record
        begin = _BETWEEN.match(text, decoder.raw_decode(text, begin)[1]).end()  # type: ignore[union-attr]


#: What may be between two entries of a list, and before the first one.
_BETWEEN = re.compile(r"[\s,\[]*")


def parse_object(text: str, where: str) -> dict:
    """The JSON object in `text`; `UserError` beginning with `where` as `parse_json` does, and for another value."""
    record = parse_json(text, where)
    if not isinstance(record, dict):
        raise UserError(f"{where}: expected a JSON object, found {type(record).__name__}")
    return record


def parse_json(text: str, where: str) -> Any:
    """The value of a JSON text, which every file in UTF-8 can hold.

    Raises `UserError` beginning with `where` for what is not JSON, a key that an object has twice, half a character (a
    lone surrogate, `"\\ud83d"`), and what Python does not read: some thousand brackets in one another, numbers of some
    thousand digits.
    """
    try:
        value = json.loads(text, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if "\n" not in text.rstrip() else f"line {error.lineno}, column {error.colno}"
        raise UserError(f"{where}: not valid JSON ({error.msg.removesuffix(' at')}, {place})") from error
    except _DuplicateKey as error:
        raise UserError(f"{where}: one object has the key {error} twice: remove one of them") from None
    except RecursionError as error:
        raise UserError(f"{where}: too many brackets in one another to be read") from error
    except ValueError as error:
        raise UserError(f"{where}: a number has too many digits to be read: write it as a text") from error
    if ("\\ud" in text or "\\uD" in text) and not _is_whole(value):
        half = HALF_CHARACTER.search(text)
        place = f"{half[0]} (column {half.start() + 1})" if half else "one of its texts"
        raise UserError(f"{where}: {place} is half a character, which no file can hold: write \\ufffd instead")
    return value


class _DuplicateKey(Exception):
    """A key that an object has twice."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _DuplicateKey(repr(next(key for key in keys if keys.count(key) > 1))[:100])
    return record


def _is_whole(value: object) -> bool:
    """Whether a value of JSON can be written in UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


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
