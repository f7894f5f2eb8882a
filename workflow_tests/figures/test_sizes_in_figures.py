"""Heatmaps of sizes and positions, lengths of prompts in titles, and facts about models in legends."""

import pandas as pd
import pytest
from figure_tables import FIGURE, NOT_SCORED, cell, draw, table
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from litm.figures.chart import length_in_words, mean_tokens
from litm.figures.style import add_note


def curves(*models: str, experiment: str = "qa") -> pd.DataFrame:
    cells = [
        cell(model, experiment, size, position, accuracy)
        for model in models
        for size, positions in ((5, (0, 2, 4)), (9, (0, 4, 8)))
        for position, accuracy in zip(positions, (0.9, 0.4, 0.15), strict=True)
    ]
    return table(*cells)


def counts(**means: float) -> pd.DataFrame:
    """Tokens of 5 documents by model; 9 documents have twice as many."""
    placed = {"experiment": "qa", "placement": "gold_at_0", "n": 40}
    rows = [
        {"model": model, "size": size, "tokens_mean": mean * times, **placed}
        for model, mean in means.items()
        for size, times in ((5, 1), (9, 2))
    ]
    return pd.DataFrame(rows)


def by_position(*models: str, **rows_and_settings) -> Figure:
    rows = {"token_counts": rows_and_settings.pop("token_counts", None)}
    return draw({**FIGURE, **rows_and_settings}, curves(*models), **rows)


def heatmap(accuracy: pd.DataFrame, token_counts: pd.DataFrame | None = None, **figure: object) -> Figure:
    settings = {**FIGURE, "kind": "accuracy_by_size_and_position", **figure}
    return draw(settings, accuracy, token_counts=token_counts)


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
    texts = [text.get_text() for text in first.texts]
    assert texts[:6] == ["90", "[80, 100]", "1st, n = 50", "40", "[30, 50]", "3rd, n = 50"]
    assert [label.get_text() for label in first.get_xticklabels()] == ["0 %", "50 %", "100 %"]


def test_the_numbers_of_a_cell_are_dark_on_light_cells_and_light_on_dark_ones():
    (panel,) = panels(heatmap(curves("a")))
    ink = {text.get_text(): text.get_color() for text in panel.texts}
    assert (ink["90"], ink["15"]) == ("black", "white")


def test_rows_of_other_positions_have_cells_of_their_own_width_and_no_depths_at_the_axis():
    cells = [cell("a", "qa", size, position, 0.5) for size, position in ((5, 0), (5, 4), (9, 0), (9, 4), (9, 8))]
    (panel,) = panels(heatmap(table(*cells)))
    widths = [patch.get_width() for patch in panel.patches if isinstance(patch, Rectangle)]
    assert widths == pytest.approx([1 / 2] * 2 + [1 / 3] * 3)
    assert not panel.get_xticklabels()


def test_a_size_without_scores_has_a_note_and_so_has_a_heatmap_without_scores():
    nothing = [cell("a", "qa", 9, position, 0.0) | NOT_SCORED for position in (0, 8)]
    scored = [cell("a", "qa", 5, position, 0.5) for position in (0, 4)]
    (panel,) = panels(heatmap(table(*scored, *nothing)))
    assert "no question scored" in [text.get_text() for text in panel.texts]
    empty = heatmap(table(*nothing))
    assert not empty.axes and empty.texts[-1].get_text() == "No question was scored."


def test_a_heatmap_has_room_for_what_is_said_below_it():
    canvas = heatmap(curves("a", "b"))
    add_note(canvas, ["a on qa: 9 of 45 answers were cut"])
    told = canvas.legends[0].get_title().get_text().splitlines()
    assert told == ["n = 50 questions a cell; brackets are 95 % intervals", "a on qa: 9 of 45 answers were cut"]


def test_the_label_of_an_axis_stays_in_its_panel():
    canvas = heatmap(curves("a", "b"), x_label="Position of the item with the answer, from start to end")
    canvas.canvas.draw()
    for panel in panels(canvas):
        label, box = panel.xaxis.label.get_window_extent(), panel.get_window_extent()
        assert box.x0 <= label.x0 and label.x1 <= box.x1


def test_a_heatmap_of_two_experiments_names_them():
    both = pd.concat([curves("a"), curves("a", experiment="other")])
    canvas = heatmap(both, experiments=["qa", "other"])
    assert [panel.get_title() for panel in panels(canvas)] == ["qa: a", "other: a"]


@pytest.mark.parametrize(
    ("token_counts", "title", "titles"),
    [
        (counts(a=1430), "{size} documents", ["5 documents, ~1,400 tokens", "9 documents, ~2,900 tokens"]),
        (None, "{size} documents", ["5 documents", "9 documents"]),
        (counts(a=1430), "{size} tokens", ["5 tokens", "9 tokens"]),
    ],
    ids=["counted", "not counted", "sizes in tokens"],
)
def test_the_title_of_a_panel_has_the_length_of_its_prompts_where_it_was_counted(token_counts, title, titles):
    drawn = by_position("a", token_counts=token_counts, panel_title=title)
    assert [ax.get_title() for ax in drawn.axes] == titles


def test_the_length_of_prompts_is_a_range_where_tokenizers_differ_in_two_digits():
    assert length_in_words({"a": 1430, "b": 1440}) == "~1,400 tokens"
    assert length_in_words({"a": 1430, "b": 1960}) == "~1,400 to 2,000 tokens"
    assert length_in_words({}) == ""


def test_the_length_of_prompts_is_of_the_models_and_experiments_of_a_figure():
    others = counts(a=9000).assign(experiment="other")
    counted = pd.concat([counts(a=1430, b=1960), others])
    assert mean_tokens(FIGURE, counted, 5) == {"a": 1430, "b": 1960}
    assert mean_tokens({**FIGURE, "models": ["b"]}, counted, 9) == {"b": 3920}
    assert mean_tokens(FIGURE, counted, 7) == mean_tokens(FIGURE, None, 5) == {}


def test_a_figure_by_size_says_the_lengths_below():
    drawn = by_position("a", token_counts=counts(a=1430), kind="mean_accuracy_by_size")
    told = drawn.legends[0].get_title().get_text()
    assert told.replace("\n", " ").endswith("mean prompt: ~1,400 tokens at 5, ~2,900 tokens at 9")


def test_models_with_prompts_beyond_their_training_length_are_named_and_the_legend_has_facts_about_models():
    about = {"facts": {"b": "encoder-decoder, trained on 2,048 tokens"}, "training_lengths": {"b": 2048, "a": 9000}}
    canvas = by_position("a", "b", token_counts=counts(a=1430, b=1430), **about)
    notes = [[text.get_text() for text in ax.texts if text.get_text()] for ax in canvas.axes]
    assert notes == [[], ["longer than in training: b (2,048)"]]
    labels = [text.get_text() for text in canvas.legends[0].get_texts()]
    assert labels == ["a", "b (encoder-decoder, trained on 2,048 tokens)"]
