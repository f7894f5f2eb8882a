"""The forest plot of Position Bias Indexes."""

import pytest
from figure_tables import FOREST, NO_INFORMATION, bias, bias_table, draw_forest, intervals, labels, points, words
from matplotlib.colors import same_color
from programs import run_program

from litm.analysis.pbi import pbi_class
from litm.analysis.table import tables
from litm.base.formats import write_csv
from litm.figures.style import save_figure

POSITION_BIAS = tables()["position_bias"]


def test_a_forest_shows_each_index_with_its_interval_in_points_and_its_n_by_experiment():
    figure = draw_forest(bias_table(bias("a", "kv", 0.2), bias("a", "qa", 0.05), bias("b", "kv", -0.1, n=2655)))
    assert [line.get_xdata()[0] for line in points(figure)] == pytest.approx([20, -10, 5])
    assert intervals(figure) == [pytest.approx(pair) for pair in ([10, 30], [-20, 0], [-5, 15])]
    assert labels(figure) == ["a", "b", "a"]
    assert [text for text in words(figure) if "kv" in text or "qa" in text] == ["kv, size 100", "qa, size 100"]
    assert [text for text in words(figure) if text.replace(",", "").isdigit()] == ["100", "2,655", "100"]
    heights = [line.get_ydata()[0] for line in points(figure)]
    assert heights == sorted(heights) and figure.axes[0].yaxis_inverted()


def test_a_model_has_one_colour_and_marker_in_all_experiments_of_a_forest():
    first, second, other = points(
        draw_forest(bias_table(bias("a", "kv", 0.2), bias("a", "qa", 0.1), bias("b", "qa", 0.1)))
    )
    assert first.get_color() == second.get_color() != other.get_color()
    assert first.get_marker() == second.get_marker() != other.get_marker()


def test_the_bands_of_a_forest_are_the_classes_of_the_index():
    panel = draw_forest(bias_table(bias("a", "kv", 0.2))).axes[0]
    spans = [(band.get_x(), band.get_x() + band.get_width()) for band in panel.patches]
    assert spans == [pytest.approx(span) for span in ((-20, -5), (-5, 5), (5, 15), (15, 30), (30, 40))]
    names = [text.get_text() for text in panel.texts if text.xy[1] == 1 and text.get_text() != "n"][: len(spans)]
    assert names == [pbi_class((left + right) / 200) for left, right in spans]


def test_a_forest_shows_all_intervals_and_nothing_beyond_100_points():
    assert draw_forest(bias_table(bias("a", "kv", 0.01))).axes[0].get_xlim() == (-20, 40)
    low, high = draw_forest(bias_table(bias("a", "kv", 0.5), bias("b", "kv", -0.3))).axes[0].get_xlim()
    assert -100 < low < -40 and 60 < high < 100
    wide = draw_forest(bias_table(bias("a", "kv", 0.0, pbi_ci_low=-1.0, pbi_ci_high=1.0)))
    assert wide.axes[0].get_xlim() == (-100, 100)


def test_an_index_without_information_is_hollow_and_grey_with_its_reason():
    figure = draw_forest(bias_table(bias("a", "kv", 0.0, **NO_INFORMATION), bias("b", "kv", 0.2)))
    hollow, solid = points(figure)
    assert same_color(hollow.get_markerfacecolor(), "white") and same_color(hollow.get_color(), "0.5")
    assert same_color(solid.get_markerfacecolor(), solid.get_color()) and not same_color(solid.get_color(), "0.5")
    assert "100   floor" in words(figure) and "100" in words(figure)
    assert "hollow: no information" in figure.axes[0].get_xlabel()


def test_a_curve_without_an_index_is_listed_with_its_reason_or_counted_as_left_out():
    nothing = bias("b", "kv", None, n=0, verdict="no_information", reason="no question was scored at every position")
    figure = draw_forest(bias_table(bias("a", "kv", 0.2), nothing, bias("c", "kv", None, n_positions=2)))
    assert labels(figure) == ["a", "b"] and len(points(figure)) == 1
    assert "0   no question was scored at every position" in words(figure)
    assert figure.axes[0].get_xlabel().endswith("left out: 1 without a middle position")


def test_rows_of_a_forest_say_what_they_do_not_have_in_common():
    sizes = draw_forest(bias_table(bias("a", "kv", 0.2, size=10), bias("a", "kv", 0.1, size=20)))
    assert labels(sizes) == ["a, size 10", "a, size 20"] and "kv" in words(sizes)
    three, depth = {"placement": "gold_at_0_149_299"}, {"placement": "gold_at_depth_0_0.5_1"}
    placed = draw_forest(
        bias_table(
            bias("a", "spacing", 0.2, **three), bias("a", "spacing", 0.1, placement="gold_at_0_1_2"),
            bias("a", "one", 0.2, **three), bias("a", "depth", 0.2, **depth), bias("a", "kv", 0.2, placement=None),
        )
    )  # fmt: skip
    assert labels(placed) == ["a, at 1st, 150th, 300th", "a, at 1st, 2nd, 3rd", "a", "a", "a"]
    headers = [
        "spacing, size 100",
        "one, size 100, at 1st, 150th, 300th",
        "depth, size 100, at depths 0, 0.5, 1",
        "kv, size 100",
    ]
    assert [text for text in words(placed) if "size" in text] == headers


def test_a_forest_of_many_rows_has_lower_lines():
    def height(models: int) -> float:
        return draw_forest(
            bias_table(*(bias(f"m{m}", f"e{e}", 0.1) for e in range(7) for m in range(models)))
        ).get_figheight()

    assert draw_forest(bias_table(bias("a", "kv", 0.2))).get_figheight() < 3 < height(2)
    assert height(12) < 7 * 12 * height(2) / (7 * 2) / 2


@pytest.mark.parametrize(
    "rows", [[], [bias("a", "kv", None, n_positions=2)], [bias("a", "kv", None, **NO_INFORMATION)]]
)
def test_a_forest_without_any_index_says_so(rows):
    figure = draw_forest(bias_table(*rows))
    assert "No curve has a Position Bias Index" in figure.texts[-1].get_text() and not figure.axes


def test_the_forest_is_drawn_from_the_table_as_it_is_written(tmp_path):
    write_csv(tmp_path / "bias.csv", FOREST.astype(POSITION_BIAS.dtypes))
    png, pdf = tmp_path / "f.png", tmp_path / "f.pdf"
    done = run_program(
        "plot_figure", "--figure", '{"kind": "pbi_forest"}', "--position-bias", tmp_path / "bias.csv",
        "--png", png, "--pdf", pdf,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    save_figure(draw_forest(FOREST), tmp_path / "wanted.png")
    assert png.read_bytes() == (tmp_path / "wanted.png").read_bytes() and pdf.read_bytes().startswith(b"%PDF")
