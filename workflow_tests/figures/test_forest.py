"""The forest plot of Position Bias Indexes."""

import pytest
from figure_tables import NO_INFORMATION, bias, draw_forest, points, words
from matplotlib.colors import same_color
from matplotlib.figure import Figure

from litm.analysis.pbi import pbi_class


def labels(figure: Figure) -> list[str]:
    return [tick.get_text() for tick in figure.axes[0].get_yticklabels()]


def test_a_forest_shows_each_index_with_its_interval_in_points_and_its_n_by_experiment():
    figure = draw_forest(bias("a", "kv", 0.2), bias("a", "qa", 0.05), bias("b", "kv", -0.1, n=2655))
    (panel,) = figure.axes
    assert [line.get_xdata()[0] for line in points(figure)] == pytest.approx([20, -10, 5])
    intervals = [list(line.get_xdata()) for line in panel.get_lines() if line.get_marker() == "|"]
    assert intervals == [pytest.approx(pair) for pair in ([10, 30], [-20, 0], [-5, 15])]
    assert labels(figure) == ["a", "b", "a"]
    assert [text for text in words(panel) if "kv" in text or "qa" in text] == ["kv, size 100", "qa, size 100"]
    assert [text for text in words(panel) if text.replace(",", "").isdigit()] == ["100", "2,655", "100"]
    heights = [line.get_ydata()[0] for line in points(figure)]
    assert heights == sorted(heights) and panel.yaxis_inverted()


def test_a_model_has_one_colour_and_marker_in_all_experiments_of_a_forest():
    looks = [
        (line.get_color(), line.get_marker())
        for line in points(draw_forest(bias("a", "kv", 0.2), bias("a", "qa", 0.1), bias("b", "qa", 0.1)))
    ]
    assert looks[0] == looks[1] and looks[0][0] != looks[2][0] and looks[0][1] != looks[2][1]


def test_the_bands_of_a_forest_are_the_classes_of_the_index():
    panel = draw_forest(bias("a", "kv", 0.2)).axes[0]
    spans = [(band.get_x(), band.get_x() + band.get_width()) for band in panel.patches]
    assert spans == [pytest.approx(span) for span in ((-20, -5), (-5, 5), (5, 15), (15, 30), (30, 40))]
    names = [text.get_text() for text in panel.texts if text.xy[1] == 1 and text.get_text() != "n"][: len(spans)]
    assert names == [pbi_class((left + right) / 200) for left, right in spans]


def test_a_forest_shows_all_intervals_and_nothing_beyond_100_points():
    assert draw_forest(bias("a", "kv", 0.01)).axes[0].get_xlim() == (-20, 40)
    low, high = draw_forest(bias("a", "kv", 0.5), bias("b", "kv", -0.3)).axes[0].get_xlim()
    assert -100 < low < -40 and 60 < high < 100
    assert draw_forest(bias("a", "kv", 0.0, pbi_ci_low=-1.0, pbi_ci_high=1.0)).axes[0].get_xlim() == (-100, 100)


def test_an_index_without_information_is_hollow_and_grey_with_its_reason():
    figure = draw_forest(bias("a", "kv", 0.0, **NO_INFORMATION), bias("b", "kv", 0.2))
    hollow, solid = points(figure)
    assert same_color(hollow.get_markerfacecolor(), "white") and same_color(hollow.get_color(), "0.5")
    assert same_color(solid.get_markerfacecolor(), solid.get_color()) and not same_color(solid.get_color(), "0.5")
    assert {"100   floor", "100"} < set(words(figure.axes[0]))
    assert "hollow: no information" in figure.axes[0].get_xlabel()


def test_a_curve_without_an_index_is_listed_with_its_reason_or_counted_as_left_out():
    nothing = bias("b", "kv", None, n=0, verdict="no_information", reason="no question was scored at every position")
    figure = draw_forest(bias("a", "kv", 0.2), nothing, bias("c", "kv", None, n_positions=2))
    assert labels(figure) == ["a", "b"] and len(points(figure)) == 1
    assert "0   no question was scored at every position" in words(figure.axes[0])
    assert figure.axes[0].get_xlabel().endswith("left out: 1 without a middle position")


def test_rows_of_a_forest_say_what_they_do_not_have_in_common():
    sizes = draw_forest(bias("a", "kv", 0.2, size=10), bias("a", "kv", 0.1, size=20))
    assert labels(sizes) == ["a, size 10", "a, size 20"] and "kv" in words(sizes.axes[0])
    placements = {
        "spacing": ["gold_at_0_149_299", "gold_at_0_1_2"], "one": ["gold_at_0_149_299"],
        "depth": ["gold_at_depth_0_0.5_1"], "kv": [None],
    }  # fmt: skip
    placed = draw_forest(*(bias("a", name, 0.2, placement=one) for name, some in placements.items() for one in some))
    assert labels(placed) == ["a, at 1st, 150th, 300th", "a, at 1st, 2nd, 3rd", "a", "a", "a"]
    assert [text for text in words(placed.axes[0]) if "size" in text] == [
        "spacing, size 100", "one, size 100, at 1st, 150th, 300th", "depth, size 100, at depths 0, 0.5, 1",
        "kv, size 100",
    ]  # fmt: skip


def test_a_forest_of_many_rows_has_lower_lines():
    def height(models: int) -> float:
        return draw_forest(*(bias(f"m{m}", f"e{e}", 0.1) for e in range(7) for m in range(models))).get_figheight()

    assert draw_forest(bias("a", "kv", 0.2)).get_figheight() < 3 < height(2)
    # Of six times the rows.
    assert height(12) < 3 * height(2)


@pytest.mark.parametrize(
    "rows", [[], [bias("a", "kv", None, n_positions=2)], [bias("a", "kv", None, **NO_INFORMATION)]]
)
def test_a_forest_without_any_index_says_so(rows):
    figure = draw_forest(*rows)
    assert "No curve has a Position Bias Index" in words(figure)[-1] and not figure.axes
