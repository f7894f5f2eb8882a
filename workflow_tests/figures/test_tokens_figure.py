"""Accuracy against tokens and dollars: what is drawn for which models."""

import pandas as pd
import pytest
from figure_tables import FIGURE, draw
from matplotlib.figure import Figure
from score_frames import score_rows

from litm.figures.chart import Rows
from litm.figures.cost_figures import DOLLARS, NOTHING, costs_of_sizes

TOKENS = {**FIGURE, "kind": "accuracy_by_tokens", "experiments": ["e"], "x_label": "Tokens"}
ACCURACY = pd.DataFrame(columns=["model", "experiment", "size", "n", "accuracy", "ci_low", "ci_high"])


def sweep(model: str, by_size: dict[int, int | None]) -> pd.DataFrame:
    """Scores of a model with these tokens of a prompt by size; answers have 10."""
    frames = []
    for size, tokens in by_size.items():
        answers = {0: [True] * 8, size - 1: [True] * 4 + [False] * 4}
        counted = {"prompt_tokens": tokens, "response_tokens": None if tokens is None else 10}
        frames.append(score_rows(answers, size=size, model=model, **counted))
    return pd.concat(frames, ignore_index=True)


def drawn(*sweeps: pd.DataFrame, **figure: object) -> Figure:
    return draw({**TOKENS, **figure}, ACCURACY, scores=sweeps)


def test_a_point_is_the_mean_over_the_positions_at_the_tokens_of_prompt_and_answer():
    table = costs_of_sizes(TOKENS, Rows(accuracy=ACCURACY, scores=[sweep("a", {5: 90, 9: 190})]))
    assert table["tokens"].tolist() == [100, 200] and table["accuracy"].tolist() == [0.75, 0.75]
    canvas = drawn(sweep("a", {5: 90, 9: 190}), sweep("b", {5: 70, 9: 150}))
    (ax,) = canvas.axes
    assert ax.get_xscale() == "log" and ax.get_xlabel() == "Tokens"
    assert [text.get_text() for text in ax.texts] == ["5", "9", "5", "9"]
    assert [text.get_text() for text in canvas.legends[0].get_texts()] == ["a", "b"]


def test_dollars_are_drawn_where_all_models_have_prices_and_tokens_otherwise():
    price = {"input": 2.0, "output": 10.0}
    both = drawn(sweep("a", {5: 90}), sweep("b", {5: 90}), prices={"a": price, "b": price})
    assert both.axes[0].get_xlabel() == DOLLARS
    table = costs_of_sizes({**TOKENS, "prices": {"a": price}}, Rows(accuracy=ACCURACY, scores=[sweep("a", {5: 90})]))
    # 1,000 questions of 90 tokens for 2 dollars a million, and of 10 tokens for 10.
    assert table["dollars"].tolist() == pytest.approx([0.28])
    one = drawn(sweep("a", {5: 90}), sweep("b", {5: 90}), prices={"a": price})
    assert one.axes[0].get_xlabel() == "Tokens"


def test_a_model_without_counted_tokens_is_named_and_none_at_all_is_said():
    canvas = drawn(sweep("a", {5: 90}), sweep("b", {5: None}))
    assert "tokens not known: b" in canvas.legends[0].get_title().get_text()
    assert NOTHING in [text.get_text() for text in drawn(sweep("b", {5: None})).texts]


def test_an_experiment_without_positions_has_the_accuracy_of_its_cells():
    rows = score_rows({None: [True, False]}, size=5, model="a", prompt_tokens=90, response_tokens=10)
    accuracy = pd.DataFrame(
        [{**dict.fromkeys(ACCURACY.columns, 0.5), "model": "a", "experiment": "e", "size": 5, "n": 2}]
    )
    table = costs_of_sizes(TOKENS, Rows(accuracy=accuracy, scores=[rows]))
    assert table[["tokens", "accuracy"]].values.tolist() == [[100, 0.5]]
