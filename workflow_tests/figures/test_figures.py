"""Figures of accuracies by position and size, and properties of all kinds."""

import json
import re
from dataclasses import fields
from math import nan
from types import SimpleNamespace

import pandas as pd
import pytest
from conftest import ROOT
from figure_tables import (
    FIGURE,
    FOREST,
    NEEDLES,
    bias,
    cell,
    draw,
    draw_forest,
    legend,
    needles,
    points,
    table,
    targets,
    titles,
    told,
    words,
)
from matplotlib.colors import same_color
from programs import run_program
from report_contents import MODELS, POSITIONS, WRONG_FIGURE, contents_with_wrong_answers

from litm.base.table_files import write_csv
from litm.figures.chart import Rows
from litm.figures.kinds import KINDS
from litm.figures.looks import COLOURS, KIND_COLOURS, MARKERS, places_of
from litm.figures.style import add_note, save_figure, without_title
from litm.report.charts import MARK_PATHS
from litm.tables.table import tables


def experiment(name: str, number_of_curves: int, asks_several: bool = False) -> SimpleNamespace:
    """What kinds of figures look at; it has two sizes."""
    cells = [SimpleNamespace(size=size) for size in (5, 10)]
    several = {"asks_several": asks_several, "has_facts": asks_several}
    return SimpleNamespace(name=name, curves=range(number_of_curves), cells=cells, **several)


ONE, SEVERAL, NONE = experiment("one", 2), experiment("several", 2, asks_several=True), experiment("none", 0)


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_declares_its_inputs_and_the_experiments_that_fit(name):
    kind = KINDS[name]
    assert kind.x_label and set(kind.inputs) <= {field.name for field in fields(Rows)}
    fitting = [one.name for one in (ONE, SEVERAL, NONE) if kind.misfit([one]) is None]
    automatic = [one.name for one in (ONE, SEVERAL, NONE) if kind.is_automatic(one)]
    assert (fitting, automatic) == {
        "accuracy_by_position": (["one"], ["one"]),
        "accuracy_by_size": (["none"], ["none"]),
        "accuracy_of_not_known": (["one"], []),
        "accuracy_by_target": (["several"], ["several"]),
        "accuracy_by_size_and_position": (["one"], []),
        "mean_accuracy_by_size": (["one"], []),
        "condition_differences": (["one"], []),
        "accuracy_by_cost": (["none"], []),
        "log_probability_by_position": (["one"], []),
        "accuracy_by_tokens": (["one", "none"], []),
        "pbi_forest": ([], []),
        "two_facts": (["several"], []),
        "wrong_answers": (["one", "several", "none"], []),
    }[name]


def test_a_figure_by_position_needs_one_experiment_with_a_curve_and_a_figure_of_another_kind_all():
    assert KINDS["accuracy_by_position"].misfit([ONE, NONE]) is None
    assert KINDS["accuracy_by_size"].misfit([ONE, NONE]) == (
        "one has positions, a figure of 'kind: accuracy_by_size' is of experiments without"
    )


CURVES = table(
    *(cell(m, "qa", size, p, a) for m in ("a", "b") for size in (5, 10) for p, a in ((0, 0.9), (2, 0.5), (4, 0.8))),
    cell("a", "closed_book", 0, None, 0.3),
    cell("b", "closed_book", 0, None, 0.35),
)
OF_ONE_MODEL = CURVES[CURVES["model"] == "a"]


def ends(bar) -> list:
    """Both ends of the intervals of points."""
    return [pytest.approx(tuple(segment[:, 1])) for segment in bar.lines[2][0].get_segments()]


def test_there_is_a_panel_for_each_size_with_the_curve_and_interval_of_each_model():
    figure = draw(FIGURE, CURVES)
    assert titles(figure) == ["5 documents", "10 documents"]
    for panel in figure.axes:
        for bar in panel.containers[:2]:
            line = bar.lines[0]
            assert list(line.get_xdata()) == [0, 2, 4] and list(line.get_ydata()) == pytest.approx([90, 50, 80])
            assert ends(bar) == [(80, 100), (40, 60), (70, 90)]


