"""Rows of a user's tables (CSV, TSV, JSON, JSON Lines; each also .gz), with their lines."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.base.files import file_kind, open_text, reading
from litm.base.messages import UserError, quoted
from litm.base.records import DELIMITERS, read_records, read_table

#: Endings of supported files.
KINDS = (*DELIMITERS, ".json", ".jsonl")
#: Line that Excel may write before the header.
SEP = re.compile(r'"?sep=([,;|\t])"?\s*', re.IGNORECASE)


@dataclass(frozen=True)
class Row:
    """A row. line: its first line, from 1; values: by column name in lower case."""

    line: int
    values: Mapping[str, Any]


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file in order; `UserError` with file and line for a malformed file or an unsupported kind.

    Rows without text are skipped, and so are columns on the right without a name or text.
    """
    kind = file_kind(path)
    if kind in (".json", ".jsonl"):
        for line, record in read_records(path):
            yield Row(line, {key.strip().lower(): value for key, value in record.items()})
        return
    if kind not in KINDS:
        raise UserError(
            f"{path}: its name must end in {', '.join(KINDS)}, each also with .gz; save a spreadsheet as CSV in UTF-8"
        )
    delimiter, rows = _table(path)
    first, header = next(rows, (1, []))
    names = _names(header)
    if len(set(names)) < len(names):
        raise UserError(
            f"{path}, line {first}: the header names a column twice ({quoted(', '.join(header))}); rename one"
        )
    for line, given in rows:
        fields = given[: len(names)] if not any(one.strip() for one in given[len(names) :]) else given
        if not any(one.strip() for one in fields):
            continue
        if len(fields) != len(names):
            raise UserError(
                f"{path}, line {line}: {len(fields)} fields, but the header has {len(names)} ({', '.join(names)}); put "
                f"a text with {delimiter!r} in it between quotes"
            )
        yield Row(line, dict(zip(names, fields, strict=True)))


def column_names(path: Path) -> list[str]:
    """The columns of a file: those of its header, or the keys of its first object."""
    if file_kind(path) in DELIMITERS:
        return _names(next(_table(path)[1], (1, []))[1])
    return list(next((row.values for row in read_rows(path)), {}))


def _names(header: Sequence[str]) -> list[str]:
    """The column names, without empty ones at the end."""
    names = [name.strip().lower() for name in header]
    while names and not names[-1]:
        names.pop()
    return names


def _table(path: Path) -> tuple[str, Iterator[tuple[int, list[str]]]]:
    """The delimiter of a table, and its rows with their lines, starting with the header.

    The delimiter is a tab or a comma, a semicolon if the header has it (spreadsheets with decimal commas write it), or
    the one in Excel's line `sep=;` before the header.
    """
    with reading(path, lambda: "its beginning"), open_text(path) as lines:
        first = next(lines, "")
    if said := SEP.fullmatch(first):
        rows = read_table(path, said[1])
        next(rows)
        return said[1], rows
    if file_kind(path) == ".tsv":
        return DELIMITERS[".tsv"], read_table(path, DELIMITERS[".tsv"])
    header = next(csv.reader([first]), [])
    delimiter = ";" if len(header) == 1 and ";" in header[0] else DELIMITERS[".csv"]
    return delimiter, read_table(path, delimiter)
