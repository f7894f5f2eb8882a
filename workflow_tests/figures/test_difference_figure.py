"""Figures of differences between conditions."""

from math import nan

import pandas as pd
import pytest
from figure_tables import FIGURE, draw, legend, told, words
from matplotlib.figure import Figure


def difference(position: int | None, value: float, **more) -> dict:
    names = {"model": "m", "experiment": "e", "size": 5, "position": position}
    sides = {f"{name}_{side}": one for name, one in names.items() for side in "ab"} | {"experiment_a": "other"}
    limits = {"difference": value, "difference_ci_low": value - 0.04, "difference_ci_high": value + 0.04}
    return {"condition": "prompt", "quantity": "accuracy", "chosen_of": 1, "n": 100, **sides, **limits, **more}


DIFFERENCES = pd.DataFrame(
    [
        *(difference(position, value) for position, value in ((0, 0.1), (2, -0.2), (4, 0.05))),
        *(difference(position, 0.1, model_a="n", model_b="n") for position in (0, 4)),
        difference(None, 0.3, quantity="pbi"),
        difference(0, 0.1, chosen_of=3),
        difference(0, 0.5, condition="model", experiment_a="e", model_a="tuned", model_b="m"),
        difference(0, 0.7, experiment_b="third"),
    ]
)


def drawn(*experiments: str, rows: pd.DataFrame = DIFFERENCES) -> Figure:
    return draw({**FIGURE, "kind": "condition_differences", "experiments": experiments}, condition_differences=rows)


def test_differences_of_two_experiments_are_drawn_in_points_with_intervals_and_a_line_at_0():
    canvas = drawn("other", "e")
    (panel,) = canvas.axes
    curve = next(line for line in panel.get_lines() if len(line.get_xdata()) == 3 and line.get_marker() == "o")
    assert list(curve.get_xdata()) == [0, 2, 4] and list(curve.get_ydata()) == pytest.approx([10, -20, 5])
    other = next(line for line in panel.get_lines() if line.get_marker() == "s")
    assert list(other.get_ydata()) == pytest.approx([10, nan, 10], nan_ok=True)
    assert any(list(line.get_ydata()) == [0, 0] for line in panel.get_lines())
    assert panel.get_ylim()[0] < -24 and panel.get_ylim()[1] > 14
    assert "other minus e\n" in told(canvas)


def test_no_difference_is_drawn_across_a_position_without_a_common_question():
    cells = [difference(position, nan if position == 2 else 0.1, n=50 * (position != 2)) for position in (0, 2, 4)]
    unscored = [{**one, "size_a": 9, "size_b": 9, "n": 0} for one in cells]
    (panel,) = drawn("other", "e", rows=pd.DataFrame([*cells, *unscored])).axes
    assert list(panel.containers[0].lines[0].get_ydata()) == pytest.approx([10, nan, 10], nan_ok=True)
    assert [label.get_text() for label in panel.get_xticklabels()] == ["1st", "5th"]


def test_of_one_experiment_tuned_models_are_drawn_minus_their_base():
    assert legend(drawn("e")) == ["tuned minus m"]


def test_a_figure_of_differences_without_any_says_so():
    canvas = drawn("fourth", "fifth")
    assert not canvas.axes and "same questions under both conditions" in words(canvas)[-1]
