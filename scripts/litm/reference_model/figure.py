"""Figure of the reference model's training: accuracy of each task over the tokens seen."""

import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from litm.figures.drawing.style import MINIMUM_INCHES, PANEL_INCHES, new_canvas, set_title

#: Columns of the training table, and their labels.
_MEASURES = {
    "exact": "Whole answers",
    "deciding": "Their first deciding tokens",
}


def training_curve(rows: pd.DataFrame) -> Figure:
    """One panel per measure with one curve per task, from rows of `exporting.training_rows`."""
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
