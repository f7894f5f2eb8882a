"""Tables with delimiters as other programs write them: a mistake has its file and line."""

import csv
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from litm.base.files import file_kind, open_text, reading
from litm.base.messages import UserError, quoted

# Imported where it is used, because the rules read JSON too.


#: Delimiters of tables by the kind of their files.
DELIMITERS = {".csv": ",", ".tsv": "\t"}
#: Line that Excel may write before the header.
SEP = re.compile(r'"?sep=([,;|\t])"?\s*', re.IGNORECASE)
#: Characters: longest field of a table, which also bounds the text after an unclosed quote.
LONGEST_FIELD = 10_000_000


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
        columns = quoted(", ".join(header)) if header else "nothing"
        raise UserError(f"{path}, line {first}: the header must have a column '{needed}', but has {columns}")
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
