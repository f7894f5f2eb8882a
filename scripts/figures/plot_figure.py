"""Draw one figure, as PNG and PDF: of measured accuracies, of published ones alone, or of a table."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from litm.base.cli import json_object, run

# isort: split
import pandas as pd

from litm.analysis.answers import cut_sentences
from litm.analysis.published.values import published_table, read_published
from litm.analysis.tables import load_table
from litm.base.messages import note
from litm.base.records import read_csv, read_parquet
from litm.figures import load_kind
from litm.figures.drawing.page import page_of
from litm.figures.drawing.rows import Rows, shown_cells
from litm.figures.drawing.saving import fit, save_figure, without_title
from litm.figures.drawing.style import add_note

#: Tables of results/tables that kinds of figures draw, by their names as options and in `Rows`.
TABLES = {"differences": "condition_differences", "advice": "advice", "wrong_answers": "wrong_answers"}


def main() -> None:
    args = parse_args()
    figure, rows, notes = read_rows(args)
    picture = load_kind(figure["kind"]).draw(figure, rows)
    add_note(picture, notes)
    page = page_of(figure)
    scale = fit(picture, page)
    if page and scale < 0.99 * page.scale:
        points = page.font_size * scale / page.scale
        note(
            f"{args.png}: text of {points:.1f} points, not {page.font_size:g}, so that it is {page.width:g} inches wide"
        )
    for path in (args.png, args.pdf):
        save_figure(picture, path, scale)
    if args.untitled:
        save_figure(without_title(picture), args.untitled, scale)
    note(f"{args.png}: drawn")


def read_rows(args: argparse.Namespace) -> tuple[dict, Rows, list[str]]:
    """The settings of the figure, the rows that it draws, and the sentences below it."""
    figure, counts = args.figure, _joined(args.token_counts)
    published = published_table(read_published(args.published)) if args.published else None
    if (accuracy := _joined(args.accuracy)) is not None:
        rows = Rows(
            accuracy=accuracy,
            scores=(read_parquet(path) for path in args.scores),
            recall=_joined(args.recall),
            published=published,
            token_counts=counts,
        )
        return figure, rows, cut_sentences(rows.accuracy.to_dict("records"), figure.get("limits", {}))
    if args.position_bias:
        return figure, Rows(position_bias=read_csv(args.position_bias)), []
    for name, table in TABLES.items():
        if path := getattr(args, name):
            drawn: dict[str, Any] = {name: read_csv(path, load_table(table).TABLE.dtypes)}
            return figure, Rows(token_counts=counts, **drawn), []
    assert published is not None, "the parser asks for one of them"
    missing = without_values(published, figure)
    rows = Rows(accuracy=in_order(published, figure), token_counts=counts)
    titled = {**figure, "title": f"{figure['title']} (published values)"}
    return titled, rows, [f"no published values: {', '.join(missing)}"] if missing else []


def _joined(paths: Sequence[str]) -> pd.DataFrame | None:
    """The rows of all files; None for no files."""
    return pd.concat([read_csv(path) for path in paths]) if paths else None


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", required=True, type=json_object, help="JSON with the figure's settings")
    parser.add_argument("--accuracy", nargs="*", default=[], help="accuracies of sweeps, as score.py wrote them")
    parser.add_argument("--scores", nargs="*", default=[], help="score files of sweeps, if the kind reads them")
    parser.add_argument("--recall", nargs="*", default=[], help="recall tables of the retrievers in the figure")
    parser.add_argument("--published", nargs="?", help="published accuracies; alone, the figure is of them")
    parser.add_argument("--position-bias", help="the table of position bias")
    parser.add_argument("--differences", nargs="?", help="the table of differences between conditions")
    parser.add_argument("--advice", nargs="?", help="the table of what helps")
    parser.add_argument("--token-counts", nargs="*", default=[], help="lengths of prompts, measured or published")
    parser.add_argument("--wrong-answers", nargs="?", help="the table of what wrong answers are")
    parser.add_argument("--png", required=True)
    parser.add_argument("--pdf", required=True)
    parser.add_argument("--untitled", help="a PNG without the title, for the report, whose headings are the titles")
    args = parser.parse_args()
    sources = ("accuracy", "published", "position_bias", *TABLES)
    if not any(getattr(args, name) for name in sources):
        options = ", ".join(f"--{name.replace('_', '-')}" for name in sources)
        parser.error(f"one of {options} is required")
    return args


def without_values(published: pd.DataFrame, figure: Mapping) -> list[str]:
    """The models of a figure that have no published values there."""
    shown = set(shown_cells(figure, published)["model"])
    return [model for model in figure["models"] if model not in shown]


def in_order(published: pd.DataFrame, figure: Mapping) -> pd.DataFrame:
    """The rows of a figure's models in the order of the figure, which is that of the colours."""
    return pd.concat([published[published["model"] == model] for model in figure["models"]])


if __name__ == "__main__":
    run(main)
