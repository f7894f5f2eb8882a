"""Rows of a user's own tables (CSV, TSV, JSON, JSON Lines; each also packed, .gz), with the line of each."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.base.errors import UserError
from litm.base.formatting import quoted
from litm.base.json_files import read_json_list, read_jsonl
from litm.base.text_files import open_text, read_table, reading

#: The kinds of files there are.
KINDS = (".csv", ".tsv", ".json", ".jsonl")


@dataclass(frozen=True)
class Row:
    """A row. line: where it begins, from 1; values: by the name of the column, in lower case."""

    line: int
    values: Mapping[str, Any]


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file, in order; `UserError` with file and line for what is no table, and for another kind."""
    kind = _kind(path)
    if kind in (".json", ".jsonl"):
        for line, record in read_jsonl(path) if kind == ".jsonl" else read_json_list(path):
            yield Row(line, {key.strip().lower(): value for key, value in record.items()})
        return
    if kind not in KINDS:
        raise UserError(
            f"{path}: its name must end in {', '.join(KINDS)}, each also with .gz; save a spreadsheet as CSV in UTF-8"
        )
    delimiter = "\t" if kind == ".tsv" else _delimiter(path)
    rows = read_table(path, delimiter)
    first, header = next(rows, (1, []))
    names = [name.strip().lower() for name in header]
    if len(set(names)) < len(names):
        raise UserError(
            f"{path}, line {first}: the header names a column twice ({quoted(', '.join(header))}); rename one"
        )
    for line, fields in rows:
        if len(fields) != len(names):
            raise UserError(
                f"{path}, line {line}: {len(fields)} fields, but the header has {len(names)} ({', '.join(names)}); put "
                f"a text with {delimiter!r} in it between quotes"
            )
        yield Row(line, dict(zip(names, fields, strict=True)))


def column_names(path: Path) -> list[str]:
    """The columns that a file has: those of the header, or the keys of its first object."""
    if _kind(path) in (".csv", ".tsv"):
        delimiter = "\t" if _kind(path) == ".tsv" else _delimiter(path)
        return [name.strip().lower() for name in next(read_table(path, delimiter), (1, []))[1]]
    return list(next((row.values for row in read_rows(path)), {}))


def _kind(path: Path) -> str:
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()


def _delimiter(path: Path) -> str:
    """A comma, or the semicolon that spreadsheets write where a comma is the decimal sign, by the header."""
    with reading(path, lambda: "its beginning"), open_text(path) as lines:
        header = next(csv.reader([next(lines, "")]), [])
    return ";" if len(header) == 1 and ";" in header[0] else ","
