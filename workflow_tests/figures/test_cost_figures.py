"""Figures of accuracy against cost: of the conditions of remedies, and of the sizes of an experiment."""

import pandas as pd
import pytest
from figure_tables import FIGURE, draw, legend, titles, told, words
from matplotlib.figure import Figure
from score_frames import score_rows

from litm.figures.chart import Rows
from litm.figures.cost_figures import DOCUMENTS, DOLLARS, NO_CONDITION, NOTHING, costs_of_sizes
from litm.figures.kinds import PRESETS
from litm.tables.table import tables

CONDITIONS = {**FIGURE, "kind": "accuracy_by_cost", "experiments": ["s", "s-reversed"], "x_label": "Tokens"}
NO_VALUES = dict.fromkeys(("accuracy", "tokens", "accuracy_ci_low", "accuracy_ci_high"))


def row(experiment: str, documents: int, accuracy: float, **more) -> dict:
    order = "reversed" if experiment == "s-reversed" else "ranked"
    return {
        "model": "m", "remedies_of": "s", "experiment": experiment, "size": documents, "n": 50,
        "order": order,
        "accuracy": accuracy, "accuracy_ci_low": accuracy - 0.1, "accuracy_ci_high": accuracy + 0.1,
        "tokens": 40.0 + 100 * documents, "on_frontier": False, "is_advised": False,
    } | more  # fmt: skip


ROWS = [
    row("s", 1, 0.4, on_frontier=True), row("s", 5, 0.6), row("s-reversed", 5, 0.7, on_frontier=True, is_advised=True),
]  # fmt: skip


def conditions(rows: list[dict], **change: object) -> Figure:
    return draw(CONDITIONS, advice=tables()["advice"].frame([one | change for one in rows]))


def test_every_condition_is_a_curve_over_tokens_on_a_logarithmic_axis_without_those_that_were_left_out():
    picture = conditions([*ROWS, row("s", 20, 0.5, n=0) | NO_VALUES])
    (ax,) = picture.axes
    assert (ax.get_xscale(), ax.get_xlabel(), ax.get_title()) == ("log", "Tokens", "m")
    assert [list(container.lines[0].get_xdata()) for container in ax.containers] == [[140, 540], [540]]
    assert legend(picture)[:2] == ["best first", "best last"]
    assert "n = 50, the same questions under all conditions" in told(picture)
    assert "the vertical axis begins at 27 %, not at 0" in told(picture)


def test_the_frontier_and_the_advised_condition_are_marked():
    picture = conditions(ROWS)
    lines = {line.get_linestyle(): line for line in picture.axes[0].lines}
    assert list(lines["--"].get_xdata()) == [140, 540] and list(lines["--"].get_ydata()) == [40, 70]
    ring = next(line for line in picture.axes[0].lines if line.get_markerfacecolor() == "none")
    assert (list(ring.get_xdata()), list(ring.get_ydata())) == ([540], [70])
    frontier = "frontier: no other is better for less"
    assert legend(picture)[2:] == [frontier, "advised"]
    assert legend(conditions(ROWS, is_advised=False))[2:] == [frontier]
    # The frontier of one condition is a point, and so is that of several with the same accuracy and cost.
    for others in ([ROWS[2] | {"on_frontier": False}], [ROWS[2], row("s", 5, 0.7, on_frontier=True)]):
        assert legend(conditions([ROWS[0] | {"on_frontier": len(others) < 2}, *others]))[2:] == ["advised"]


@pytest.mark.parametrize(("change", "label"), [({"dollars": 0.5}, DOLLARS), ({"tokens": None}, DOCUMENTS)])
def test_the_axis_is_money_where_prices_are_known_and_the_sizes_where_tokens_are_not(change, label):
    (ax,) = conditions(ROWS, **change).axes
    assert ax.get_xlabel() == label and (list(ax.get_xticks()) == [1, 5]) == (label == DOCUMENTS)


def test_each_model_has_a_panel_and_other_studies_have_none():
    assert titles(conditions([*ROWS, *(one | {"model": "other"} for one in ROWS), row("another", 1, 0.5)])) == [
        "m", "other"
    ]  # fmt: skip


