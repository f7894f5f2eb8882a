"""The figure of accuracy against cost: the rows of advice.csv that it draws, and its marks."""

import pandas as pd
import pytest

from litm.analysis.table import tables
from litm.figures.chart import Rows
from litm.figures.kinds import KINDS

TABLE = tables()["advice"]

FIGURE = {"title": "What helps", "experiments": ["s", "s-reversed"], "x_label": "Tokens of a question"}


def row(experiment: str, documents: int, accuracy: float, **more) -> dict:
    words = "best last" if experiment == "s-reversed" else "best first"
    return {
        "model": "m", "remedies_of": "s", "experiment": experiment, "size": documents, "n": 50,
        "condition": f"{documents} documents, {words}" if documents > 1 else "1 document",
        "accuracy": accuracy, "accuracy_ci_low": accuracy - 0.1, "accuracy_ci_high": accuracy + 0.1,
        "tokens": 40.0 + 100 * documents, "on_frontier": False, "is_advised": False,
    } | more  # fmt: skip


ROWS = [
    row("s", 1, 0.4, on_frontier=True), row("s", 5, 0.6), row("s-reversed", 5, 0.7, on_frontier=True, is_advised=True),
]  # fmt: skip


def drawn(rows, figure=FIGURE):
    return KINDS["accuracy_by_cost"].draw(figure, Rows(advice=TABLE.frame(rows)))


def legend(picture) -> list[str]:
    return [text.get_text() for text in picture.legends[0].get_texts()]


def test_every_condition_is_a_curve_over_tokens_on_a_logarithmic_axis():
    picture = drawn(ROWS)
    (ax,) = picture.axes
    assert ax.get_xscale() == "log" and ax.get_xlabel() == "Tokens of a question" and ax.get_title() == "m"
    curves = [list(container.lines[0].get_xdata()) for container in ax.containers]
    assert curves == [[140, 540], [540]]
    assert legend(picture)[:2] == ["best first", "best last"]
    assert "n = 50, the same questions under all conditions" in picture.legends[0].get_title().get_text()


def test_the_frontier_and_the_advised_condition_are_marked():
    picture = drawn(ROWS)
    lines = {line.get_linestyle(): line for line in picture.axes[0].lines}
    assert list(lines["--"].get_xdata()) == [140, 540] and list(lines["--"].get_ydata()) == [40, 70]
    ring = next(line for line in picture.axes[0].lines if line.get_markerfacecolor() == "none")
    assert (list(ring.get_xdata()), list(ring.get_ydata())) == ([540], [70])
    assert legend(picture)[2:] == ["frontier: no other is better for less", "advised"]
    # The frontier of one condition is a point.
    alone = [{**one, "on_frontier": one["on_frontier"] and not one["is_advised"]} for one in ROWS]
    assert legend(drawn(alone))[2:] == ["advised"]


def test_without_advice_nothing_is_ringed():
    assert "advised" not in legend(drawn([one | {"is_advised": False} for one in ROWS]))


@pytest.mark.parametrize(
    ("change", "label"),
    [({"dollars": 0.5}, "US dollars for 1,000 questions"), ({"tokens": None}, "Documents in the prompt")],
)
def test_the_axis_is_money_where_prices_are_known_and_documents_where_tokens_are_not(change, label):
    assert drawn([one | change for one in ROWS]).axes[0].get_xlabel() == label


def test_an_axis_of_documents_has_ticks_at_the_sizes_there_are():
    (ax,) = drawn([one | {"tokens": None} for one in ROWS]).axes
    assert list(ax.get_xticks()) == [1, 5]


def test_each_model_has_a_panel_and_other_studies_have_none():
    others = [one | {"model": "other"} for one in ROWS] + [row("another", 1, 0.5)]
    assert [ax.get_title() for ax in drawn([*ROWS, *others]).axes] == ["m", "other"]


def test_a_study_without_answers_says_so():
    picture = drawn([one | {"n": 0} for one in ROWS])
    assert "No condition has answers that can be compared." in [text.get_text() for text in picture.texts]


def test_conditions_that_were_left_out_are_not_drawn():
    left_out = row("s", 20, 0.5, n=0) | dict.fromkeys(("accuracy", "tokens", "accuracy_ci_low", "accuracy_ci_high"))
    (ax,) = drawn([*ROWS, left_out]).axes
    assert pd.Series(ax.containers[0].lines[0].get_xdata()).max() == 540
