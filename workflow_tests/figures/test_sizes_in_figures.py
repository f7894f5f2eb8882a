"""Heatmaps of sizes and positions, lengths of prompts in titles, and facts about models in legends."""

import pandas as pd
import pytest
from figure_tables import FIGURE, NOT_SCORED, cell, draw, legend, table, titles, told, words
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from score_frames import accuracy_table, score_rows

from litm.figures.chart import length_in_words, mean_tokens
from litm.figures.style import add_note


def curves(*models: str, experiment: str = "qa") -> pd.DataFrame:
    """Two sizes with three positions each."""
    return table(
        *(
            cell(model, experiment, size, position, accuracy)
            for model in models
            for size in (5, 9)
            for position, accuracy in zip((0, size // 2, size - 1), (0.9, 0.4, 0.15), strict=True)
        )
    )


def counts(**means: float) -> pd.DataFrame:
    """Tokens of 5 documents by model; 9 documents have twice as many."""
    placed = {"experiment": "qa", "placement": "gold_at_0", "n": 40}
    return pd.DataFrame(
        {"model": model, "size": size, "tokens_mean": mean * times, **placed}
        for model, mean in means.items()
        for size, times in ((5, 1), (9, 2))
    )


def by_position(*models: str, token_counts: pd.DataFrame | None = None, **settings: object) -> Figure:
    return draw({**FIGURE, **settings}, curves(*models), token_counts=token_counts)


def heatmap(accuracy: pd.DataFrame, token_counts: pd.DataFrame | None = None, **settings: object) -> Figure:
    return draw({**FIGURE, "kind": "accuracy_by_size_and_position", **settings}, accuracy, token_counts=token_counts)


def panels(canvas: Figure) -> list:
    """All axes but the colour bar."""
    return [ax for ax in canvas.axes if ax.get_title()]


def test_a_heatmap_has_a_panel_a_model_a_row_a_size_and_a_cell_a_position_with_its_numbers():
    first, second = panels(heatmap(curves("a", "b"), counts(a=1430, b=1000)))
    assert (first.get_title(), second.get_title()) == ("a", "b")
    labels = [label.get_text() for label in first.get_yticklabels()]
    assert labels == ["5 documents\n~1,400 tokens", "9 documents\n~2,900 tokens"]
    assert first.get_ylim() == (2, 0)
    cells = [patch for patch in first.patches if isinstance(patch, Rectangle)]
    assert len(cells) == 6 and len({patch.get_facecolor() for patch in cells}) == 3
    assert words(first)[:6] == ["90", "[80, 100]", "1st, n = 50", "40", "[30, 50]", "3rd, n = 50"]
    # Dark numbers on light cells and light ones on dark cells.
    ink = {text.get_text(): text.get_color() for text in first.texts}
    assert (ink["90"], ink["15"]) == ("black", "white")
    assert [label.get_text() for label in first.get_xticklabels()] == ["0 %", "50 %", "100 %"]


def test_rows_of_other_positions_have_cells_of_their_own_width_and_no_depths_at_the_axis():
    cells = [cell("a", "qa", size, position, 0.5) for size, position in ((5, 0), (5, 4), (9, 0), (9, 4), (9, 8))]
    (panel,) = panels(heatmap(table(*cells)))
    widths = [patch.get_width() for patch in panel.patches if isinstance(patch, Rectangle)]
    assert widths == pytest.approx([1 / 2] * 2 + [1 / 3] * 3)
    assert not panel.get_xticklabels()


def test_a_position_without_a_scored_question_has_an_empty_cell_and_the_others_stay_in_their_columns():
    cells = curves("a", "b")
    cells.loc[(cells["model"] == "a") & (cells["position"] == 2), list(NOT_SCORED)] = list(NOT_SCORED.values())
    first, second = panels(heatmap(cells))
    assert {"no question\nscored"} == {*words(first)} - {*words(second)}
    (empty, *own), every = ([p for p in ax.patches if isinstance(p, Rectangle)] for ax in (first, second))
    boxes, all_boxes = ([patch.get_bbox().bounds for patch in patches] for patches in (own, every))
    assert empty.get_hatch() and boxes == all_boxes[:1] + all_boxes[2:]
    assert [label.get_text() for label in first.get_xticklabels()] == ["0 %", "50 %", "100 %"]


@pytest.mark.long
def test_the_colour_bar_of_many_models_is_as_close_to_its_panels_and_its_label_as_that_of_few():
    canvas = heatmap(curves(*map(str, range(40))))
    canvas.draw_without_rendering()
    *drawn, bar = canvas.axes
    gap = min(ax.get_tightbbox().y0 for ax in drawn) - bar.get_window_extent().y1
    assert 0 < gap < 0.4 * canvas.dpi
    assert canvas.legends[0].get_window_extent().y1 < bar.xaxis.label.get_window_extent().y0


def test_a_size_without_scores_has_a_note_and_so_has_a_heatmap_without_scores():
    nothing = [cell("a", "qa", 9, position, 0.0) | NOT_SCORED for position in (0, 8)]
    scored = [cell("a", "qa", 5, position, 0.5) for position in (0, 4)]
    (panel,) = panels(heatmap(table(*scored, *nothing)))
    assert "no question scored" in words(panel)
    empty = heatmap(table(*nothing))
    assert not empty.axes and words(empty)[-1] == "No question was scored."


def test_a_heatmap_has_room_for_what_is_said_below_it_and_for_the_label_of_its_axis():
    canvas = heatmap(curves("a", "b"), x_label="Position of the item with the answer, from start to end")
    add_note(canvas, ["a on qa: 9 of 45 answers were cut"])
    assert told(canvas).splitlines() == [
        "n = 50 questions a cell; brackets are 95 % intervals", "a on qa: 9 of 45 answers were cut"
    ]  # fmt: skip
    canvas.draw_without_rendering()
    for panel in panels(canvas):
        label, box = panel.xaxis.label.get_window_extent(), panel.get_window_extent()
        assert box.x0 <= label.x0 and label.x1 <= box.x1


def test_a_heatmap_of_two_experiments_names_them():
    both = pd.concat([curves("a"), curves("a", experiment="other")])
    assert [ax.get_title() for ax in panels(heatmap(both, experiments=["qa", "other"]))] == ["qa: a", "other: a"]


@pytest.mark.parametrize(
    ("token_counts", "item", "expected"),
    [
        (counts(a=1430), "documents", ["5 documents, ~1,400 tokens", "9 documents, ~2,900 tokens"]),
        (None, "documents", ["5 documents", "9 documents"]),
        (counts(a=1430), "tokens", ["5 tokens", "9 tokens"]),
    ],
    ids=["counted", "not counted", "sizes in tokens"],
)
def test_the_title_of_a_panel_has_the_length_of_its_prompts_where_it_was_counted(token_counts, item, expected):
    assert titles(by_position("a", token_counts=token_counts, panel_title=f"{{size}} {item}")) == expected


def test_the_length_of_prompts_is_a_range_where_tokenizers_differ_in_two_digits():
    assert length_in_words({"a": 1430, "b": 1440}) == "~1,400 tokens"
    assert length_in_words({"a": 1430, "b": 1960}) == "~1,400 to 2,000 tokens"


def test_the_length_of_prompts_is_of_the_models_and_experiments_of_a_figure():
    counted = pd.concat([counts(a=1430, b=1960), counts(a=9000).assign(experiment="other")])
    assert mean_tokens(FIGURE, counted, 5) == {"a": 1430, "b": 1960}
    assert mean_tokens({**FIGURE, "models": ["b"]}, counted, 9) == {"b": 3920}
    assert mean_tokens(FIGURE, counted, 7) == {}


def test_a_figure_by_size_says_the_lengths_below():
    said = told(by_position("a", token_counts=counts(a=1430), kind="mean_accuracy_by_size"))
    assert said.replace("\n", " ").endswith("mean prompt: ~1,400 tokens at 5, ~2,900 tokens at 9")


def test_a_figure_with_windows_has_upright_shares_of_the_smallest_below_its_sizes_and_the_lengths_that_were_counted():
    sizes = (51, 103, 216, 433, 780)
    scores = pd.concat([score_rows({0: [1, 0], size - 1: [1, 1]}, size, prompt_tokens=150 * size) for size in sizes])
    figure = {**FIGURE, "kind": "mean_accuracy_by_size", "experiments": ["e"], "windows": {"m": 131_072, "absent": 9}}
    canvas = draw(figure, accuracy_table(scores), scores=[scores])
    labels = canvas.axes[0].get_xticklabels()
    assert [label.get_text() for label in labels] == ["51\n6%", "103\n12%", "216\n25%", "433\n50%", "780\n89%"]
    assert {label.get_rotation() for label in labels} == {0.0}
    assert canvas.axes[0].get_xlabel() == "Position\nand mean share of the window, 131,072 tokens"
    assert "mean prompt: ~7,600 tokens at 51, ~15,000 tokens at 103" in told(canvas).replace("\n", " ")


def test_the_length_of_prompts_is_of_the_models_with_values_at_a_size():
    cells, counted = curves("a", "b"), counts(a=1430, b=1960)
    cells.loc[(cells["model"] == "b") & (cells["size"] == 9), list(NOT_SCORED)] = list(NOT_SCORED.values())
    first, second = "~1,400 to 2,000 tokens", "~2,900 tokens"
    assert titles(draw(FIGURE, cells, token_counts=counted)) == [f"5 documents, {first}", f"9 documents, {second}"]
    said = told(draw({**FIGURE, "kind": "mean_accuracy_by_size"}, cells, token_counts=counted)).replace("\n", " ")
    assert said.endswith(f"mean prompt: {first} at 5, {second} at 9")
    # No length of a drawn model is known.
    assert titles(draw(FIGURE, cells, token_counts=counts(b=1960)))[1] == "9 documents, ~3,900 tokens"


def test_models_with_prompts_beyond_their_training_length_are_named_and_the_legend_has_facts_about_models():
    about = {"facts": {"b": "encoder-decoder, trained on 2,048 tokens"}, "training_lengths": {"b": 2048, "a": 9000}}
    canvas = by_position("a", "b", token_counts=counts(a=1430, b=1430), **about)
    notes = [[*filter(None, words(ax))] for ax in canvas.axes]
    assert notes == [[], ["longer than in training: b (2,048)"]]
    assert legend(canvas) == ["a", "b (encoder-decoder, trained on 2,048 tokens)"]
