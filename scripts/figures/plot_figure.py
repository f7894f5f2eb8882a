"""Draw one figure, as PNG and PDF: of measured accuracies, of published ones alone, or of a table."""

import argparse
from collections.abc import Mapping

import pandas as pd

from litm.analysis.cut_answers import cut_sentences
from litm.analysis.published.values import published_table, read_published
from litm.analysis.tables import load_table
from litm.base.cli import json_object, run
from litm.base.csv_files import read_csv
from litm.base.messages import note
from litm.figures import load_kind
from litm.figures.drawing.page import page_of
from litm.figures.drawing.rows import Rows, shown_cells
from litm.figures.drawing.saving import fit, save_figure
from litm.figures.drawing.style import add_note


def main() -> None:
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
    args = parser.parse_args()
    figure = args.figure
    counts = pd.concat([read_csv(path) for path in args.token_counts]) if args.token_counts else None
    missing: list[str] = []
    published = published_table(read_published(args.published)) if args.published else None
    if args.position_bias:
        rows = Rows(position_bias=read_csv(args.position_bias))
    elif args.differences:
        rows = Rows(
            differences=read_csv(args.differences, load_table("condition_differences").TABLE.dtypes),
            token_counts=counts,
        )
    elif args.advice:
        rows = Rows(advice=read_csv(args.advice, load_table("advice").TABLE.dtypes))
    elif args.wrong_answers:
        rows = Rows(wrong_answers=read_csv(args.wrong_answers, load_table("wrong_answers").TABLE.dtypes))
    elif args.accuracy:
        rows = Rows(
            accuracy=pd.concat([read_csv(path) for path in args.accuracy]),
            scores=(pd.read_parquet(path) for path in args.scores),
            recall=pd.concat([read_csv(path) for path in args.recall]) if args.recall else None,
            published=published,
            token_counts=counts,
        )
    elif published is not None:
        missing = without_values(published, figure)
        rows = Rows(accuracy=in_order(published, figure), token_counts=counts)
        figure = {**figure, "title": f"{figure['title']} (published values)"}
    else:
        inputs = "--accuracy, --published, --position-bias, --differences, --advice and --wrong-answers"
        parser.error(f"one of {inputs} is required")
    picture = load_kind(figure["kind"]).draw(figure, rows)
    if args.accuracy:
        add_note(picture, cut_sentences(rows.accuracy.to_dict("records"), figure.get("limits", {})))
    elif missing:
        add_note(picture, [f"no published values: {', '.join(missing)}"])
    page = page_of(figure)
    scale = fit(picture, page)
    if page and scale < 0.99 * page.scale:
        points = page.font_size * scale / page.scale
        note(
            f"{args.png}: text of {points:.1f} points, not {page.font_size:g}, so that it is {page.width:g} inches wide"
        )
    for path in (args.png, args.pdf):
        save_figure(picture, path, scale)


def without_values(published: pd.DataFrame, figure: Mapping) -> list[str]:
    """The models of a figure that have no published values there."""
    shown = set(shown_cells(figure, published)["model"])
    return [model for model in figure["models"] if model not in shown]


def in_order(published: pd.DataFrame, figure: Mapping) -> pd.DataFrame:
    """The rows of a figure's models in the order of the figure, which is that of the colours."""
    return pd.concat([published[published["model"] == model] for model in figure["models"]])


if __name__ == "__main__":
    run(main)
