"""Files of JSON and JSON Lines: equal values give equal bytes, a mistake has its file and line."""

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, cast

from litm.base.files import atomic_writer, file_kind, is_result, open_text, read_text, reading, remedy, write_text
from litm.base.messages import UserError, quoted

# Imported where it is used, because the rules read JSON too.


T = TypeVar("T")
#: gzip level: prompts are 5 % larger than at level 9, in a quarter of the time.
GZIP_LEVEL = 4
#: Text between the entries of a JSON list, and before the first one.
BETWEEN = re.compile(r"[\s,\[]*")
#: Lone surrogates: halves of characters in cut texts, which UTF-8 cannot encode.
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def read_records(path: str | Path) -> Iterator[tuple[int, dict]]:
    """The records of a file that is one JSON list or object (.json), or of JSON Lines; yields and raises as these."""
    return read_jsonl(path) if is_json_lines(path) else read_json_list(path)


def is_json_lines(path: str | Path) -> bool:
    """Whether a file of JSON has JSON Lines. A .json may have them too: Hugging Face's datasets write it so."""
    if file_kind(path) != ".json":
        return True
    first = [line.strip() for _, line in islice(read_lines(path), 2)]
    return len(first) == 2 and all(line.startswith("{") and line.endswith("}") for line in first)


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line) for each non-blank line; `UserError` naming file and line for a broken file."""
    path = Path(path)
    number = 0
    with reading(path, lambda: f"line {number}"), open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, line


def read_jsonl(path: str | Path) -> Iterator[tuple[int, dict]]:
    """Yield (line number from 1, record) for each non-blank line.

    Raises `UserError` as `read_lines`, and naming file and line for text that is not a JSON object.
    """
    for number, line in read_lines(path):
        yield number, parse_object(line, f"{path}, line {number}")


def read_json_list(path: str | Path) -> Iterator[tuple[int, dict]]:
    """Yield (line number of its start from 1, record) for each object of a file that is one JSON list, or one object.

    Raises `UserError` naming file and line for any other text, and for a broken file.
    """
    for line, value in json_elements(path):
        yield line, _object(value, f"{path}, line {line}")


def json_elements(path: str | Path) -> Iterator[tuple[int, Any]]:
    """`read_json_list` with values of any type."""
    path = Path(path)
    with reading(path, lambda: "its beginning"), open_text(path) as file:
        text = file.read()
    value = parse_json(text, str(path))
    if not isinstance(value, dict | list):
        raise UserError(f"{path}: expected a list of JSON objects, [{{...}}, ...], found {type(value).__name__}")
    decoder, line, begin, end = json.JSONDecoder(), 1, 0, 0
    for record in [value] if isinstance(value, dict) else value:
        last, begin = begin, cast(re.Match, BETWEEN.match(text, end)).end()
        line += text.count("\n", last, begin)
        yield line, record
        end = decoder.raw_decode(text, begin)[1]


def read_json(path: str | Path) -> dict:
    """The JSON object in a file; `UserError` naming the file if it holds none, and the remedy if it is a result."""
    try:
        return parse_object(read_text(path), str(path))
    except UserError as error:
        if is_result(path):
            raise UserError(f"{error}: {remedy(path)}") from error
        raise


def parse_object(text: str, where: str) -> dict:
    """The JSON object in `text`; `UserError` beginning with `where`, as in `parse_json`, also for any other value."""
    return _object(parse_json(text, where), where)


def _object(value: object, where: str) -> dict:
    if not isinstance(value, dict):
        raise UserError(f"{where}: expected a JSON object, found {type(value).__name__}")
    return value


def parse_json(text: str, where: str) -> Any:
    """The value of a JSON text that can be written in UTF-8.

    Raises `UserError` beginning with `where` for invalid JSON, a duplicate key, a lone surrogate (`"\\ud83d"`), and
    what Python cannot read: thousands of nested brackets, numbers of thousands of digits.
    """

    def distinct(pairs: list[tuple[str, Any]]) -> dict:
        record = dict(pairs)
        if len(record) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise UserError(f"{where}: one object has the key {quoted(twice)} twice: remove one of them")
        return record

    try:
        value = json.loads(text, object_pairs_hook=distinct)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if "\n" not in text.rstrip() else f"line {error.lineno}, column {error.colno}"
        raise UserError(f"{where}: not valid JSON ({error.msg.removesuffix(' at')}, {place})") from error
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise UserError(
            f"{where}: {half} is half a character, which UTF-8 cannot encode: write \\ufffd instead"
        ) from error
    except RecursionError as error:
        raise UserError(f"{where}: brackets are nested too deeply") from error
    except ValueError as error:
        raise UserError(f"{where}: a number has too many digits to be read: write it as a text") from error
    return value


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


def checked_field(record: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """The field of a record that a program wrote; KeyError or TypeError if it is missing or of another type."""
    value = record[name]
    if not isinstance(value, kind):
        raise TypeError(f"'{name}' must be a {kind.__name__}, found {type(value).__name__}")
    return value


def without_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate (`"\\ud83d"` in JSON: half an emoji); usually the text itself."""
    return text if text.isascii() else LONE_SURROGATE.sub("\ufffd", text)


def write_json(path: str | Path, value: Any) -> None:
    """Write one JSON value, indented and with sorted keys."""
    write_text(path, json.dumps(value, indent=2, sort_keys=True) + "\n")


def write_jsonl(path: str | Path, records: Iterable[dict]) -> None:
    """Write one record per line, gzip if the name ends in .gz; reproducible byte for byte, atomically."""
    lines = (json.dumps(record).encode() + b"\n" for record in records)
    with atomic_writer(path) as raw:
        if Path(path).suffix != ".gz":
            raw.writelines(lines)
            return
        # No name and no time in the gzip header, so that equal records give equal bytes.
        with gzip.GzipFile(filename="", mode="wb", compresslevel=GZIP_LEVEL, fileobj=raw, mtime=0) as packed:
            packed.writelines(lines)
