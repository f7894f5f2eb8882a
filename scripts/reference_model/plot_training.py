"""Draw the training curves of the reference model, as PNG and PDF."""

import argparse

from litm.base.cli import run

# isort: split
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from litm.base.records import read_csv
from litm.figures.drawing.saving import save_figure
from litm.figures.drawing.style import MINIMUM_INCHES, PANEL_INCHES, new_canvas, set_title

#: Columns of the training table, and their labels.
_MEASURES = {
    "exact": "Whole answers",
    "deciding": "Their first deciding tokens",
}


def training_curve(rows: pd.DataFrame) -> Figure:
    """One panel per measure with one curve per task, from rows of `export.training_rows`."""
    canvas = new_canvas(max(MINIMUM_INCHES, len(_MEASURES) * PANEL_INCHES[0]), PANEL_INCHES[1])
    panels = canvas.subplots(1, len(_MEASURES), sharey=True)
    for panel, (measure, name) in zip(panels, _MEASURES.items(), strict=True):
        shown = rows.assign(millions=rows["tokens"] / 1e6, per_cent=100 * rows[measure])
        sns.lineplot(shown, x="millions", y="per_cent", hue="task", ax=panel, palette="colorblind")
        panel.set(title=name, xlabel="Tokens seen (millions)", ylabel="%", ylim=(-2, 102))
        panel.get_legend().remove()
    canvas.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=rows["task"].nunique())
    set_title(canvas, "Training of the reference model: what was right")
    return canvas


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--curve", required=True, help="the table that train_reference_model.py wrote")
    parser.add_argument("--png", required=True)
    parser.add_argument("--pdf", required=True)
    args = parser.parse_args()
    figure = training_curve(read_csv(args.curve))
    save_figure(figure, args.png)
    save_figure(figure, args.pdf)


if __name__ == "__main__":
    run(main)
