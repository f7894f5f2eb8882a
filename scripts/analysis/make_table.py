"""Make one table of results/tables from the files that it is made of."""

import argparse

from litm.analysis.files import Files
from litm.analysis.tables import load_table, table_names
from litm.base.cli import json_object, run
from litm.base.messages import UserError, note
from litm.base.records import write_csv


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", required=True, choices=table_names())
    parser.add_argument(
        "--input",
        action="append",
        nargs="+",
        default=[],
        metavar=("NAME", "FILE"),
        help="one of the table's inputs and its files; once for each input",
    )
    parser.add_argument("--settings", type=json_object, default={}, help="JSON: the table's settings by name")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    module = load_table(args.table)
    table = module.TABLE
    files = {name: Files(paths) for name, *paths in args.input}
    for what, given, needed in (("inputs", files, table.inputs), ("settings", args.settings, table.settings)):
        if set(given) != set(needed):
            raise UserError(
                f"table {table.name}: its {what} are {', '.join(needed) or 'none'}, given {', '.join(given) or 'none'}"
            )
    frame = table.frame(module.rows(**files, **args.settings))
    write_csv(args.output, frame, p_values=table.p_values)
    for line in getattr(module, "warnings", lambda frame: [])(frame):
        note(line)


if __name__ == "__main__":
    run(main)
