"""Figures that show what the tables say."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import SimpleNamespace

import pandas as pd
import pytest
from conftest import ROOT
from matplotlib.colors import same_color
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from programs import run_program

from litm.analysis.pbi import pbi_class
from litm.analysis.tables.position_bias import TABLE as POSITION_BIAS
from litm.base.csv_files import write_csv
from litm.figures import kind_names, load_kind
from litm.figures.drawing.colours import COLOURS, MARKERS
from litm.figures.drawing.rows import Rows
from litm.figures.drawing.style import places_of, save_figure
from litm.scoring.accuracy import accuracy_table

FIGURE = {
    "name": "f",
    "kind": "accuracy_by_position",
    "title": "A title",
    "experiments": ["qa"],
    "references": {"closed_book": "closed book", "oracle": "oracle"},
    "panel_title": "{size} documents",
    "x_label": "Position",
}


def cell(model: str, experiment: str, size: int, position: int | None, accuracy: float, n: int = 50) -> dict:
    return {
        "model": model, "experiment": experiment, "size": size, "position": position, "n": n,
        "accuracy": accuracy, "ci_low": max(0, accuracy - 0.1), "ci_high": min(1, accuracy + 0.1),
    }  # fmt: skip


def table(*cells: dict) -> pd.DataFrame:
    return pd.DataFrame(cells).astype({"position": "Int64"})


@dataclass(frozen=True)
class Experiment:
    """What kinds of figures look at; it has two sizes."""

    name: str
    number_of_curves: int
    asks_several: bool

    @property
    def curves(self) -> range:
        return range(self.number_of_curves)

    @property
    def cells(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(size=5), SimpleNamespace(size=10)]


def draw(figure: Mapping, accuracy: pd.DataFrame, **rows: pd.DataFrame) -> Figure:
    return load_kind(figure["kind"]).draw(figure, Rows(accuracy, **rows))


def draw_forest(position_bias: pd.DataFrame) -> Figure:
    return load_kind("pbi_forest").draw({"kind": "pbi_forest"}, Rows(position_bias=position_bias))


@pytest.mark.parametrize("name", kind_names())
def test_a_kind_says_what_it_reads_and_which_experiments_fit_it(name):
    kind = load_kind(name)
    assert kind.X_LABEL and set(kind.INPUTS) <= {field.name for field in fields(Rows)}
    experiments = [Experiment("one", 2, False), Experiment("several", 2, True), Experiment("none", 0, False)]
    fitting = [one.name for one in experiments if kind.misfit([one]) is None]
    automatic = [one.name for one in experiments if kind.is_automatic(one)]
    assert (fitting, automatic) == {
        "accuracy_by_position": (["one"], ["one"]),
        "accuracy_by_size": (["none"], ["none"]),
        "accuracy_by_target": (["several"], ["several"]),
        "accuracy_by_size_and_position": (["one"], []),
        "mean_accuracy_by_size": (["one"], []),
        "condition_differences": (["one"], []),
        "accuracy_by_cost": (["none"], []),
        "accuracy_by_tokens": (["one", "none"], []),
        "pbi_forest": ([], []),
        "wrong_answers": (["one", "several", "none"], []),
    }[name]


def test_a_figure_by_position_needs_one_experiment_with_a_curve_and_a_figure_of_another_kind_all():
    both = [Experiment("one", 2, False), Experiment("none", 0, False)]
    assert load_kind("accuracy_by_position").misfit(both) is None
    assert load_kind("accuracy_by_size").misfit(both) == (
        "one has positions, a figure of 'kind: accuracy_by_size' is of experiments without"
    )


CURVES = table(
    *(cell(m, "qa", size, p, a) for m in ("a", "b") for size in (5, 10) for p, a in ((0, 0.9), (2, 0.5), (4, 0.8))),
    cell("a", "closed_book", 0, None, 0.3),
    cell("b", "closed_book", 0, None, 0.35),
)


def test_there_is_a_panel_for_each_size_with_the_curve_and_interval_of_each_model():
    panels = draw(FIGURE, CURVES).axes
    assert [panel.get_title() for panel in panels] == ["5 documents", "10 documents"]
    for panel in panels:
        bars = panel.containers
        assert len(bars) == 2
        for bar in bars:
            line, _, (intervals,) = bar.lines
            assert list(line.get_xdata()) == [0, 2, 4] and list(line.get_ydata()) == pytest.approx([90, 50, 80])
            ends = [segment[:, 1] for segment in intervals.get_segments()]
            assert [tuple(end) for end in ends] == [pytest.approx(e) for e in ((80, 100), (40, 60), (70, 90))]
        assert [label.get_text() for label in panel.get_xticklabels()] == ["1st", "3rd", "5th"]


def test_reference_lines_are_drawn_for_what_was_run():
    figure = draw(FIGURE, CURVES)
    for panel in figure.axes:
        flat = [line for line in panel.get_lines() if list(line.get_xdata()) == [0, 1]]
        assert [line.get_ydata()[0] for line in flat] == pytest.approx([30, 35])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["a", "b", "closed book (n = 50)"]
    told = figure.legends[0].get_title().get_text().splitlines()
    assert told[:2] == [
        "n = 50 questions a point; bars are 95 % intervals",
        "at the right edge: 95 % intervals of the horizontal lines",
    ]


def test_a_reference_line_has_its_interval_at_the_edge_and_that_of_one_model_its_numbers_in_the_legend():
    one = CURVES[CURVES["model"] == "a"]
    figure = draw(FIGURE, one)
    ends = [list(line.get_ydata()) for line in figure.axes[0].get_lines() if line.get_marker() == "_"]
    assert [20, 40] in [pytest.approx(pair) for pair in ends]
    assert figure.legends[0].get_texts()[1].get_text() == "closed book 30.0 [20.0, 40.0] (n = 50)"
    assert list(figure.axes[0].get_xticks()) == [0, 2, 4] and figure.axes[0].get_xlim()[1] < 5


def test_a_vertical_axis_that_does_not_begin_at_0_is_said_to():
    def told(figure: Figure) -> str:
        return figure.legends[0].get_title().get_text()

    cut = draw(FIGURE, table(*(cell("a", "qa", 5, position, 0.8) for position in (0, 4))))
    assert told(cut).endswith("\nthe vertical axis begins at 67 %, not at 0")
    whole = draw(FIGURE, table(*(cell("a", "qa", 5, position, 0.05) for position in (0, 4))))
    assert "axis" not in told(whole)
    nearly = draw(FIGURE, table(*(cell("a", "qa", 5, position, 0.134) for position in (0, 4))))
    assert 0 < nearly.axes[0].get_ylim()[0] < 0.5 and "axis" not in told(nearly)


def test_a_model_has_the_colour_of_its_place_in_the_study_in_every_figure_and_in_the_report():
    places = {"a": 0, "b": 1, "c": 2}
    figure = {**FIGURE, "places": {"b": 1}}
    (bar,) = draw(figure, table(cell("b", "qa", 5, 0, 0.5), cell("b", "qa", 5, 4, 0.5))).axes[0].containers
    needle = {**NEEDLES, "places": places}
    patch = draw(needle, targets(needles("b", (0, 149, 299), (0.9, 0.5, 0.8)))).legends[0].get_patches()[0]
    row = bias_table(bias("b", "kv", 0.2))
    dot = points(load_kind("pbi_forest").draw({"kind": "pbi_forest", "places": places}, Rows(position_bias=row)))[0]
    for colour in (bar.lines[0].get_color(), patch.get_facecolor(), dot.get_color()):
        assert same_color(colour, COLOURS[1])
    assert places_of(["x", "b", "y"], places) == {"x": 2, "b": 1, "y": 3}
    style = (ROOT / "resources" / "report" / "report.css").read_text()
    light = style.partition("@media")[0]
    assert re.findall(r"--m(\d+): (#\w+)", light) == [(str(place), one) for place, one in enumerate(COLOURS)]
    script = (ROOT / "resources" / "report" / "charts.js").read_text()
    assert f"const COLOURS = {len(COLOURS)};" in script
    assert script.partition("const MARKS = [")[2].partition("];")[0].count("M") == len(MARKERS)


def test_a_panel_in_which_nothing_fits_says_so():
    figure = draw(FIGURE, table(cell("a", "qa", 5, 0, 0.3), cell("a", "qa", 10, 0, 0.0, n=0)))
    assert [[text.get_text() for text in panel.texts] for panel in figure.axes] == [[], ["no question scored:\na"]]
    draw(FIGURE, table(cell("a", "qa", 10, 0, 0.0, n=0)))


def test_the_names_of_many_models_of_which_nothing_fits_stay_inside_their_panel():
    models = [f"a-model-with-a-long-name-{n}" for n in range(6)]
    cells = [cell(model, "qa", size, 0, 0.5, n=50 if size == 5 else 0) for model in models for size in (5, 10)]
    figure = draw(FIGURE, table(*cells))
    figure.draw_without_rendering()
    first, second = figure.axes
    (note,) = second.texts
    assert all(model in note.get_text().replace("\n", " ") for model in models)
    assert note.get_window_extent().width <= second.get_window_extent().width
    assert first.get_window_extent().width == pytest.approx(second.get_window_extent().width, rel=0.02)


BY_SIZE = {**FIGURE, "kind": "accuracy_by_size", "references": {}}


def test_a_figure_by_size_has_a_curve_for_each_model_and_one_for_the_recall_at_those_sizes():
    shown = table(*(cell(m, "qa", size, None, size / 100) for m in ("a", "b") for size in (5, 10, 50)))
    recall = pd.DataFrame(
        [
            {
                "questions": "q",
                "corpus": "c",
                "retriever": "bm25",
                "k": k,
                "n": 2655,
                "recall": 0.9,
                "ci_low": 0.8,
                "ci_high": 1.0,
            }
            for k in (1, 5, 10, 50, 100)
        ]
    )
    figure = draw({**BY_SIZE, "x_label": "Documents"}, shown, recall=recall)
    (panel,) = figure.axes
    lines = [bar.lines[0] for bar in panel.containers]
    assert [list(line.get_xdata()) for line in lines] == [[5, 10, 50]] * 3
    assert [list(line.get_ydata()) for line in lines] == [
        pytest.approx(y) for y in ([5, 10, 50], [5, 10, 50], [90] * 3)
    ]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b", "recall of bm25 (n = 2,655)"]
    twice = draw(BY_SIZE, shown, recall=pd.concat([recall, recall.assign(corpus="d")]))
    labels = [text.get_text() for text in twice.legends[0].get_texts()]
    assert labels[2:] == ["recall of bm25 in c for q (n = 2,655)", "recall of bm25 in d for q (n = 2,655)"]
    without = draw(BY_SIZE, shown)
    assert len(without.axes[0].containers) == 2 and without.axes[0].get_ylabel() == "Accuracy (%)"


def test_a_figure_by_size_in_which_nothing_fits_says_so():
    figure = draw(BY_SIZE, table(cell("a", "qa", 5, None, 0.5, n=0)))
    assert [text.get_text() for text in figure.axes[0].texts] == ["no question scored:\na"]


NEEDLES = {
    **FIGURE,
    "kind": "accuracy_by_target",
    "experiments": ["needles"],
    "references": {},
    "panel_title": "{size} items",
}


def needles(
    model: str, placement: tuple[int, ...], accuracies: tuple, n: int = 50, size: int = 300, experiment: str = "needles"
) -> list[dict]:
    """The rows of three targets; those of an accuracy of None have no question that fits."""
    rows = []
    for target, position, accuracy in zip(("start", "middle", "end"), placement, accuracies, strict=True):
        row = cell(model, experiment, size, position, accuracy or 0.0, n)
        if accuracy is None:
            row |= {"n": 0, "accuracy": pd.NA, "ci_low": pd.NA, "ci_high": pd.NA}
        rows.append({**row, "placement": f"gold_at_{'_'.join(map(str, placement))}", "target": target})
    return rows


def targets(*rows: list[dict]) -> pd.DataFrame:
    floats = dict.fromkeys(["accuracy", "ci_low", "ci_high"], "Float64")
    return table(*(row for group in rows for row in group)).astype(floats)


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


def test_several_experiments_of_targets_have_panels_that_are_told_apart():
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


def test_more_models_than_colours_are_told_apart_by_the_hatching_of_their_bars():
    shown = targets(*(needles(f"m{i}", (0, 149, 299), (0.9, 0.5, 0.8)) for i in range(12)))
    patches = draw(NEEDLES, shown).legends[0].get_patches()
    assert len({(patch.get_facecolor(), patch.get_hatch()) for patch in patches}) == 12


def bias(model: str, experiment: str, pbi: float | None, size: int = 100, **values: object) -> dict:
    """A row of position_bias.csv; the interval reaches 10 points to either side."""
    row = dict.fromkeys(POSITION_BIAS.columns) | {"model": model, "experiment": experiment, "size": size}
    row |= {"n_complete": 100, "positions": 9, "verdict": "measured", "pbi": pbi}
    if pbi is not None:
        row |= {"pbi_ci_low": pbi - 0.1, "pbi_ci_high": pbi + 0.1}
    return row | values


def bias_table(*rows: dict) -> pd.DataFrame:
    floats = dict.fromkeys(("pbi", "pbi_ci_low", "pbi_ci_high"), "Float64")
    columns = list(dict.fromkeys([*POSITION_BIAS.columns, *(rows[0] if rows else [])]))
    return pd.DataFrame(rows, columns=columns).astype(floats)


NO_INFORMATION = {"verdict": "no_information", "reason": "floor"}


def points(figure: Figure) -> list[Line2D]:
    """The markers of the indices, from the top."""
    return [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) == 1]


def intervals(figure: Figure) -> list[list[float]]:
    return [list(line.get_xdata()) for line in figure.axes[0].get_lines() if line.get_marker() == "|"]


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def labels(figure: Figure) -> list[str]:
    return [tick.get_text() for tick in figure.axes[0].get_yticklabels()]


def test_a_forest_shows_each_index_with_its_interval_in_points_and_its_n_by_experiment():
    figure = draw_forest(
        bias_table(bias("a", "kv", 0.2), bias("a", "qa", 0.05), bias("b", "kv", -0.1, n_complete=2655))
    )
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


def test_an_index_without_information_is_hollow_and_grey_beside_its_reason():
    figure = draw_forest(bias_table(bias("a", "kv", 0.0, **NO_INFORMATION), bias("b", "kv", 0.2)))
    hollow, solid = points(figure)
    assert same_color(hollow.get_markerfacecolor(), "white") and same_color(hollow.get_color(), "0.5")
    assert same_color(solid.get_markerfacecolor(), solid.get_color()) and not same_color(solid.get_color(), "0.5")
    assert "100   floor" in words(figure) and "100" in words(figure)
    assert "hollow: no information" in figure.axes[0].get_xlabel()


def test_a_curve_without_an_index_is_listed_with_its_reason_or_counted_as_left_out():
    nothing = bias(
        "b", "kv", None, n_complete=0, verdict="no_information", reason="no question was scored at every position"
    )
    figure = draw_forest(bias_table(bias("a", "kv", 0.2), nothing, bias("c", "kv", None, positions=2)))
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


@pytest.mark.parametrize("rows", [[], [bias("a", "kv", None, positions=2)], [bias("a", "kv", None, **NO_INFORMATION)]])
def test_a_forest_without_any_index_says_so(rows):
    figure = draw_forest(bias_table(*rows))
    assert "No curve has a Position Bias Index" in figure.texts[-1].get_text() and not figure.axes


FOREST = bias_table(bias("a", "kv", 0.2), bias("b", "kv", 0.0, **NO_INFORMATION))
BARS = targets(needles("a", (0, 149, 299), (0.9, 0.5, 0.8)))


@pytest.mark.parametrize("ending", ["png", "pdf"])
@pytest.mark.parametrize(
    "picture",
    [lambda: draw(FIGURE, CURVES), lambda: draw(NEEDLES, BARS), lambda: draw_forest(FOREST)],
    ids=["curve", "bars", "forest"],
)
def test_the_same_figure_has_the_same_bytes(tmp_path, ending, picture):
    for name in ("one", "two"):
        save_figure(picture(), tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()


def test_a_pdf_has_truetype_fonts_as_journals_want_them(tmp_path):
    save_figure(draw_forest(FOREST), tmp_path / "f.pdf")
    pdf = (tmp_path / "f.pdf").read_bytes()
    assert b"/CIDFontType2" in pdf and b"/Type3" not in pdf


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


def test_the_kind_of_a_figure_decides_how_accuracies_are_drawn(tmp_path):
    rows = [
        {
            "model": "a", "experiment": "needles", "task": "multi_needle", "metric": "exact_code",
            "size": 300, "items": 300, "placement": "gold_at_0_149_299", "position": position, "depth": position / 299,
            "target": target,
            "id": f"q{question}", "correct": question % 2 == 0, "correct_first_line": True, "correct_full": True,
            "correct_strict": None, "correct_lenient": None,
            "empty": False, "finish_reason": "stop", "excluded": False, "preamble": False,
        }
        for question in range(4) for target, position in (("start", 0), ("middle", 149), ("end", 299))
    ]  # fmt: skip
    accuracy, png = accuracy_table(pd.DataFrame(rows)), tmp_path / "f.png"
    write_csv(tmp_path / "accuracy.csv", accuracy, decimals=None)
    for kind in ("accuracy_by_target", "accuracy_by_position"):
        settings = {**NEEDLES, "kind": kind}
        done = run_program(
            "plot_figure", "--figure", json.dumps(settings), "--accuracy", tmp_path / "accuracy.csv",
            "--png", png, "--pdf", tmp_path / "f.pdf",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        save_figure(draw(settings, accuracy), tmp_path / "wanted.png")
        assert png.read_bytes() == (tmp_path / "wanted.png").read_bytes()


# --- Differences between conditions ---


def difference(position: int | None, value: float, **more) -> dict:
    names = {"model": "m", "experiment": "e", "size": 5, "position": position}
    sides = {f"{name}_{side}": one for name, one in names.items() for side in "ab"}
    sides["experiment_a"] = "other"
    limits = {"difference": value, "difference_ci_low": value - 0.04, "difference_ci_high": value + 0.04}
    return {"condition": "prompt", "quantity": "accuracy", "chosen_of": 1, "n": 100, **sides, **limits, **more}


DIFFERENCES = pd.DataFrame(
    [
        difference(0, 0.1),
        difference(2, -0.2),
        difference(4, 0.05),
        difference(None, 0.3, quantity="pbi"),
        difference(0, 0.1, chosen_of=3),
        difference(0, 0.5, condition="model", experiment_a="e", model_a="tuned", model_b="m"),
        difference(0, 0.7, experiment_b="third"),
    ]
)


def draw_differences_of(*experiments: str) -> Figure:
    figure = {**FIGURE, "kind": "condition_differences", "experiments": experiments}
    return load_kind("condition_differences").draw(figure, Rows(differences=DIFFERENCES))


def test_differences_of_two_experiments_are_drawn_in_points_with_intervals_and_a_line_at_0():
    canvas = draw_differences_of("other", "e")
    (panel,) = canvas.axes
    curve = next(line for line in panel.get_lines() if len(line.get_xdata()) == 3 and line.get_marker() == "o")
    assert list(curve.get_xdata()) == [0, 2, 4]
    assert list(curve.get_ydata()) == pytest.approx([10, -20, 5])
    assert any(list(line.get_ydata()) == [0, 0] for line in panel.get_lines())
    assert panel.get_ylim()[0] < -24 and panel.get_ylim()[1] > 14
    assert "other minus e\n" in canvas.legends[0].get_title().get_text()


def test_of_one_experiment_tuned_models_are_drawn_minus_their_base():
    canvas = draw_differences_of("e")
    assert [text.get_text() for text in canvas.legends[0].get_texts()] == ["tuned minus m"]


def test_a_figure_of_differences_without_any_says_so():
    canvas = draw_differences_of("fourth", "fifth")
    assert not canvas.axes and "same questions under both conditions" in canvas.texts[-1].get_text()
