"""Tables that figures of tests are drawn from."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from litm.analysis.table import tables
from litm.figures.chart import Rows
from litm.figures.kinds import KINDS

POSITION_BIAS = tables()["position_bias"]

FIGURE = {
    "name": "f",
    "kind": "accuracy_by_position",
    "title": "A title",
    "experiments": ["qa"],
    "references": {"closed_book": "closed book", "oracle": "oracle"},
    "panel_title": "{size} documents",
    "x_label": "Position",
}


def cell(model: str, experiment: str, size: int, position: int | None, accuracy: float, n: int = 50) -> dict:
    return {
        "model": model, "experiment": experiment, "size": size, "position": position, "n": n,
        "depth": None if position is None else position / (size - 1),
        "accuracy": accuracy, "ci_low": max(0, accuracy - 0.1), "ci_high": min(1, accuracy + 0.1),
    }  # fmt: skip


def table(*cells: dict) -> pd.DataFrame:
    floats = dict.fromkeys(["accuracy", "ci_low", "ci_high"], "Float64")
    return pd.DataFrame(cells).astype({"position": "Int64", **floats})


def draw(figure: Mapping, accuracy: pd.DataFrame, **rows: pd.DataFrame) -> Figure:
    return KINDS[figure["kind"]].draw(figure, Rows(accuracy, **rows))


def draw_forest(position_bias: pd.DataFrame) -> Figure:
    return KINDS["pbi_forest"].draw({"kind": "pbi_forest"}, Rows(position_bias=position_bias))


#: Of a cell without a scored question.
NOT_SCORED = {"n": 0, "accuracy": pd.NA, "ci_low": pd.NA, "ci_high": pd.NA}
NEEDLES = {
    **{**FIGURE, "kind": "accuracy_by_target", "references": {}},
    **{"experiments": ["needles"], "panel_title": "{size} items"},
}


def needles(
    model: str, placement: tuple[int, ...], accuracies: tuple, n: int = 50, size: int = 300, experiment: str = "needles"
) -> list[dict]:
    """The rows of three targets; those of an accuracy of None have no question that fits."""
    rows = []
    for target, position, accuracy in zip(("start", "middle", "end"), placement, accuracies, strict=True):
        row = cell(model, experiment, size, position, accuracy or 0.0, n)
        if accuracy is None:
            row |= NOT_SCORED
        rows.append({**row, "placement": f"gold_at_{'_'.join(map(str, placement))}", "target": target})
    return rows


def targets(*rows: list[dict]) -> pd.DataFrame:
    return table(*(row for group in rows for row in group))


def bias(model: str, experiment: str, pbi: float | None, size: int = 100, **values: object) -> dict:
    """A row of position_bias.csv; the interval reaches 10 points to either side."""
    row = dict.fromkeys(POSITION_BIAS.columns) | {"model": model, "experiment": experiment, "size": size}
    row |= {"n": 100, "n_positions": 9, "verdict": "measured", "pbi": pbi}
    if pbi is not None:
        row |= {"pbi_ci_low": pbi - 0.1, "pbi_ci_high": pbi + 0.1}
    return row | values


def bias_table(*rows: dict) -> pd.DataFrame:
    floats = dict.fromkeys(("pbi", "pbi_ci_low", "pbi_ci_high"), "Float64")
    columns = list(dict.fromkeys([*POSITION_BIAS.columns, *(rows[0] if rows else [])]))
    return pd.DataFrame(rows, columns=columns).astype(floats)


NO_INFORMATION = {"verdict": "no_information", "reason": "floor"}


def points(figure: Figure) -> list[Line2D]:
    """The markers of the indices, from the top."""
    return [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) == 1]


def intervals(figure: Figure) -> list[list[float]]:
    return [list(line.get_xdata()) for line in figure.axes[0].get_lines() if line.get_marker() == "|"]


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def labels(figure: Figure) -> list[str]:
    return [tick.get_text() for tick in figure.axes[0].get_yticklabels()]


FOREST = bias_table(bias("a", "kv", 0.2), bias("b", "kv", 0.0, **NO_INFORMATION))
