"""Tables of results, one module each.

A table is a module of this package with

- `TABLE`: a `litm.analysis.table.Table`, the declaration of the table, with the module's name;
- `rows(**inputs)`: its rows, from the `Files` of each of `TABLE.inputs` and the value of each of `TABLE.settings`;
  absent if another program makes the table;
- optionally `warnings(frame)`: lines for the console, from the finished table.

To add a table, add a module: rules, report and reference find it by its name, and `make reference` writes its columns
into results/README.md. `rows` imports the code that computes them, because the rules read the declarations at each
start.
"""

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

from litm.analysis.table import Table

if TYPE_CHECKING:
    import pandas as pd


class TableModule(Protocol):
    """Contents of a module of this package; `rows` is absent if another program makes the table."""

    TABLE: Table

    def rows(self, **inputs: Any) -> "Iterable[Mapping] | pd.DataFrame": ...


def table_names() -> list[str]:
    """Names of all tables, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load_table(name: str) -> TableModule:
    """The table's module, by its name."""
    return cast(TableModule, importlib.import_module(f"{__name__}.{name}"))


def all_tables() -> list[Table]:
    """The declarations of all tables, in their order."""
    return sorted((load_table(name).TABLE for name in table_names()), key=lambda table: (table.order, table.name))
