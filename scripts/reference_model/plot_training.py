"""Draw the training curves of the reference model, as PNG and PDF.

curve: the table that train_reference_model.py wrote
"""

from litm.base.cli import program
from litm.base.formats import read_csv

#: Columns of the training table, and their labels.
MEASURES = {"exact": "Whole answers", "deciding": "Their first deciding tokens"}


@program
def main(curve: str, png: str, pdf: str) -> None:
    import seaborn as sns

    from litm.figures.style import MINIMUM_INCHES, PANEL_INCHES, new_canvas, save_figure

    # One panel per measure with one curve per task.
    rows = read_csv(curve)
    width = max(MINIMUM_INCHES, len(MEASURES) * PANEL_INCHES[0])
    canvas = new_canvas(width, PANEL_INCHES[1], "Training of the reference model: what was right")
    panels = canvas.subplots(1, len(MEASURES), sharey=True)
    for panel, (measure, name) in zip(panels, MEASURES.items(), strict=True):
        shown = rows.assign(millions=rows["tokens"] / 1e6, per_cent=100 * rows[measure])
        sns.lineplot(shown, x="millions", y="per_cent", hue="task", ax=panel, palette="colorblind")
        panel.set(title=name, xlabel="Tokens seen (millions)", ylabel="%", ylim=(-2, 102))
        panel.get_legend().remove()
    canvas.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=rows["task"].nunique())
    for path in (png, pdf):
        save_figure(canvas, path)
