"""Make one of Tables 1 to 7 of the paper, of what was measured here or what was published."""

import argparse
from dataclasses import asdict

from litm.base.cli import run

# isort: split
import pandas as pd

from litm.analysis.paper_layouts import LAYOUTS
from litm.analysis.paper_tables import latex_table, paper_table
from litm.analysis.published import values
from litm.base.files import write_text
from litm.base.records import read_csv, write_csv


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", required=True, type=int, choices=LAYOUTS)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--measured", help="the table of accuracies, or of token counts")
    source.add_argument("--published", help="published accuracies, or token counts")
    parser.add_argument("--models", required=True, help="the paper's models, with their printed names")
    for written in ("--csv", "--markdown", "--latex"):
        parser.add_argument(written, required=True)
    args = parser.parse_args()
    layout = LAYOUTS[args.table]
    rows = read_csv(args.measured) if args.measured else published_rows(args.published, args.table)
    table = paper_table(layout, rows, values.read_published_models(args.models))
    write_csv(args.csv, table.values)
    markdown = table.text.to_markdown(index=False, disable_numparse=True)
    write_text(args.markdown, f"{markdown}\n\n{table.caption}.\n")
    write_text(args.latex, latex_table(table))


def published_rows(path: str, number: int) -> pd.DataFrame:
    """The values that the paper has in its own table of this number, as rows for `paper_table`."""
    source = f"Table {number}"
    if LAYOUTS[number].is_of_tokens:
        return pd.DataFrame([asdict(one) for one in values.read_published_tokens(path) if one.source == source])
    return values.published_table(one for one in values.read_published(path) if one.source == source)


if __name__ == "__main__":
    run(main)
