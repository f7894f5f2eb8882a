"""Bars of several gold items in one prompt."""

import pandas as pd
import pytest
from figure_tables import NEEDLES, cell, draw, legend, needles, table, targets, titles, told, words
from matplotlib.container import BarContainer


def test_each_target_has_a_bar_with_its_interval_for_each_model_in_the_order_of_the_positions():
    figure = draw(NEEDLES, targets(needles("a")[::-1], needles("b", accuracies=(0.7, 0.0, 0.6))))
    (panel,) = figure.axes
    bars = [group for group in panel.containers if isinstance(group, BarContainer)]
    heights = [[bar.get_height() for bar in sorted(group, key=lambda bar: bar.get_x())] for group in bars]
    assert heights == [pytest.approx([90, 50, 80]), pytest.approx([70, 0, 60])]
    (intervals,) = bars[1].errorbar.lines[2]
    ends = [tuple(segment[:, 1]) for segment in intervals.get_segments()]
    assert ends == [pytest.approx(pair) for pair in ((60, 80), (0, 10), (50, 70))]
    assert [tick.get_text() for tick in panel.get_xticklabels()] == ["start\n1st", "middle\n150th", "end\n300th"]
    centres = [bar.get_x() + bar.get_width() / 2 for group in bars for bar in group]
    assert sorted(map(round, centres)) == [0, 0, 1, 1, 2, 2] and len(set(centres)) == 6
    assert legend(figure) == ["a", "b"]
    assert panel.get_ylim()[0] <= 0 <= 100 <= panel.get_ylim()[1]


def test_each_placement_and_size_has_a_panel_and_many_are_drawn_in_rows():
    placements = [(0, 149, 299), (0, 1, 2), (75, 149, 224), (140, 149, 158), (148, 149, 150), (297, 298, 299)]
    rows = [needles("a", placement) for placement in placements]
    figure = draw(NEEDLES, targets(*rows, needles("a", (0, 5, 9), size=10)))
    assert titles(figure) == ["10 items"] + [
        f"300 items\n{places}"
        for places in (
            *("1st, 2nd, 3rd", "1st, 150th, 300th", "76th, 150th, 225th", "141st, 150th, 159th"),
            *("149th, 150th, 151st", "298th, 299th, 300th"),
        )
    ]
    second = [panel.get_xticklabels()[1].get_text() for panel in figure.axes[1:4]]
    assert second == ["2nd item\n2nd", "middle\n150th", "middle\n150th"]
    rows_of_panels = {panel.get_subplotspec().rowspan.start for panel in figure.axes}
    assert rows_of_panels == {0, 1} and figure.get_figwidth() < 12


def test_several_experiments_of_targets_have_distinct_panel_titles():
    shown = targets(*(needles("a", experiment=name) for name in ("needles", "spacing", "not_asked_for")))
    assert titles(draw(NEEDLES | {"experiments": ["spacing", "needles"]}, shown)) == [
        "spacing\n300 items", "needles\n300 items"
    ]  # fmt: skip


def test_a_panel_of_targets_names_the_models_whose_context_no_question_fits():
    nothing, far = (None, None, None), (0, 999, 1999)
    too_long = [needles("b", accuracies=nothing), *(needles(model, far, nothing, size=2000) for model in "ab")]
    notes = [*map(words, draw(NEEDLES, targets(needles("a"), *too_long)).axes)]
    assert notes == [["no question scored: b"], ["no question scored: a, b"]]
    assert told(draw(NEEDLES, targets(*too_long))) == "no question was scored"


def test_reference_lines_are_drawn_over_the_bars_of_targets():
    shown = pd.concat([targets(needles("a")), table(cell("a", "closed_book", 0, None, 0.3))])
    figure = draw(NEEDLES | {"references": {"closed_book": "closed book"}}, shown)
    (line,) = [line for line in figure.axes[0].get_lines() if list(line.get_xdata()) == [0, 1]]
    assert line.get_ydata()[0] == pytest.approx(30)
    assert legend(figure) == ["a", "closed book 30.0 [20.0, 40.0] (n = 50)"]


def test_more_models_than_colours_differ_in_the_hatching_of_their_bars():
    patches = draw(NEEDLES, targets(*(needles(f"m{i}") for i in range(12)))).legends[0].get_patches()
    assert len({(patch.get_facecolor(), patch.get_hatch()) for patch in patches}) == 12
