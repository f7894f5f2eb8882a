"""Figures of accuracies by position and size, and properties of all kinds."""

import json
import re
from dataclasses import fields
from types import SimpleNamespace

import pandas as pd
import pytest
from conftest import ROOT
from figure_tables import (
    FIGURE,
    FOREST,
    NEEDLES,
    bias,
    bias_table,
    cell,
    draw,
    draw_forest,
    needles,
    points,
    table,
    targets,
)
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from programs import run_program

from litm.analysis.table import tables
from litm.base.formats import write_csv
from litm.figures.chart import Rows
from litm.figures.kinds import KINDS
from litm.figures.style import COLOURS, KIND_COLOURS, MARKERS, places_of, save_figure, without_title


def experiment(name: str, number_of_curves: int, asks_several: bool = False) -> SimpleNamespace:
    """What kinds of figures look at; it has two sizes."""
    cells = [SimpleNamespace(size=size) for size in (5, 10)]
    return SimpleNamespace(name=name, curves=range(number_of_curves), asks_several=asks_several, cells=cells)


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_declares_its_inputs_and_the_experiments_that_fit(name):
    kind = KINDS[name]
    assert kind.x_label and set(kind.inputs) <= {field.name for field in fields(Rows)}
    experiments = [experiment("one", 2), experiment("several", 2, asks_several=True), experiment("none", 0)]
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
        "log_probability_by_position": (["one"], []),
        "accuracy_by_tokens": (["one", "none"], []),
        "pbi_forest": ([], []),
        "wrong_answers": (["one", "several", "none"], []),
    }[name]


def test_a_figure_by_position_needs_one_experiment_with_a_curve_and_a_figure_of_another_kind_all():
    both = [experiment("one", 2), experiment("none", 0)]
    assert KINDS["accuracy_by_position"].misfit(both) is None
    assert KINDS["accuracy_by_size"].misfit(both) == (
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
        bars = panel.containers[:2]
        for bar in bars:
            line, _, (intervals,) = bar.lines
            assert list(line.get_xdata()) == [0, 2, 4] and list(line.get_ydata()) == pytest.approx([90, 50, 80])
            ends = [segment[:, 1] for segment in intervals.get_segments()]
            assert [tuple(end) for end in ends] == [pytest.approx(e) for e in ((80, 100), (40, 60), (70, 90))]
        assert [label.get_text() for label in panel.get_xticklabels()][:3] == ["1st", "3rd", "5th"]


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
        "at the right: 95 % intervals of the horizontal lines",
    ]


def test_a_reference_line_has_its_interval_right_of_the_positions_whose_axis_is_the_only_one():
    figure = draw(FIGURE, CURVES)
    for panel in figure.axes:
        assert [label.get_text() for label in panel.get_xticklabels()] == ["1st", "3rd", "5th"]
        columns = [bar for bar in panel.containers if bar.lines[0].get_xdata()[0] > 4.2]
        assert all(bar.lines[0].get_xdata()[0] < panel.get_xlim()[1] for bar in columns)
        ends = [bar.lines[2][0].get_segments()[0][:, 1] for bar in columns]
        assert [tuple(one) for one in ends] == [pytest.approx(pair) for pair in ((20, 40), (25, 45))]
        assert len({bar.lines[0].get_transform().transform((0, 0))[0] for bar in columns}) == 2
        assert not [text for text in panel.texts if text.get_text() == "closed book"]


def test_a_reference_line_of_one_model_has_its_name_beside_it_in_the_colour_of_the_model():
    for panel in draw(FIGURE, CURVES[CURVES["model"] == "a"]).axes:
        (name,) = [text for text in panel.texts if text.get_text() == "closed book"]
        assert name.xy[1] == pytest.approx(30) and same_color(name.get_color(), COLOURS[0])


def test_a_reference_line_of_one_model_has_its_numbers_in_the_legend():
    figure = draw(FIGURE, CURVES[CURVES["model"] == "a"])
    assert figure.legends[0].get_texts()[1].get_text() == "closed book 30.0 [20.0, 40.0] (n = 50)"


