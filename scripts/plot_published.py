"""Draw one figure from published accuracies alone, as PNG and PDF."""

import argparse

import pandas as pd

from litm.cli import json_object, run
from litm.figures import draw_figure, rows_of_cells, save_figure
from litm.published import published_table, read_published


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", required=True, type=json_object, help="JSON with the figure's settings")
    parser.add_argument("--published", required=True, help="published accuracies")
    parser.add_argument("--png", required=True)
    parser.add_argument("--pdf", required=True)
    args = parser.parse_args()
    table = published_table(read_published(args.published))
    models = args.figure["models"] or dict.fromkeys(table["model"])
    # Colours are in the order of the rows.
    table = pd.concat([table[table["model"] == model] for model in models])
    settings = {**args.figure, "title": f"{args.figure['title']} (published values)"}
    figure = draw_figure(settings, rows_of_cells(table, settings))
    save_figure(figure, args.png)
    save_figure(figure, args.pdf)


if __name__ == "__main__":
    run(main)
