"""Write a table of results/tables as Markdown.

csv: the table, as make_table.py wrote it
"""

from typing import Annotated

from litm.base.cli import program
from litm.base.files import write_text
from litm.tables.table import tables


@program
def main(table: "Annotated[str, sorted(tables())]", csv: str, output: str) -> None:
    made = tables()[table]
    write_text(output, made.markdown(made.read(csv)))
