"""Figures of differences between conditions."""

import pandas as pd
import pytest
from figure_tables import FIGURE
from matplotlib.figure import Figure

from litm.figures.chart import Rows
from litm.figures.kinds import KINDS


def difference(position: int | None, value: float, **more) -> dict:
    names = {"model": "m", "experiment": "e", "size": 5, "position": position}
    sides = {f"{name}_{side}": one for name, one in names.items() for side in "ab"}
    sides["experiment_a"] = "other"
    limits = {"difference": value, "difference_ci_low": value - 0.04, "difference_ci_high": value + 0.04}
    return {"condition": "prompt", "quantity": "accuracy", "chosen_of": 1, "n": 100, **sides, **limits, **more}


DIFFERENCES = pd.DataFrame(
    [
        difference(0, 0.1),
        difference(2, -0.2),
        difference(4, 0.05),
        difference(None, 0.3, quantity="pbi"),
        difference(0, 0.1, chosen_of=3),
        difference(0, 0.5, condition="model", experiment_a="e", model_a="tuned", model_b="m"),
        difference(0, 0.7, experiment_b="third"),
    ]
)


def draw_differences_of(*experiments: str) -> Figure:
    figure = {**FIGURE, "kind": "condition_differences", "experiments": experiments}
    return KINDS["condition_differences"].draw(figure, Rows(differences=DIFFERENCES))


def test_differences_of_two_experiments_are_drawn_in_points_with_intervals_and_a_line_at_0():
    canvas = draw_differences_of("other", "e")
    (panel,) = canvas.axes
    curve = next(line for line in panel.get_lines() if len(line.get_xdata()) == 3 and line.get_marker() == "o")
    assert list(curve.get_xdata()) == [0, 2, 4]
    assert list(curve.get_ydata()) == pytest.approx([10, -20, 5])
    assert any(list(line.get_ydata()) == [0, 0] for line in panel.get_lines())
    assert panel.get_ylim()[0] < -24 and panel.get_ylim()[1] > 14
    assert "other minus e\n" in canvas.legends[0].get_title().get_text()


def test_of_one_experiment_tuned_models_are_drawn_minus_their_base():
    canvas = draw_differences_of("e")
    assert [text.get_text() for text in canvas.legends[0].get_texts()] == ["tuned minus m"]


def test_a_figure_of_differences_without_any_says_so():
    canvas = draw_differences_of("fourth", "fifth")
    assert not canvas.axes and "same questions under both conditions" in canvas.texts[-1].get_text()
