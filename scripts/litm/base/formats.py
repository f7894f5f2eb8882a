"""Records and tables (JSON, JSON Lines, CSV, Parquet): equal ones give equal bytes, a mistake has its file and line."""

import csv
import gzip
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import yaml

from litm.base.files import atomic_writer, file_kind, is_result, open_text, read_text, reading, remedy, write_text
from litm.base.messages import UserError, quoted, single_spaced

# Imported where it is used, because the rules read JSON too.
if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
K = TypeVar("K")
#: gzip level: prompts are 5 % larger than at level 9, in a quarter of the time.
GZIP_LEVEL = 4
#: Text between the entries of a JSON list, and before the first one.
BETWEEN = re.compile(r"[\s,\[]*")
#: libyaml if PyYAML has it: files are read at every start, and the Python loader is ten times slower.
YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: Delimiters of tables by the kind of their files.
DELIMITERS = {".csv": ",", ".tsv": "\t"}
#: Line that Excel may write before the header.
SEP = re.compile(r'"?sep=([,;|\t])"?\s*', re.IGNORECASE)
#: Characters: longest field of a table, which also bounds the text after an unclosed quote.
LONGEST_FIELD = 10_000_000
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


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of `size` items in their order, the last one shorter."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by their keys, in the order in which they come; unlike for itertools.groupby, equal keys may be apart."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def read_data(path: Path) -> Any:
    """What a YAML file of this library has, which stands beside a module."""
    return yaml.load(path.read_text(encoding="utf-8"), YAML_LOADER)


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


def check_whole(path: str | Path) -> None:
    """Raise `UserError` for a CSV file of the results that does not end with a line end: a part of it is missing."""
    with Path(path).open("rb") as raw:
        raw.seek(max(0, raw.seek(0, os.SEEK_END) - 1))
        if is_result(path) and raw.read() != b"\n":
            raise UserError(f"{path}: its last line is incomplete: {remedy(path)}")


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


def delimited(path: Path) -> tuple[str, Iterator[tuple[int, list[str]]]]:
    """The delimiter of a table, and its rows with their lines, starting with the header.

    The delimiter is a tab or a comma, a semicolon or a tab if a header without commas has it (spreadsheets with decimal
    commas, and Excel's Unicode text), or the one in Excel's line `sep=;` before the header.
    """
    with reading(path, lambda: "its beginning"), open_text(path) as lines:
        first = next(lines, "")
    if said := SEP.fullmatch(first):
        return said[1], islice(read_table(path, said[1]), 1, None)
    # Python refuses longer fields, with an error that names no file.
    header = next(csv.reader([first[:100_000]]), [])
    others = [mark for mark in ";\t" if file_kind(path) != ".tsv" and len(header) == 1 and mark in header[0]]
    delimiter = others[0] if others else DELIMITERS.get(file_kind(path), ",")
    return delimiter, read_table(path, delimiter)


def read_named_columns(path: Path, needed: str | None = None) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line number of its start, fields by column) for each row after the header of a table.

    Raises `UserError` naming file and line as `delimited`, and for a header without the column `needed` or with two
    of one name, and a row of another length.
    """
    delimiter, rows = delimited(path)
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


def write_csv(
    path: str | Path,
    table: "pd.DataFrame | Sequence[Mapping]",
    decimals: int | None = 6,
    p_values: Collection[str] = (),
) -> None:
    """Write a table, or rows with the same keys, as CSV, see `csv_text`."""
    import pandas as pd

    write_text(path, csv_text(pd.DataFrame(table), decimals, p_values))


def csv_text(table: "pd.DataFrame", decimals: int | None = 6, p_values: Collection[str] = ()) -> str:
    """A table as CSV: fractions with `decimals` decimals (None: all of them), missing values empty.

    p_values: columns with six significant digits instead (1.30421e-174), so that readers can correct them.
    """
    texts = {name: table[name].map("{:.6g}".format, na_action="ignore") for name in p_values if name in table}
    float_format = None if decimals is None else f"%.{decimals}f"
    return table.assign(**texts).to_csv(index=False, float_format=float_format, lineterminator="\n")


def read_csv(path: str | Path, dtypes: Mapping[str, str] | None = None) -> "pd.DataFrame":
    """Read a table that `write_csv` wrote: only empty cells are missing values, not a model of the name NA.

    dtypes: pandas types by column; a column that is not named gets that of its values. Raises `UserError` for a damaged
    file.
    """
    import pandas as pd

    check_whole(path)
    known = {"model": str, "experiment": str} if dtypes is None else dtypes
    try:
        return pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=known)
    except ValueError as error:
        raise UserError(f"{path}: {single_spaced(str(error))}: {remedy(path)}") from error


def write_parquet(path: str | Path, table: "pd.DataFrame") -> None:
    """Write a table as Parquet, without its index."""
    with atomic_writer(path) as raw:
        table.to_parquet(raw, index=False)


def read_parquet(path: str | Path, columns: Sequence[str] | None = None) -> "pd.DataFrame":
    """The rows of a Parquet file, with these columns or all; `UserError` for a damaged file."""
    import pandas as pd
    from pyarrow import ArrowInvalid

    try:
        return pd.read_parquet(path, columns=None if columns is None else list(columns))
    except ArrowInvalid as error:
        raise UserError(f"{path}: not a whole Parquet file: {remedy(path)}") from error


def parquet_records(path: str | Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file of another program, as JSON has them; `UserError` for a damaged file."""
    from pyarrow import ArrowInvalid
    from pyarrow.parquet import read_table as read_columns

    try:
        return json.loads(json.dumps(read_columns(path).to_pylist(), default=str))
    except ArrowInvalid as error:
        raise UserError(f"{path}: not a whole Parquet file: {remedy(path)}") from error


def plain_rows(table: "pd.DataFrame") -> list[dict[Any, Any]]:
    """The rows as dictionaries of plain Python values, which JSON can write; None for a missing value."""
    return table.astype(object).where(table.notna(), None).to_dict("records")


def by_cell(table: "pd.DataFrame", columns: Sequence[str]) -> Iterator[tuple[dict[Any, Any], "pd.DataFrame"]]:
    """Yield the rows of each cell, which agree in these columns, with their values as in `plain_rows`.

    `items` may differ within a cell, where a cut leaves different numbers of documents; its value is then None.
    """
    cells = table.groupby([name for name in columns if name != "items"], sort=False, dropna=False)
    # All names at once: a small table for each cell takes most of the time.
    for names, (_, rows) in zip(plain_rows(cells.head(1)[[*columns]]), cells, strict=True):
        differ = "items" in columns and rows["items"].nunique() > 1
        yield names | ({"items": None} if differ else {}), rows
