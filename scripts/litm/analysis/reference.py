"""The reference of tables and columns, for results/README.md."""

from collections.abc import Iterable

from litm.analysis.table import Table
from litm.base.files import with_part

#: Lines around the part of the page that `describe_tables.py` writes.
BEGIN = "<!-- Tables: from here on written by scripts/analysis/describe_tables.py -->"
END = "<!-- Tables: up to here -->"


def reference(tables: Iterable[Table]) -> str:
    """One section per table: its description and its columns."""
    return "\n\n".join(_section(table) for table in tables)


def with_reference(page: str, tables: Iterable[Table]) -> str:
    """The page with the reference in its place; `ValueError` if the page has no place for it."""
    return with_part(page, BEGIN, END, reference(tables))


def _section(table: Table) -> str:
    columns = "\n".join(f"| `{name}` | {column.doc} |" for name, column in table.columns.items())
    return f"### `{table.name}.csv`\n\n{table.doc}\n\n| column | what |\n|---|---|\n{columns}"
