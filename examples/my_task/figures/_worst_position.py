"""Draws the accuracy at the worst position. Modules whose names begin with _ are not searched for entries."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from litm.figures.chart import Rows, measure_label, shown_cells


def draw(figure: Mapping, rows: Rows) -> Figure:
    """A line per model and experiment."""
    cells = shown_cells(figure, rows.accuracy)
    cells = cells[cells["position"].notna()]
    canvas = Figure(figsize=(5, 3.5), layout="constrained")
    ax = canvas.subplots()
    for names, own in cells.groupby(["model", "experiment"], sort=False):
        worst = own.groupby("size")["accuracy"].min()
        ax.plot(worst.index, 100 * worst, marker="o", label=", ".join(names))
    ax.set(title=figure["title"], xlabel=figure["x_label"], ylabel=measure_label(figure), ylim=(-2, 102))
    ax.legend()
    return canvas
