"""Differences between two conditions by position: one panel per size, one curve per model.

With several experiments: the pairs of them that condition_differences.csv compares. With one: its tuned models minus
their base models.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from litm.base.messages import ordinal
from litm.figures import Experiment
from litm.figures.drawing.chart import CURVE, Chart, Panel, Series, make_chart, panel_title, points_of
from litm.figures.drawing.rows import Rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

X_LABEL = "Position of the {item} with the answer"
INPUTS = ("differences", "token_counts")
BY_SIZE = None
Y_LABEL = "Difference (points)"


def misfit(experiments: Sequence[Experiment]) -> str | None:
    """One experiment with a curve is enough, and none may ask for several items at once."""
    for experiment in experiments:
        if experiment.asks_several:
            return f"{experiment.name} asks for several items at once, which condition_differences.csv leaves out"
    return None if any(one.curves for one in experiments) else "none of its experiments has positions to compare"


def is_automatic(experiment: Experiment) -> bool:
    """False: only for figures named in a config."""
    return False


def draw(figure: Mapping, rows: Rows) -> "Figure":
    """The difference a - b in points against the position, with paired 95 % intervals and a line at 0."""
    from litm.figures.drawing.differences import draw_differences

    return draw_differences(
        difference_chart(figure, rows.differences, rows.token_counts), compared(figure, rows.differences)
    )


def chart(figure: Mapping, rows: Rows) -> None:
    """None: the report shows the picture, as its charts have only accuracies."""


def difference_chart(figure: Mapping, differences: "pd.DataFrame", token_counts: "pd.DataFrame | None" = None) -> Chart:
    """Panels in the order of their sizes; no panel for sizes without a comparison."""
    from dataclasses import replace

    shown = _shown(figure, differences)
    pairs = {pair: dash for dash, pair in enumerate(dict.fromkeys(map(_pair, shown.to_dict("records"))))}
    curves = list(dict.fromkeys(map(_curve, shown.to_dict("records"))))
    models = list(dict.fromkeys(model for model, _ in curves))
    panels = []
    for size, of_size in shown.groupby("size_a"):
        positions = sorted({int(position) for position in of_size["position_a"]})
        series = []
        for model, pair in curves:
            rows = of_size[[_curve(row) == (model, pair) for row in of_size.to_dict("records")]]
            if len(rows):
                label = f"{pair[0]} - {pair[1]}" if len(pairs) > 1 else ""
                points = points_of(rows.sort_values("position_a"), "position_a", "difference")
                series.append(Series(CURVE, model, label, pairs[pair], points))
        ticks = tuple((position, ordinal(position + 1)) for position in positions)
        panels.append(Panel(panel_title(figure, size, token_counts), ticks, tuple(series)))
    return replace(make_chart(figure, panels, models), y_label=Y_LABEL)


def compared(figure: Mapping, differences: "pd.DataFrame") -> list[str]:
    """One line per pair that a figure compares: side a minus side b."""
    rows = _shown(figure, differences).to_dict("records")
    return [f"{a} minus {b}" for a, b in dict.fromkeys(map(_pair, rows)) if a]


def _shown(figure: Mapping, differences: "pd.DataFrame") -> "pd.DataFrame":
    """The figure's differences of accuracy at positions, with the columns that `points_of` reads."""
    names = list(figure["experiments"])
    shown = differences["experiment_a"].isin(names) & differences["experiment_b"].isin(names)
    if len(names) > 1:
        shown &= differences["experiment_a"] != differences["experiment_b"]
    else:
        shown &= differences["condition"] == "model"
    shown &= (differences["quantity"] == "accuracy") & (differences["chosen_of"] == 1) & (differences["n"] > 0)
    shown &= differences["position_a"].notna()
    for key, column in (("models", "model_a"), ("sizes", "size_a")):
        if figure.get(key):
            shown &= differences[column].isin(list(figure[key]))
    limits = {"difference_ci_low": "ci_low", "difference_ci_high": "ci_high"}
    return differences[shown].rename(columns=limits)


def _pair(row: Mapping) -> tuple[str, str]:
    """The legend's name of a comparison; ("", "") between models, which have legend entries of their own."""
    if row["condition"] == "model":
        return "", ""
    return str(row["experiment_a"]), str(row["experiment_b"])


def _curve(row: Mapping) -> tuple[str, tuple[str, str]]:
    """The legend's name of the model, and the pair."""
    is_of_models = row["condition"] == "model"
    model = f"{row['model_a']} minus {row['model_b']}" if is_of_models else str(row["model_a"])
    return model, _pair(row)