def test_a_vertical_axis_that_does_not_begin_at_0_is_said_to():
    def told(figure: Figure) -> str:
        return figure.legends[0].get_title().get_text()

    cut = draw(FIGURE, table(*(cell("a", "qa", 5, position, 0.8) for position in (0, 4))))
    assert told(cut).endswith("\nthe vertical axis begins at 67 %, not at 0")
    whole = draw(FIGURE, table(*(cell("a", "qa", 5, position, 0.05) for position in (0, 4))))
    assert "axis" not in told(whole)
    # From 5 to 25 %: to begin at 0 takes little more room.
    nearly = draw(FIGURE, table(*(cell("a", "qa", 5, position, 0.15) for position in (0, 4))))
    assert nearly.axes[0].get_ylim()[0] == -2 and "axis" not in told(nearly)


def test_a_model_has_the_colour_of_its_place_in_the_study_in_every_figure_and_in_the_report():
    places = {"a": 0, "b": 1, "c": 2}
    figure = {**FIGURE, "places": {"b": 1}}
    (bar,) = draw(figure, table(cell("b", "qa", 5, 0, 0.5), cell("b", "qa", 5, 4, 0.5))).axes[0].containers
    needle = {**NEEDLES, "places": places}
    patch = draw(needle, targets(needles("b", (0, 149, 299), (0.9, 0.5, 0.8)))).legends[0].get_patches()[0]
    row = bias_table(bias("b", "kv", 0.2))
    dot = points(KINDS["pbi_forest"].draw({"kind": "pbi_forest", "places": places}, Rows(position_bias=row)))[0]
    for colour in (bar.lines[0].get_color(), patch.get_facecolor(), dot.get_color()):
        assert same_color(colour, COLOURS[1])
    assert places_of(["x", "b", "y"], places) == {"x": 2, "b": 1, "y": 3}
    style = (ROOT / "resources" / "report" / "report.css").read_text()
    light = style.partition("@media")[0]
    assert re.findall(r"--m(\d+): (#\w+)", light) == [(str(place), one) for place, one in enumerate(COLOURS)]
    assert re.findall(r"--k(\d+): (#\w+)", light) == [(str(i), one) for i, one in enumerate(KIND_COLOURS.values())]
    script = (ROOT / "resources" / "report" / "charts.js").read_text()
    assert f"const COLOURS = {len(COLOURS)};" in script
    assert script.partition("const MARKS = [")[2].partition("];")[0].count("M") == len(MARKERS)


def test_a_panel_in_which_nothing_fits_says_so():
    figure = draw(FIGURE, table(cell("a", "qa", 5, 0, 0.3), cell("a", "qa", 10, 0, 0.0, n=0)))
    assert [[text.get_text() for text in panel.texts] for panel in figure.axes] == [[], ["no question scored:\na"]]
    draw(FIGURE, table(cell("a", "qa", 10, 0, 0.0, n=0)))


def test_the_names_of_many_models_without_a_fitting_question_stay_inside_their_panel():
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
    search = {"questions": "q", "corpus": "c", "retriever": "bm25", "n": 2655, "ci_low": 0.8, "ci_high": 1.0}
    recall = pd.DataFrame([{**search, "recall": 0.9, "k": k} for k in (1, 5, 10, 50, 100)])
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


def test_the_kind_of_a_figure_decides_how_accuracies_are_drawn(tmp_path):
    accuracy, png = tables()["accuracy"].frame(BARS.assign(n_cut=0)), tmp_path / "f.png"
    write_csv(tmp_path / "accuracy.csv", accuracy, decimals=None)
    for kind in ("accuracy_by_target", "accuracy_by_position"):
        settings = {**NEEDLES, "kind": kind}
        files = ("--png", png, "--pdf", tmp_path / "f.pdf", "--untitled", tmp_path / "untitled.png")
        given = ("--figure", json.dumps(settings), "--accuracy", tmp_path / "accuracy.csv")
        done = run_program("plot_figure", *given, *files)
        assert done.returncode == 0, done.stderr
        save_figure(draw(settings, accuracy), tmp_path / "wanted.png")
        assert png.read_bytes() == (tmp_path / "wanted.png").read_bytes()
        # The report's heading is the title, so that its picture has none.
        save_figure(without_title(draw(settings, accuracy)), tmp_path / "wanted.png")
        assert (tmp_path / "untitled.png").read_bytes() == (tmp_path / "wanted.png").read_bytes() != png.read_bytes()