def test_reference_lines_are_drawn_for_what_was_run_with_intervals_right_of_the_positions():
    figure = draw(FIGURE, CURVES)
    for panel in figure.axes:
        flat = [line for line in panel.get_lines() if list(line.get_xdata()) == [0, 1]]
        assert [line.get_ydata()[0] for line in flat] == pytest.approx([30, 35])
        assert [label.get_text() for label in panel.get_xticklabels()] == ["1st", "3rd", "5th"]
        columns = [bar for bar in panel.containers if bar.lines[0].get_xdata()[0] > 4.2]
        assert all(bar.lines[0].get_xdata()[0] < panel.get_xlim()[1] for bar in columns)
        assert [ends(bar) for bar in columns] == [[(20, 40)], [(25, 45)]]
        assert len({bar.lines[0].get_transform().transform((0, 0))[0] for bar in columns}) == 2
        assert "closed book" not in words(panel)
    assert legend(figure) == ["a", "b", "closed book (n = 50)"]
    assert told(figure).splitlines()[:2] == [
        "n = 50 questions a point; bars are 95 % intervals",
        "at the right: 95 % intervals of the horizontal lines",
    ]


def test_a_reference_line_of_one_model_has_its_name_beside_it_in_its_colour_and_its_numbers_in_the_legend():
    figure = draw(FIGURE, OF_ONE_MODEL)
    for panel in figure.axes:
        (name,) = [text for text in panel.texts if text.get_text() == "closed book"]
        assert name.xy[1] == pytest.approx(30) and same_color(name.get_color(), COLOURS[0])
    assert legend(figure)[1] == "closed book 30.0 [20.0, 40.0] (n = 50)"


@pytest.mark.parametrize(("n", "said"), [(50, False), (2655, True)])
def test_published_values_of_other_questions_are_said_to_be(n, said):
    figure = draw(FIGURE, CURVES, published=OF_ONE_MODEL.assign(n=n))
    assert legend(figure)[-1] == "published"
    assert ("\npublished: n = 2,655, other questions\n" in told(figure)) == said


def test_a_vertical_axis_that_does_not_begin_at_0_is_said_to():
    cut, whole, nearly = (
        draw(FIGURE, table(*(cell("a", "qa", 5, position, value) for position in (0, 4))))
        for value in (0.8, 0.05, 0.15)
    )
    assert told(cut).endswith("\nthe vertical axis begins at 67 %, not at 0") and "axis" not in told(whole)
    # From 5 to 25 %: to begin at 0 takes little more room.
    assert nearly.axes[0].get_ylim()[0] == -2 and "axis" not in told(nearly)


def test_a_model_has_the_colour_and_mark_of_its_place_in_the_study_in_every_figure_and_in_the_report():
    places = {"a": 0, "b": 1, "c": 2}
    (bar,) = draw(FIGURE | {"places": {"b": 1}}, CURVES[CURVES["model"] == "b"].iloc[:2]).axes[0].containers
    bars = draw(NEEDLES | {"places": places}, targets(needles("b")))
    dot = points(draw_forest(bias("b", "kv", 0.2), places=places))[0]
    heat = draw(FIGURE | {"kind": "accuracy_by_size_and_position", "places": places}, CURVES[CURVES["model"] == "b"])
    of_title, on_bars = heat.axes[0].get_lines()[-1], bars.axes[0].get_lines()[-1]
    assert same_color(bars.legends[0].get_patches()[0].get_facecolor(), COLOURS[1])
    for line in (bar.lines[0], dot, of_title, on_bars):
        assert same_color(line.get_color(), COLOURS[1]) and line.get_marker() == MARKERS[1]
    assert places_of(["x", "b", "y"], places) == {"x": 2, "b": 1, "y": 3}
    style, script = ((ROOT / "resources" / "report" / name).read_text() for name in ("report.css", "charts.js"))
    for letter, colours in (("m", COLOURS), ("k", KIND_COLOURS.values())):
        found = re.findall(rf"--{letter}(\d+): (#\w+)", style.partition("@media")[0])
        assert found == [(str(place), one) for place, one in enumerate(colours)]
    assert f"const COLOURS = {len(COLOURS)};" in script
    paths = re.findall(r'"(M[^"]+)"', script.partition("const MARKS = [")[2].partition("];")[0])
    assert tuple(paths) == MARK_PATHS and len(paths) == len(MARKERS)


