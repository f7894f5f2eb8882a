"""Make one table of results/tables from the files that it is made of.

input: one of the table's inputs and its files (NAME FILE ...); once for each input
settings: JSON: the table's settings by name
"""

from typing import Annotated

from litm.base.cli import program
from litm.base.messages import UserError
from litm.base.table_files import write_csv
from litm.tables.table import tables


@program
def main(
    table: "Annotated[str, sorted(tables())]",
    output: str,
    input: tuple[list[str], ...] = (),
    settings: dict | None = None,
) -> None:
    from litm.analysis.grid import Files

    made, settings = tables()[table], settings or {}
    files = {name: Files(paths) for name, *paths in input}
    for what, options, needed in (("inputs", files, made.inputs), ("settings", settings, made.settings)):
        if set(options) != set(needed):
            raise UserError(
                f"table {table}: its {what} are {', '.join(needed) or 'none'}, given {', '.join(options) or 'none'}"
            )
    if made.rows:
        rows = made.load()(**files, **settings)
    else:
        (only,) = files.values()
        rows = only.joined(table)
    write_csv(output, made.frame(rows), p_values=made.p_values)
