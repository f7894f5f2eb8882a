"""Declaration of a table: its columns, its inputs, and its cells as text.

CSV file, Markdown, report, the reference of columns in results/README.md and the caption in Snakemake's report all come
from its `Table`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from litm.base.messages import percent

if TYPE_CHECKING:
    # The rules read the declarations at each start, and importing pandas would slow it down.
    import pandas as pd

from litm.base.files import with_part

#: pandas types of columns; all allow missing values.
TEXT, INTEGER, FLOAT, BOOLEAN = "string", "Int64", "Float64", "boolean"
#: Formats of numbers in Markdown and report. The CSV file has fractions.
PERCENT, INDEX, P_VALUE, NUMBER = "per cent", "index", "p value", "number"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    dtype: its pandas type. doc: its description in the reference. heading: in Markdown and report, empty for a column
    of the CSV file only. unit: format of a `FLOAT`: a fraction as `PERCENT` with one decimal or as `INDEX` with three,
    a `P_VALUE` with three, a `NUMBER` with one. The CSV file has six decimals, and six significant digits of a
    `P_VALUE`, so that small ones keep their size.
    """

    dtype: str
    doc: str
    heading: str = ""
    unit: str = NUMBER


@dataclass(frozen=True)
class Table:
    """A table of results/tables.

    title: heading in the report. doc: its contents and the meaning of a row. note: how to read it, in the report.
    order: place among the tables of report and reference. inputs: names of its input files, as in
    litm.workflow.result_files; `make_table.py` makes the table if all of them exist. None: another program makes it.
    settings: names of the settings that change it. report: columns in the report, in this order. section: name of its
    own section in the report, empty for the section with all tables. has_markdown: whether it is also written as
    Markdown. is_default: whether it is made by default, or only on demand.
    """

    name: str
    title: str
    doc: str
    columns: Mapping[str, Column]
    order: int
    inputs: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    note: str = ""
    report: tuple[str, ...] = ()
    section: str = ""
    has_markdown: bool = False
    is_default: bool = True

    @property
    def dtypes(self) -> dict[str, str]:
        return {name: column.dtype for name, column in self.columns.items()}

    @property
    def p_values(self) -> list[str]:
        """Columns of p values, which `write_csv` writes with significant digits."""
        return [name for name, column in self.columns.items() if column.unit == P_VALUE]

    def frame(self, rows: "Iterable[Mapping] | pd.DataFrame") -> "pd.DataFrame":
        """Rows as a table with the columns in their order and types; absent values are missing.

        Raises `ValueError` for a row with an undeclared column.
        """
        import pandas as pd

        table = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))
        if undeclared := set(table.columns) - set(self.columns):
            raise ValueError(f"table {self.name}: columns that are not declared: {', '.join(sorted(undeclared))}")
        return table.reindex(columns=list(self.columns)).astype(self.dtypes)

    def cells(self, table: "pd.DataFrame", columns: Iterable[str]) -> list[list[str]]:
        """Formatted cells of these columns, row by row; missing values are empty.

        If the table has a column's 95 % limits and they are not among these columns, they follow its value:
        12.3 [10.1, 14.5].
        """
        declared = {name: self.columns[name] for name in columns}
        with_limits = {name for name in declared if f"{name}_ci_low" in table and f"{name}_ci_low" not in declared}
        return [
            [
                cell_text(column, row[name]) + (_limits_text(column, row, name) if name in with_limits else "")
                for name, column in declared.items()
            ]
            for row in table.to_dict("records")
        ]

    def markdown(self, table: "pd.DataFrame") -> str:
        """Columns with a heading, as Markdown."""
        import pandas as pd

        columns = {name: column.heading for name, column in self.columns.items() if column.heading}
        shown = pd.DataFrame(self.cells(table, columns), columns=list(columns.values()), dtype=object)
        return shown.to_markdown(index=False, disable_numparse=True) + "\n"


def cell_text(column: Column, value: Any) -> str:
    """A formatted value: 12.3 for a fraction, yes or no, "" for a missing one."""
    if is_missing(value):
        return ""
    if column.dtype == BOOLEAN:
        return "yes" if value else "no"
    if column.dtype == INTEGER:
        return f"{int(value):,}"
    if column.dtype == TEXT:
        return str(value)
    if column.unit == PERCENT:
        return percent(value)
    if column.unit == P_VALUE:
        return "< 0.001" if value < 0.001 else f"{value:.3f}"
    return f"{value:.3f}" if column.unit == INDEX else f"{value:,.1f}"


def _limits_text(column: Column, row: Mapping, name: str) -> str:
    low, high = (cell_text(column, row[f"{name}_ci_{side}"]) for side in ("low", "high"))
    return f" [{low}, {high}]" if low else ""


def is_missing(value: Any) -> bool:
    """None, NaN or pandas' NA."""
    import pandas as pd

    return bool(pd.isna(value))


def with_interval(name: str, column: Column, is_only: bool = False) -> dict[str, Column]:
    """The column by its name, with the columns of its 95 % limits: `name`_ci_low and `name`_ci_high, or `ci_low` and
    `ci_high` if no other column of the table has an interval.
    """
    limits = {"low": "lower", "high": "upper"}
    headings = {"low": "95 % from", "high": "to"} if column.heading else {"low": "", "high": ""}
    prefix = "" if is_only else f"{name}_"
    return {
        name: column,
        **{
            f"{prefix}ci_{side}": Column(column.dtype, f"{limit} 95 % limit of `{name}`", headings[side], column.unit)
            for side, limit in limits.items()
        },
    }


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
