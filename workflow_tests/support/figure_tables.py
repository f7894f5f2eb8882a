"""Tables that figures of tests are drawn from, and what a drawn figure says."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from litm.figures.chart import Rows
from litm.figures.kinds import KINDS
from litm.tables.table import tables

POSITION_BIAS = tables()["position_bias"]
FIGURE = {
    "name": "f", "kind": "accuracy_by_position", "title": "A title", "experiments": ["qa"],
    "references": {"closed_book": "closed book", "oracle": "oracle"}, "panel_title": "{size} documents",
    "x_label": "Position",
}  # fmt: skip


def cell(model: str, experiment: str, size: int, position: int | None, accuracy: float, n: int = 50) -> dict:
    return {
        "model": model, "experiment": experiment, "size": size, "position": position, "n": n,
        "depth": None if position is None else position / (size - 1),
        "accuracy": accuracy, "ci_low": max(0, accuracy - 0.1), "ci_high": min(1, accuracy + 0.1),
    }  # fmt: skip


def table(*cells: dict) -> pd.DataFrame:
    floats = dict.fromkeys(["accuracy", "ci_low", "ci_high"], "Float64")
    return pd.DataFrame(cells).astype({"position": "Int64", **floats})


def draw(figure: Mapping, accuracy: pd.DataFrame | None = None, **rows: object) -> Figure:
    return KINDS[figure["kind"]].draw(figure, Rows(accuracy, **rows))  # type: ignore[arg-type]


#: Of a cell without a scored question.
NOT_SCORED = {"n": 0, "accuracy": pd.NA, "ci_low": pd.NA, "ci_high": pd.NA}
NEEDLES = FIGURE | {
    "kind": "accuracy_by_target", "references": {}, "experiments": ["needles"], "panel_title": "{size} items",
}  # fmt: skip


def needles(
    model: str,
    placement: tuple[int, ...] = (0, 149, 299),
    accuracies: tuple = (0.9, 0.5, 0.8),
    size: int = 300,
    experiment: str = "needles",
) -> list[dict]:
    """The rows of three targets; those of an accuracy of None have no question that fits."""
    return [
        cell(model, experiment, size, position, accuracy or 0.0)
        | (NOT_SCORED if accuracy is None else {})
        | {"placement": f"gold_at_{'_'.join(map(str, placement))}", "target": target}
        for target, position, accuracy in zip(("start", "middle", "end"), placement, accuracies, strict=True)
    ]


def targets(*rows: list[dict]) -> pd.DataFrame:
    return table(*(row for group in rows for row in group))


def bias(model: str, experiment: str, pbi: float | None, size: int = 100, **values: object) -> dict:
    """A row of position_bias.csv; the interval reaches 10 points to either side."""
    row = dict.fromkeys(POSITION_BIAS.columns) | {"model": model, "experiment": experiment, "size": size}
    row |= {"n": 100, "n_positions": 9, "verdict": "measured", "pbi": pbi}
    if pbi is not None:
        row |= {"pbi_ci_low": pbi - 0.1, "pbi_ci_high": pbi + 0.1}
    return row | values


def draw_forest(*rows: dict, places: Mapping[str, int] | None = None) -> Figure:
    return draw({"kind": "pbi_forest", "places": places}, position_bias=POSITION_BIAS.frame(rows))


NO_INFORMATION = {"verdict": "no_information", "reason": "floor"}
FOREST = (bias("a", "kv", 0.2), bias("b", "kv", 0.0, **NO_INFORMATION))


def points(figure: Figure) -> list[Line2D]:
    """The markers of the indices of a forest, from the top."""
    return [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) == 1]


def words(where: Figure | Axes) -> list[str]:
    return [text.get_text() for text in where.texts]


def titles(figure: Figure) -> list[str]:
    return [panel.get_title() for panel in figure.axes]


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def told(figure: Figure) -> str:
    """The sentences of the legend."""
    return figure.legends[0].get_title().get_text()
