"""Bars of several gold items in one prompt."""

import pandas as pd
import pytest
from figure_tables import NEEDLES, cell, draw, needles, table, targets
from matplotlib.container import BarContainer
from matplotlib.figure import Figure


def titles(figure: Figure) -> list[str]:
    return [panel.get_title() for panel in figure.axes]


def test_each_target_has_a_bar_with_its_interval_for_each_model_in_the_order_of_the_positions():
    reversed_rows = needles("a", (0, 149, 299), (0.9, 0.5, 0.8))[::-1]
    figure = draw(NEEDLES, targets(reversed_rows, needles("b", (0, 149, 299), (0.7, 0.0, 0.6))))
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
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]
    assert panel.get_ylim()[0] <= 0 <= 100 <= panel.get_ylim()[1]


def test_each_placement_and_size_has_a_panel_and_many_are_drawn_in_rows():
    placements = [(0, 149, 299), (0, 1, 2), (75, 149, 224), (140, 149, 158), (148, 149, 150), (297, 298, 299)]
    rows = [needles("a", placement, (0.9, 0.5, 0.8)) for placement in placements]
    figure = draw(NEEDLES, targets(*rows, needles("a", (0, 5, 9), (0.1, 0.2, 0.3), size=10)))
    assert titles(figure) == [
        "10 items",
        "300 items\n1st, 2nd, 3rd",
        "300 items\n1st, 150th, 300th",
        "300 items\n76th, 150th, 225th",
        "300 items\n141st, 150th, 159th",
        "300 items\n149th, 150th, 151st",
        "300 items\n298th, 299th, 300th",
    ]
    rows_of_panels = {panel.get_subplotspec().rowspan.start for panel in figure.axes}
    assert rows_of_panels == {0, 1} and figure.get_figwidth() < 12


def test_several_experiments_of_targets_have_distinct_panel_titles():
    shown = targets(
        needles("a", (0, 149, 299), (0.9, 0.5, 0.8)),
        needles("a", (0, 149, 299), (0.8, 0.6, 0.7), experiment="spacing"),
        needles("a", (0, 149, 299), (0.8, 0.6, 0.7), experiment="not_asked_for"),
    )
    figure = draw({**NEEDLES, "experiments": ["spacing", "needles"]}, shown)
    assert titles(figure) == ["spacing\n300 items", "needles\n300 items"]


def test_a_panel_of_targets_names_the_models_whose_context_no_question_fits():
    shown = targets(
        needles("a", (0, 149, 299), (0.9, 0.5, 0.8)),
        needles("b", (0, 149, 299), (None, None, None)),
        needles("a", (0, 999, 1999), (None, None, None), size=2000),
        needles("b", (0, 999, 1999), (None, None, None), size=2000),
    )
    figure = draw(NEEDLES, shown)
    notes = [[text.get_text() for text in panel.texts] for panel in figure.axes]
    assert notes == [["no question scored: b"], ["no question scored: a, b"]]
    nothing = draw(NEEDLES, shown[shown["n"] == 0])
    assert nothing.legends[0].get_title().get_text() == "no question was scored"


def test_reference_lines_are_drawn_over_the_bars_of_targets():
    shown = targets(needles("a", (0, 149, 299), (0.9, 0.5, 0.8))), table(cell("a", "closed_book", 0, None, 0.3))
    figure = draw({**NEEDLES, "references": {"closed_book": "closed book"}}, pd.concat(shown))
    (line,) = [line for line in figure.axes[0].get_lines() if list(line.get_xdata()) == [0, 1]]
    assert line.get_ydata()[0] == pytest.approx(30)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "a",
        "closed book 30.0 [20.0, 40.0] (n = 50)",
    ]


def test_more_models_than_colours_differ_in_the_hatching_of_their_bars():
    shown = targets(*(needles(f"m{i}", (0, 149, 299), (0.9, 0.5, 0.8)) for i in range(12)))
    patches = draw(NEEDLES, shown).legends[0].get_patches()
    assert len({(patch.get_facecolor(), patch.get_hatch()) for patch in patches}) == 12
