"""Make one of Tables 1 to 7 of the paper, of what was measured here or what was published.

measured: the table of accuracies, or of token counts
published: published accuracies, or token counts, instead of measured ones
models: the paper's models, with their printed names
"""

from dataclasses import asdict
from typing import Annotated

from litm.analysis.paper_tables import LAYOUTS
from litm.base.cli import program
from litm.base.files import write_text
from litm.base.messages import UserError
from litm.base.table_files import write_csv
from litm.tables.table import tables


@program
def main(
    table: Annotated[int, LAYOUTS],
    csv: str,
    markdown: str,
    latex: str,
    models: str,
    measured: str | None = None,
    published: str | None = None,
) -> None:
    import pandas as pd

    from litm.analysis import published as values
    from litm.analysis.comparison import published_table
    from litm.analysis.paper_tables import latex_table, paper_table

    layout, source = LAYOUTS[table], f"Table {table}"
    if measured and not published:
        rows = tables()[layout.table].read(measured)
    elif not published or measured:
        raise UserError("give either --measured or --published")
    elif layout.is_of_tokens:
        counts = values.read_published_tokens(published)
        rows = pd.DataFrame([asdict(count) for count in counts if count.source == source])
    else:
        rows = published_table(value for value in values.read_published(published) if value.source == source)
    made = paper_table(layout, rows, values.read_published_models(models))
    write_csv(csv, made.values)
    write_text(markdown, f"{made.text.to_markdown(index=False, disable_numparse=True)}\n\n{made.caption}.\n")
    write_text(latex, latex_table(made))
