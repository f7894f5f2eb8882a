"""Make one table of results/tables from the files that it is made of.

input: one of the table's inputs and its files (NAME FILE ...); once for each input
settings: JSON: the table's settings by name
"""

from typing import Annotated

from litm.analysis.tables import load_table, table_names
from litm.base.cli import program
from litm.base.messages import UserError, note
from litm.base.records import write_csv


@program
def main(
    table: "Annotated[str, table_names()]",
    output: str,
    input: tuple[list[str], ...] = (),
    settings: dict | None = None,
) -> None:
    from litm.analysis.grid import Files

    module = load_table(table)
    made, settings = module.TABLE, settings or {}
    files = {name: Files(paths) for name, *paths in input}
    for what, given, needed in (("inputs", files, made.inputs), ("settings", settings, made.settings)):
        if set(given) != set(needed):
            raise UserError(
                f"table {table}: its {what} are {', '.join(needed) or 'none'}, given {', '.join(given) or 'none'}"
            )
    frame = made.frame(module.rows(**files, **settings))
    write_csv(output, frame, p_values=made.p_values)
    for line in getattr(module, "warnings", lambda frame: [])(frame):
        note(line)
