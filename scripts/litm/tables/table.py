"""The tables of results as the modules beside this one declare them: their columns, their inputs, and their cells as
text.

CSV file, Markdown, report, the reference of columns in results/README.md and the caption in Snakemake's report all come
from a `Table`, which is made of the class of its rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from litm.base.docstrings import field_docstrings
from litm.base.messages import UserError, money, percent, single_spaced
from litm.base.table_files import plain_rows, read_csv

if TYPE_CHECKING:
    # The rules read the tables at each start, and importing pandas would slow it down.
    import pandas as pd

Row = TypeVar("Row", bound=type)

#: Modules beside this one that declare tables, in the order of the tables in the report and in results/README.md. They
#: are imported by name: an edited declaration re-makes only its table, see `TableFiles.declared`.
MODULES = (
    "accuracy", "beside", "positions", "differences", "sizes", "readings", "facts", "log_probability", "claims",
    "questions", "session_remedies", "commands",
)  # fmt: skip
#: Attribute of a class of rows, its table.
DECLARED = "__table__"
#: pandas type of columns of words. All types allow missing values.
TEXT = "string"
#: Type of each kind of column, and how its values are written in Markdown and report. The CSV file has
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


class Heading(NamedTuple):
    """The heading of a column in Markdown and in the report; without one, it is in the CSV file only."""

    text: str
    """The heading."""
    is_shown: bool = False
    """Whether the report's table shows it."""


def shown(heading: str) -> Heading:
    """The heading of a column that the report's table shows."""
    return Heading(heading, is_shown=True)


#: Of a column of several tables, which has its heading: the report's table shows it.
SHOWN = shown("")


class Limit(Enum):
    """A 95 % limit of the value that NAME_ci_low and NAME_ci_high are named after."""

    LOW = "lower"
    HIGH = "upper"


#: Headings of the 95 % limits of a value that has one.
LIMITS = {Limit.LOW: "95 % from", Limit.HIGH: "to"}


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    kind: str
    """One of `KINDS`."""
    heading: str = ""
    """The heading in Markdown and report, empty for a column of the CSV file only."""
    doc: str = ""
    """Its description in the reference, unless it is the docstring of its field."""

    @property
    def dtype(self) -> str:
        return KINDS[self.kind][0]


@dataclass(frozen=True)
class Table:
    """A table of results/tables."""

    name: str
    """The name of its file, without the ending."""
    title: str
    """Its heading in the report."""
    doc: str
    """Its contents and the meaning of a row."""
    columns: Mapping[str, Column]
    """Its columns by name, in their order."""
    row: type = dict
    """The class of its rows."""
    bases: Sequence[type] = ()
    """The classes whose fields that class has too."""
    inputs: Sequence[str] = ()
    """Names of its input files, see litm.workflow.table_files; a study has the table if it has all of them. Without
    inputs, another program makes it.
    """
    settings: Sequence[str] = ()
    """Names of the settings that change it."""
    rows: str = ""
    """The function below litm that gives its rows, from the files of each input and the value of each setting; without
    one, they are those of its input.
    """
    note: str = ""
    """How to read it, in the report."""
    report: Sequence[str] = ()
    """Columns that the report shows, in their order."""
    section: str = ""
    """Its own section in the report; without one, it is among all tables."""
    in_markdown: Sequence[str] = ()
    """Columns of its Markdown file, in their order; without one, it has none."""
    is_default: bool = True
    """Whether it is made by default, or only on demand."""

    @property
    def module(self) -> str:
        """The module below litm that computes its rows; "" without one."""
        return self.rows.rpartition(".")[0]

    def load(self) -> Callable:
        """The function that gives its rows."""
        return getattr(import_module(f"litm.{self.module}"), self.rows.rpartition(".")[2])

    @property
    def dtypes(self) -> dict[str, str]:
        return {name: column.dtype for name, column in self.columns.items()}

    @property
    def docs(self) -> dict[str, str]:
        """The description of each column."""
        texts = {name: text for row in (*self.bases, self.row) for name, text in field_docstrings(row).items()}
        return {name: column.doc or texts[name] for name, column in self.columns.items()}

    @property
    def declared(self) -> dict[str, Any]:
        """All that its files depend on: everything but the descriptions of its columns."""
        columns = {name: (column.kind, column.heading) for name, column in self.columns.items()}
        bases = {"bases": [base.__name__ for base in self.bases]} if self.bases else {}
        about = {key: value for key, value in vars(self).items() if key != "bases"}
        return {**about, **bases, "row": self.row.__name__, "columns": columns}

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


def cell_text(column: Column, value: Any) -> str:
    """A formatted value: 12.3 for a fraction, yes or no, "" for a missing one."""
    return "" if value is None else KINDS[column.kind][1](value)


def _limits_text(column: Column, row: Mapping, name: str) -> str:
    low, high = (cell_text(column, row[f"{name}_ci_{side}"]) for side in ("low", "high"))
    return f" [{low}, {high}]" if low else ""


@cache
def tables() -> dict[str, Table]:
    """The tables of results by their names, in their order."""
    modules = (import_module(f"litm.tables.{name}") for name in MODULES)
    made = (getattr(value, DECLARED, None) for module in modules for value in vars(module).values())
    return {table.name: table for table in made if table}


def declare(name: str, title: str, report: Sequence[str] = (), **about: Any) -> Callable[[Row], Row]:
    """Make a `Table` of the class of its rows, a `TypedDict` with a field for each column, see `columns`.

    The docstring of the class has the table's `doc`, and after an empty line its `note`. report: where the order of
    columns is another than in the class. about: further fields of the table.
    """

    def declared(row: Row) -> Row:
        marks = {column: hint.__metadata__ for column, hint in row.__annotations__.items()}
        columns: dict[str, Column] = {}
        for column, (kind, *rest) in marks.items():
            columns[column] = _limit(column, kind, columns) if isinstance(kind, Limit) else _column(kind, rest)
        marked = [column for column, (*_, last) in marks.items() if isinstance(last, Heading) and last.is_shown]
        doc, note = (single_spaced(text) for text in (row.__doc__ or "").partition("\n\n")[::2])
        setattr(row, DECLARED, Table(name, title, doc, columns, row, note=note, report=report or marked, **about))
        return row

    return declared


def _column(kind: str, marks: Iterable[Heading | str]) -> Column:
    """The column of a field; marks: its heading and its description, if it has them here, and whether it is shown."""
    heading = doc = ""
    for mark in marks:
        if isinstance(mark, str):
            doc = mark
        else:
            heading = mark.text or heading
    return Column(kind, heading, doc)


def _limit(name: str, limit: Limit, before: Mapping[str, Column]) -> Column:
    """The column of a limit of a value, which is among the columns before it."""
    value = name.rpartition("_ci_")[0]
    heading = LIMITS[limit] if before[value].heading else ""
    return Column(before[value].kind, heading, f"{limit.value} 95 % limit of `{value}`")


def reference(tables: Iterable[Table]) -> str:
    """One section per table: its description and its columns."""
    return "\n\n".join(_section(table) for table in tables)


def _section(table: Table) -> str:
    columns = "\n".join(f"| `{name}` | {doc} |" for name, doc in table.docs.items())
    return f"### `{table.name}.csv`\n\n{table.doc}\n\n| column | what |\n|---|---|\n{columns}"
