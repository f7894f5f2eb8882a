"""CSV and LaTeX of the page's tables, packed into the page, so that it needs no other file."""

import base64
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from litm.analysis.table import TEXT, Table
from litm.base.records import csv_text

#: Characters of all packed tables, at most; the largest tables are left out and the page names them.
MOST_CHARACTERS = 4_000_000
#: Characters that LaTeX reads as commands.
_SPECIAL = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def packed_files(files: Mapping[str, str]) -> tuple[str, list[str]]:
    """Files by name as one gzip in base64, and the names of the files left out, the largest first."""
    kept = dict(files)
    left_out = []
    while len(packed := _packed(kept)) > MOST_CHARACTERS:
        largest = max(kept, key=lambda name: len(kept[name]))
        left_out.append(largest)
        del kept[largest]
    return packed, left_out


def _packed(value: object) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def table_files(tables: Iterable[Table], frames: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """`name.csv` with all columns and `name.tex` with the page's columns, for each table that exists."""
    files = {}
    for table in tables:
        frame = frames.get(table.name)
        if frame is None or frame.empty:
            continue
        columns = [name for name in table.report if name in frame]
        headings = [table.columns[name].heading for name in columns]
        is_text = [table.columns[name].dtype == TEXT for name in columns]
        files[f"{table.name}.csv"] = csv_text(frame, p_values=table.p_values)
        files[f"{table.name}.tex"] = as_latex(headings, is_text, table.cells(frame, columns))
    return files


def accuracy_files(tables: Sequence[Mapping]) -> dict[str, str]:
    """`accuracy_by_position_N.tex` for each table of `accuracies.accuracy_tables`."""
    files = {}
    for number, table in enumerate(tables, start=1):
        headings = ["Model", *table["headings"], "n"]
        rows = [
            [row["name"], *(f"{cell['value']} {cell['limits']}".strip() for cell in row["cells"]), row["n"]]
            for row in table["rows"]
        ]
        is_text = [True] + [False] * (len(headings) - 1)
        files[f"accuracy_by_position_{number}.tex"] = as_latex(headings, is_text, rows, table["title"])
    return files


def as_latex(headings: Sequence[str], is_text: Sequence[bool], rows: Iterable[Sequence[str]], title: str = "") -> str:
    """A table in LaTeX, for the package booktabs."""
    columns = "".join("l" if text else "r" for text in is_text)
    lines = [
        *([f"% {title}"] if title else []),
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _line(headings),
        r"\midrule",
        *map(_line, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"


def escaped(text: str) -> str:
    """A text with LaTeX's special characters escaped."""
    return "".join(_SPECIAL.get(character, character) for character in text)
