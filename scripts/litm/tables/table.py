"""The tables of results as tables.yaml declares them: their columns, their inputs, and their cells as text.

CSV file, Markdown, report, the reference of columns in results/README.md and the caption in Snakemake's report all come
from a `Table`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litm.base.messages import UserError, money, percent
from litm.base.table_files import plain_rows, read_csv
from litm.base.yaml_files import read_data

if TYPE_CHECKING:
    # The rules read the tables at each start, and importing pandas would slow it down.
    import pandas as pd

#: pandas type of columns of words. All types allow missing values.
TEXT = "string"
#: Type of each kind of column in tables.yaml, and how its values are written in Markdown and report. The CSV file has
#: fractions with six decimals, and six significant digits of a p value, so that small ones keep their size.
KINDS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "text": (TEXT, str),
    "integer": ("Int64", lambda value: f"{int(value):,}"),
    "boolean": ("boolean", lambda value: "yes" if value else "no"),
    "number": ("Float64", "{:,.1f}".format),
    "money": ("Float64", money),
    "percent": ("Float64", percent),
    "index": ("Float64", "{:,.3f}".format),
    "nats": ("Float64", "{:,.2f}".format),
    "p_value": ("Float64", lambda value: "< 0.001" if value < 0.001 else f"{value:.3f}"),
}
#: Characters that LaTeX reads as commands, or that its fonts lack, as it writes them.
IN_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        "<": r"\textless{}", ">": r"\textgreater{}", "±": r"$\pm$",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A column of a table.

    kind: one of `KINDS`. doc: its description in the reference. heading: in Markdown and report, empty for a column of
    the CSV file only.
    """

    kind: str
    doc: str
    heading: str = ""

    @property
    def dtype(self) -> str:
        return KINDS[self.kind][0]


@dataclass(frozen=True)
class Table:
    """A table of results/tables, see tables.yaml; report, in_markdown: its columns in the report and in Markdown, in
    their order."""

    name: str
    title: str
    doc: str
    columns: Mapping[str, Column]
    inputs: Sequence[str] = ()
    settings: Sequence[str] = ()
    rows: str = ""
    note: str = ""
    report: Sequence[str] = ()
    section: str = ""
    in_markdown: Sequence[str] = ()
    is_default: bool = True

    @property
    def module(self) -> str:
        """The module below litm that computes its rows; "" without one."""
        return self.rows.rpartition(".")[0]

    @property
    def dtypes(self) -> dict[str, str]:
        return {name: column.dtype for name, column in self.columns.items()}

    @property
    def p_values(self) -> list[str]:
        """Columns of p values, which `write_csv` writes with significant digits."""
        return [name for name, column in self.columns.items() if column.kind == "p_value"]

    def frame(self, rows: "Iterable[Mapping] | pd.DataFrame", is_whole: bool = False) -> "pd.DataFrame":
        """Rows as a table with the columns in their order and types; absent values are missing.

        Raises `UserError` for a column that is not declared and, of rows that are whole, for one that is absent.
        """
        import pandas as pd

        table = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))
        if wrong := self._wrong(table, is_whole and len(table) > 0):
            raise UserError(wrong)
        return table.reindex(columns=list(self.columns)).astype(self.dtypes)

    def read(self, path: str | Path) -> "pd.DataFrame":
        """The table in a file, in its types; `UserError` for a column that only one of file and table has."""
        table = read_csv(path, self.dtypes)
        if wrong := self._wrong(table, is_whole=True):
            raise UserError(f"{path}: {wrong}; if the file is of another version, run the target `tables` of its study")
        return table

    def _wrong(self, table: "pd.DataFrame", is_whole: bool) -> str:
        undeclared = ", ".join(str(name) for name in table.columns if name not in self.columns)
        absent = ", ".join(name for name in self.columns if name not in table.columns) if is_whole else ""
        mistakes = [f"{what} {names}" for what, names in (("undeclared columns", undeclared), ("no", absent)) if names]
        return f"table {self.name} has {' and '.join(mistakes)}" if mistakes else ""

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
            for row in plain_rows(table)
        ]

    def markdown(self, table: "pd.DataFrame") -> str:
        """The columns of its Markdown file, or all with a heading, as Markdown."""
        import pandas as pd

        names = self.in_markdown or [name for name, column in self.columns.items() if column.heading]
        columns = {name: self.columns[name].heading for name in names}
        shown = pd.DataFrame(self.cells(table, columns), columns=list(columns.values()), dtype=object)
        return shown.to_markdown(index=False, disable_numparse=True) + "\n"


def as_latex(headings: Sequence[str], is_text: Sequence[bool], rows: Iterable[Sequence[str]]) -> str:
    """Cells in LaTeX, for the package booktabs; is_text: whether a column has words."""
    columns = "".join("l" if text else "r" for text in is_text)
    head, *lines = (" & ".join(text.translate(IN_LATEX) for text in cells) + r" \\" for cells in (headings, *rows))
    body = [r"\toprule", head, r"\midrule", *lines, r"\bottomrule"]
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", *body, r"\end{tabular}", ""])


def load(path: str) -> Callable:
    """The function below litm that tables.yaml names."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"litm.{module}"), name)


def cell_text(column: Column, value: Any) -> str:
    """A formatted value: 12.3 for a fraction, yes or no, "" for a missing one."""
    return "" if value is None else KINDS[column.kind][1](value)


def _limits_text(column: Column, row: Mapping, name: str) -> str:
    low, high = (cell_text(column, row[f"{name}_ci_{side}"]) for side in ("low", "high"))
    return f" [{low}, {high}]" if low else ""


@cache
def tables() -> dict[str, Table]:
    """The tables of results by their names, in their order."""
    return read_tables(Path(__file__).with_name("tables.yaml"))


def read_tables(path: Path) -> dict[str, Table]:
    """The tables of a file such as tables.yaml."""
    declared = read_data(path)
    common = declared.pop("columns", {})
    return {name: _declared_table(name, common, **keys) for name, keys in declared.items()}


def _declared_table(name: str, common: Mapping, columns: Mapping, report: Sequence[str] = (), **keys: Any) -> Table:
    """A table from what tables.yaml says of one, and of columns that several have in common."""
    declared: dict[str, Column] = {}
    marked = []
    for column, text in columns.items():
        if not text or "|" not in text:
            kind, _, rest = common[column].partition(" ")
            text = f"{kind} {text or ''} {rest}"
        first, heading, doc = (part.strip() for part in text.split("|", 2))
        kind, *marks = first.split()
        if kind not in KINDS:
            raise UserError(
                f"tables.yaml, {name}: the column {column} has the kind {kind}; kinds are {', '.join(KINDS)}"
            )
        declared[column] = Column(kind, doc, heading)
        if "+" in marks:
            marked.append(column)
        if "±" in marks:
            for side, limit, above in (("low", "lower", "95 % from"), ("high", "upper", "to")):
                meaning = f"{limit} 95 % limit of `{column}`"
                declared[f"{column}_ci_{side}"] = Column(kind, meaning, above if heading else "")
    return Table(name, columns=declared, report=report or marked, **keys)


def reference(tables: Iterable[Table]) -> str:
    """One section per table: its description and its columns."""
    return "\n\n".join(_section(table) for table in tables)


def _section(table: Table) -> str:
    columns = "\n".join(f"| `{name}` | {column.doc} |" for name, column in table.columns.items())
    return f"### `{table.name}.csv`\n\n{table.doc}\n\n| column | what |\n|---|---|\n{columns}"
