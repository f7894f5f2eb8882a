"""The reference of tables and columns, for results/README.md."""

from collections.abc import Iterable

from litm.analysis.table import Table

#: What is between these lines is written by `describe_tables.py`.
BEGIN = "<!-- Tables: from here on written by scripts/analysis/describe_tables.py -->"
END = "<!-- Tables: up to here -->"


def reference(tables: Iterable[Table]) -> str:
    """A section for each table: what it has, and what each of its columns is."""
    return "\n".join(_section(table) for table in tables)


def with_reference(page: str, tables: Iterable[Table]) -> str:
    """The page with the reference in its place. Raises `ValueError` if the page has no such place."""
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"the page lacks the lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{reference(tables)}\n{END}{after}"


def _section(table: Table) -> str:
    columns = "\n".join(f"| `{name}` | {column.doc} |" for name, column in table.columns.items())
    return f"### `{table.name}.csv`\n\n{table.doc}\n\n| column | what |\n|---|---|\n{columns}\n"
