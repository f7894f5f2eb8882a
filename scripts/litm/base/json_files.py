"""JSON and JSON Lines files (plain or gzip); equal records give equal bytes."""

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from litm.base.atomic_write import atomic_writer
from litm.base.errors import UserError
from litm.base.text_files import file_kind, is_result, open_text, read_text, reading, remedy, write_text

#: gzip level: prompts are 5 % larger than at level 9, in a quarter of the time.
GZIP_LEVEL = 4


#: Escapes of lone surrogates: a high one without a low one after it, or a low one without a high one before it.
HALF_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


def read_jsonl(path: str | Path) -> Iterator[tuple[int, dict]]:
    """Yield (line number from 1, record) for each non-blank line.

    Raises `UserError` naming file and line for text that is not a JSON object, and for a broken file.
    """
    path = Path(path)
    number = 0
    with reading(path, lambda: f"line {number}"), open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, parse_object(line, f"{path}, line {number}")


def read_json_list(path: str | Path) -> Iterator[tuple[int, dict]]:
    """Yield (line number of its start from 1, record) for each object of a file that is one JSON list, or one object.

    Raises `UserError` naming file and line for any other text, and for a broken file.
    """
    path = Path(path)
    with reading(path, lambda: "its beginning"), open_text(path) as file:
        text = file.read()
    value = parse_json(text, str(path))
    if not isinstance(value, dict | list):
        raise UserError(f"{path}: expected a list of JSON objects, [{{...}}, ...], found {type(value).__name__}")
    records = [value] if isinstance(value, dict) else value
    decoder, line, counted = json.JSONDecoder(), 1, 0
    begin = _BETWEEN.match(text).end()  # type: ignore[union-attr]
    for record in records:
        line, counted = line + text.count("\n", counted, begin), begin
        if not isinstance(record, dict):
            raise UserError(f"{path}, line {line}: expected a JSON object, found {type(record).__name__}")
        yield line, record
        begin = _BETWEEN.match(text, decoder.raw_decode(text, begin)[1]).end()  # type: ignore[union-attr]


def read_records(path: str | Path) -> Iterator[tuple[int, dict]]:
    """The records of a file that is one JSON list or object (.json), or of JSON Lines; yields and raises as these."""
    return read_json_list(path) if file_kind(path) == ".json" else read_jsonl(path)


#: Text between the entries of a list, and before the first one.
_BETWEEN = re.compile(r"[\s,\[]*")


def parse_object(text: str, where: str) -> dict:
    """The JSON object in `text`; `UserError` beginning with `where`, as in `parse_json`, also for any other value."""
    record = parse_json(text, where)
    if not isinstance(record, dict):
        raise UserError(f"{where}: expected a JSON object, found {type(record).__name__}")
    return record


def parse_json(text: str, where: str) -> Any:
    """The value of a JSON text that can be written in UTF-8.

    Raises `UserError` beginning with `where` for invalid JSON, a duplicate key, a lone surrogate (`"\\ud83d"`), and
    what Python cannot read: thousands of nested brackets, numbers of thousands of digits.
    """
    try:
        value = json.loads(text, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if "\n" not in text.rstrip() else f"line {error.lineno}, column {error.colno}"
        raise UserError(f"{where}: not valid JSON ({error.msg.removesuffix(' at')}, {place})") from error
    except _DuplicateKey as error:
        raise UserError(f"{where}: one object has the key {error} twice: remove one of them") from None
    except RecursionError as error:
        raise UserError(f"{where}: brackets are nested too deeply") from error
    except ValueError as error:
        raise UserError(f"{where}: a number has too many digits to be read: write it as a text") from error
    if ("\\ud" in text or "\\uD" in text) and not _is_whole(value):
        half = HALF_CHARACTER.search(text)
        place = f"{half[0]} (column {half.start() + 1})" if half else "one of its texts"
        raise UserError(f"{where}: {place} is half a character, which UTF-8 cannot encode: write \\ufffd instead")
    return value


class _DuplicateKey(Exception):
    """A duplicate key of an object."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _DuplicateKey(repr(next(key for key in keys if keys.count(key) > 1))[:100])
    return record


def _is_whole(value: object) -> bool:
    """Whether a JSON value can be written in UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def typed_field(record: object, name: str, kind: type, where: str) -> Any:
    """The field of a record; `UserError` beginning with `where` if it is missing or of another type."""
    if not isinstance(record, dict) or name not in record:
        raise UserError(f"{where}: the field '{name}' is missing")
    if not isinstance(record[name], kind):
        raise UserError(f"{where}: '{name}' must be a {kind.__name__}, found {type(record[name]).__name__}")
    return record[name]


def optional_field(record: object, name: str, kind: type, where: str) -> Any:
    """The field of a record, None for null; `UserError` as in `typed_field`."""
    if isinstance(record, dict) and record.get(name, "") is None:
        return None
    return typed_field(record, name, kind, where)


def write_jsonl(path: str | Path, records: Iterable[dict]) -> None:
    """Write one record per line, gzip if the name ends in .gz; reproducible byte for byte, atomically."""
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
    write_text(path, json.dumps(value, indent=2, sort_keys=True) + "\n")


def read_json(path: str | Path) -> dict:
    """The JSON object in a file; `UserError` naming the file if it holds none, and the remedy if it is a result."""
    try:
        return parse_object(read_text(path), str(path))
    except UserError as error:
        if is_result(path):
            raise UserError(f"{error}: {remedy(path)}") from error
        raise