BY_SIZE = {**FIGURE, "kind": "accuracy_by_size", "references": {}}


def test_a_panel_in_which_nothing_fits_says_so():
    nothing = cell("a", "qa", 10, 0, 0.0, n=0)
    figure = draw(FIGURE, table(cell("a", "qa", 5, 0, 0.3), nothing))
    assert [*map(words, figure.axes)] == [[], ["no question scored: a"]]
    for settings in (FIGURE, BY_SIZE):
        assert words(draw(settings, table(nothing)).axes[0]) == ["no question scored: a"]
    some = draw(BY_SIZE, table(nothing, cell("a", "qa", 5, 0, 0.3), cell("b", "qa", 10, 0, 0.3)))
    assert words(some.axes[0]) == ["no question scored: a (at 10)"]


def test_no_line_crosses_a_position_of_the_experiment_without_a_scored_question():
    cells = [cell(m, "qa", 5, p, 0.5, n=0 if (m, p) == ("a", 2) else 50) for m in "ab" for p in (0, 2, 4)]
    # Another experiment has fewer positions, which is no gap.
    cells += [cell("a", "other", 5, position, 0.5) for position in (0, 4)]
    (panel,) = draw({**FIGURE, "experiments": ["qa", "other"]}, table(*cells)).axes
    curves = [bar.lines[0].get_xydata()[:, 1] for bar in panel.containers]
    assert curves == [pytest.approx(one, nan_ok=True) for one in ([50, nan, 50], [50, 50, 50], [50, 50])]


def test_the_names_of_many_models_without_a_fitting_question_stay_inside_their_panel():
    models = [f"a-model-with-a-very-very-long-name-{n}" for n in range(4)]
    cells = [cell(model, "qa", size, 0, 0.5, n=50 if size == 5 else 0) for model in models for size in (5, 10)]
    figure = draw(FIGURE, table(*cells))
    figure.draw_without_rendering()
    first, second = figure.axes
    (note,) = second.texts
    assert all(model in note.get_text().replace("\n", " ") for model in models)
    box, panel = note.get_window_extent(), second.get_window_extent()
    assert box.width <= panel.width and box.y0 >= panel.y1
    assert first.get_window_extent().width == pytest.approx(second.get_window_extent().width, rel=0.02)


def test_a_figure_by_size_has_a_curve_for_each_model_and_one_for_the_recall_at_those_sizes():
    shown = table(*(cell(m, "qa", size, None, size / 100) for m in ("a", "b") for size in (5, 10, 50)))
    search = {"questions": "q", "corpus": "c", "retriever": "bm25", "n": 2655, "ci_low": 0.8, "ci_high": 1.0}
    recall = pd.DataFrame([{**search, "recall": 0.9, "k": k} for k in (1, 5, 10, 50, 100)])
    figure = draw(BY_SIZE, shown, recall=recall)
    lines = [bar.lines[0] for bar in figure.axes[0].containers]
    assert [list(line.get_xdata()) for line in lines] == [[5, 10, 50]] * 3
    assert [line.get_ydata().tolist() for line in lines] == [
        pytest.approx(y) for y in ([5, 10, 50], [5, 10, 50], [90] * 3)
    ]
    assert legend(figure) == ["a", "b", "recall of bm25 (n = 2,655)"]
    twice = draw(BY_SIZE, shown, recall=pd.concat([recall, recall.assign(corpus="d")]))
    assert legend(twice)[2:] == [f"recall of bm25 in {corpus} for q (n = 2,655)" for corpus in "cd"]
    (without,) = draw(BY_SIZE, shown).axes
    assert len(without.containers) == 2 and without.get_ylabel() == "Accuracy (%)"