@pytest.mark.parametrize(("page", "columns"), [(None, 2), ("single_column", 1), ("double_column", 3)])
def test_panels_of_many_models_stand_in_rows(page, columns):
    settings = CONDITIONS | ({"page": vars(PRESETS[page])} if page else {})
    rows = [one | {"model": f"m{number}"} for number in range(5) for one in ROWS]
    axes = draw(settings, advice=tables()["advice"].frame(rows)).axes
    assert axes[0].get_subplotspec().get_gridspec().ncols == columns
    assert [bool(ax.get_ylabel()) for ax in axes] == [place % columns == 0 for place in range(5)]


def test_a_study_without_answers_says_so():
    assert NO_CONDITION in words(conditions(ROWS, n=0))


SIZES = {**FIGURE, "kind": "accuracy_by_tokens", "experiments": ["e"], "x_label": "Tokens"}
ACCURACY = pd.DataFrame(columns=["model", "experiment", "size", "n", "accuracy", "ci_low", "ci_high"])
PRICE = {"input": 2.0, "output": 10.0}


def sweep(model: str, by_size: dict[int, int | None]) -> pd.DataFrame:
    """Scores of a model with these tokens of a prompt by size; answers have 10."""
    frames = []
    for size, tokens in by_size.items():
        answers = {0: [True] * 8, size - 1: [True] * 4 + [False] * 4}
        counted = {"prompt_tokens": tokens, "response_tokens": None if tokens is None else 10}
        frames.append(score_rows(answers, size=size, model=model, **counted))
    return pd.concat(frames, ignore_index=True)


def costs(*sweeps: pd.DataFrame, accuracy: pd.DataFrame = ACCURACY, **figure: object) -> pd.DataFrame:
    return costs_of_sizes({**SIZES, **figure}, Rows(accuracy=accuracy, scores=sweeps))


def sizes(*sweeps: pd.DataFrame, **figure: object) -> Figure:
    return draw({**SIZES, **figure}, ACCURACY, scores=sweeps)


def test_a_point_is_the_mean_over_the_positions_at_the_tokens_of_prompt_and_answer():
    assert costs(sweep("a", {5: 90, 9: 190}))[["tokens", "accuracy"]].values.tolist() == [[100, 0.75], [200, 0.75]]
    canvas = sizes(sweep("a", {5: 90, 9: 190}), sweep("b", {5: 70, 9: 150}))
    (ax,) = canvas.axes
    assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "Tokens")
    assert words(ax) == ["5", "9", "5", "9"] and legend(canvas) == ["a", "b"]


def test_dollars_are_drawn_where_all_models_have_prices_and_tokens_otherwise():
    for prices, label in (({"a": PRICE, "b": PRICE}, DOLLARS), ({"a": PRICE}, "Tokens")):
        assert sizes(sweep("a", {5: 90}), sweep("b", {5: 90}), prices=prices).axes[0].get_xlabel() == label
    # 1,000 questions of 90 tokens for 2 dollars a million, and of 10 tokens for 10.
    assert costs(sweep("a", {5: 90}), prices={"a": PRICE})["dollars"].tolist() == pytest.approx([0.28])


def test_a_model_without_counted_tokens_is_named_and_none_at_all_is_said():
    assert "tokens not known: b" in told(sizes(sweep("a", {5: 90}), sweep("b", {5: None})))
    assert NOTHING in words(sizes(sweep("b", {5: None})))


def test_a_size_with_answers_in_doubt_has_no_point():
    cells = [{"model": "a", "experiment": "e", "size": 9, "doubt": "refused"}]
    rows = costs(sweep("a", {5: 90, 9: 190}), accuracy=pd.concat([ACCURACY, pd.DataFrame(cells)]))
    assert rows["size"].tolist() == [5]


def test_an_experiment_without_positions_has_the_accuracy_of_its_cells():
    rows = score_rows({None: [True, False]}, size=5, model="a", prompt_tokens=90, response_tokens=10)
    cell = dict.fromkeys(ACCURACY.columns, 0.5) | {"model": "a", "experiment": "e", "size": 5, "n": 2}
    assert costs(rows, accuracy=pd.DataFrame([cell]))[["tokens", "accuracy"]].values.tolist() == [[100, 0.5]]