def test_bars_of_wrong_answers_stand_at_the_same_places_for_every_model():
    rows = contents_with_wrong_answers().tables["wrong_answers"]
    lacking = rows[(rows["model"] != MODELS[0]) | (rows["position"] != POSITIONS[0])]
    first, second = draw(WRONG_FIGURE, wrong_answers=lacking).axes
    assert first.get_xlim() == pytest.approx(second.get_xlim())
    ticks = [[label.get_text() for label in ax.get_xticklabels()] for ax in (first, second)]
    assert ticks == [["1st", "4th", "6th"]] * 2
    segments = first.containers[-1].lines[2][0].get_segments()
    assert [segment[0, 0] for segment in segments] == [1, 2]


BARS = targets(needles("a"))


@pytest.mark.parametrize("ending", ["png", "pdf"])
@pytest.mark.parametrize(
    "picture",
    [lambda: draw(FIGURE, CURVES), lambda: draw(NEEDLES, BARS), lambda: draw_forest(*FOREST)],
    ids=["curve", "bars", "forest"],
)
def test_the_same_figure_has_the_same_bytes(tmp_path, ending, picture):
    for name in ("one", "two"):
        save_figure(picture(), tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()


def test_a_pdf_has_truetype_fonts_as_journals_want_them(tmp_path):
    save_figure(draw_forest(*FOREST), tmp_path / "f.pdf")
    pdf = (tmp_path / "f.pdf").read_bytes()
    assert b"/CIDFontType2" in pdf and b"/Type3" not in pdf


@pytest.mark.parametrize(
    ("kind", "recorded", "cut"),
    [("accuracy_by_target", [], " at 30 tokens"), ("accuracy_by_tokens", ["a"], ""), ("pbi_forest", [], None)],
)
def test_a_figure_is_drawn_from_its_table_as_it_is_written_and_as_its_kind_decides(tmp_path, kind, recorded, cut):
    name, rows = ("position_bias", FOREST) if kind == "pbi_forest" else ("accuracy", BARS.assign(n_cut=5, n_refused=5))
    shown, settings = tables()[name].frame(rows), {**NEEDLES, "kind": kind}
    settings |= {"limits": {"needles": 30}, "recorded": recorded}

    def wanted():
        picture = draw(settings, **{name: shown})
        # The limit of recorded answers is not known.
        told = [
            f"a on needles has answers cut at the limit of new tokens (5 of 50{cut}): accuracy is a lower bound",
            "a on needles has many answers refused or withheld by the provider (5 of 50): they are scored as received",
        ]
        add_note(picture, [] if cut is None else told)
        return picture

    write_csv(tmp_path / f"{name}.csv", shown, decimals=None)
    files = [tmp_path / one for one in ("f.png", "f.pdf", "untitled.png")]
    option = "--accuracy" if name == "accuracy" else "--tables"
    given = ["--figure", json.dumps(settings), option, tmp_path / f"{name}.csv"]
    given += [word for pair in zip(("--png", "--pdf", "--untitled"), files, strict=True) for word in pair]
    done = run_program("plot_figure", *given)
    assert done.returncode == 0, done.stderr
    png, pdf, untitled = (file.read_bytes() for file in files)
    save_figure(wanted(), tmp_path / "wanted.png")
    assert png == (tmp_path / "wanted.png").read_bytes() and pdf.startswith(b"%PDF")
    # The report's heading is the title, so that its picture has none. Tokens of these answers are not known.
    save_figure(without_title(wanted()), tmp_path / "wanted.png")
    assert untitled == (b"" if kind == "accuracy_by_tokens" else (tmp_path / "wanted.png").read_bytes()) != png
