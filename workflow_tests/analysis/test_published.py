"""The published numbers: their files, their own tables and figures, and their comparison with measured ones."""

import csv
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import ROOT
from figure_tables import FIGURE, NOT_SCORED, cell, draw, legend, table
from programs import load_program
from score_frames import of_matrix

from litm.analysis.comparison import COMPARED, comparison_rows, measured_cells, published_table
from litm.analysis.grid import Files, means_of_cells, position_means
from litm.analysis.paper_tables import LAYOUTS, PaperTable, latex_table, paper_table
from litm.analysis.published import (
    PublishedAccuracy,
    PublishedLength,
    PublishedModel,
    first_of_cells,
    published_lengths_table,
    read_published,
    read_published_models,
    read_published_tokens,
    read_rows,
)
from litm.analysis.statistics import unpaired_difference
from litm.base.messages import UserError
from litm.base.table_files import read_csv
from litm.figures.chart import mean_tokens
from litm.tables.table import tables

TABLE = tables()["published_comparison"]

FOLDER = ROOT / "resources" / "published"
ACCURACIES = read_published(FOLDER / "accuracy.csv")
MODELS = read_published_models(FOLDER / "models.csv")
COLUMNS = "model,experiment,size,placement,position,metric,n,accuracy,source\n"


def of_table(number: int) -> pd.DataFrame:
    """The text of a table of the paper, by model, from the published values alone."""
    if LAYOUTS[number].is_of_tokens:
        rows = pd.DataFrame([vars(one) for one in read_published_tokens(FOLDER / "token_counts.csv")])
        rows = rows[rows["source"] == f"Table {number}"]
    else:
        rows = published_table(one for one in ACCURACIES if one.source == f"Table {number}")
    return paper_table(LAYOUTS[number], rows, MODELS).text.set_index("Model")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("m,qa,20,gold_at_4,4,em,9,53.8,T", "line 2: accuracy 53.8 is not between 0 and 1; write 0.538 for 53.8 %"),
        ("m,qa,20,gold_at_4,9,em,2655,0.5,Table 6", "line 2: position 9 is not that of the placement gold_at_4"),
        ("m,qa,20,no_gold,4,em,2655,0.5,Table 6", "line 2: position 4 is not that of the placement no_gold"),
        ("m,qa,20,gold_at_4,4,em,0,0.5,Table 6", "line 2: n is 0; it is the number of questions, at least 1"),
        ("m,qa,many,gold_at_4,4,em,2655,0.5,Table 6", "line 2: size is 'many', which is not a number"),
        ("m,q,2,x,,e,9,1,T,v", "line 2: 10 fields, but the header has 9; put a text with ',' in it between quotes"),
    ],
)  # fmt: skip
def test_a_broken_line_is_named_with_what_is_wrong(tmp_path, line, message):
    path = tmp_path / "accuracy.csv"
    path.write_text(f"{COLUMNS}{line}\n")
    with pytest.raises(UserError) as error:
        read_published(path)
    assert str(error.value) == f"{path}, {message}"


def test_a_missing_column_is_named(tmp_path):
    path = tmp_path / "accuracy.csv"
    path.write_text("model,experiment\nm,qa\n")
    with pytest.raises(UserError, match="the column 'size' is missing; there are model, experiment"):
        read_published(path)


def test_names_cells_and_sources_are_those_of_the_catalogues_and_of_the_paper():
    assert {one.model for one in ACCURACIES} <= set(MODELS)
    values = [(one.model, one.experiment, one.size, one.placement, one.source, one.accuracy) for one in ACCURACIES]
    assert len(set(values)) == len(values)
    by_source = pd.Series([one.source for one in ACCURACIES]).value_counts()
    assert by_source[["Table 1", "Table 5", "Table 6", "Table 7"]].tolist() == [12, 18, 30, 35]


def test_where_sources_disagree_both_are_kept_and_marked_and_the_tables_come_first():
    cell = [one for one in ACCURACIES if (one.model, one.size, one.position) == ("gpt-3.5-turbo-0613", 20, 9)]
    assert [(one.accuracy, one.source, one.note) for one in cell] == [
        (0.538, "Table 6", "disagrees with Section 3.3 (52.9 %)"),
        (0.529, "Section 3.3", "disagrees with Table 6 (53.8 %)"),
    ]
    assert first_of_cells(cell) == cell[:1]


def test_accuracies_of_many_digits_are_whole_numbers_of_questions():
    long = [one for one in ACCURACIES if len(f"{one.accuracy:.15g}") > 8]
    assert len(long) == 34
    for one in long:
        assert one.accuracy * one.n == pytest.approx(round(one.accuracy * one.n), abs=1e-6)
    assert {one.n for one in long if one.model.startswith("llama-2") and one.size == 20} == {2635}


def test_all_collected_accuracies_of_the_papers_tables_are_there(data):
    with (FOLDER / "models.csv").open(newline="") as lines:
        names = {row["printed_as"]: row["model"] for row in csv.DictReader(lines)}
    ours = {(one.source, one.model, one.size, one.position): one.accuracy for one in ACCURACIES}
    with (data / "published_numbers.csv").open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["metric"] == "best_subspan_em"]
    rows = [row for row in rows if row["source"].startswith("paper:Table")]
    fixed = {"closedbook": (0, None), "oracle": (1, 0)}
    assert len(rows) == 95
    for row in rows:
        cell = fixed.get(row["setting"]) or (int(row["setting"]), int(row["gold_index"]))
        assert ours[row["source"].removeprefix("paper:"), names[row["model"]], *cell] == float(row["value"])


def test_tables_1_and_5_to_7_are_drawn_from_the_published_values_alone():
    assert of_table(1).loc["GPT-3.5-Turbo"].to_dict() == {"Closed-book": "56.1", "Oracle": "88.3"}
    assert list(of_table(1).index) == [
        "LongChat-13B (16K)", "MPT-30B-Instruct",
        "GPT-3.5-Turbo", "GPT-3.5-Turbo (16K)", "Claude-1.3", "Claude-1.3 (100K)",
    ]  # fmt: skip
    assert of_table(5).loc["Claude-1.3"].tolist() == ["62.9", "58.3", "59.7"]
    assert of_table(6).loc["GPT-3.5-Turbo"].tolist() == ["75.8", "57.2", "53.8", "55.4", "63.2"]
    assert of_table(7).loc["LongChat-13B (16K)"].tolist() == ["66.9", "54.8", "52.5", "52.9", "52.2", "51.3", "55.1"]
    assert list(of_table(7).columns) == [f"Index {index}" for index in (0, 4, 9, 14, 19, 24, 29)]
    assert "GPT-3.5-Turbo" not in of_table(7).index
    printed = {
        (number, model, value) for number in (1, 5, 6, 7) for model, row in of_table(number).iterrows() for value in row
    }
    in_tables = [one for one in ACCURACIES if one.source.startswith("Table")]
    expected = {(int(one.source[-1]), MODELS[one.model].printed_as, f"{100 * one.accuracy:.1f}") for one in in_tables}
    assert printed == expected


def test_tables_2_to_4_have_mean_deviation_and_maximum_of_the_tokens():
    assert of_table(2).loc["LongChat-13B (16K)"].tolist() == ["55.6 ± 2.7", "70", "219.7 ± 48.5", "588"]
    assert of_table(3).loc["MPT-30B"].tolist()[2:4] == ["2962.4 ± 158.4", "3730"]
    assert of_table(4).loc["Claude-1.3"].tolist()[4:] == ["14929.4 ± 50.7", "15048"]


def test_a_paper_table_of_measured_values_has_the_models_and_positions_that_were_run():
    qa = "multi_document_qa"
    run = [("b", qa, 10, 9, 0.5), ("b", qa, 10, 0, 0.7), ("a", qa, 10, 0, 0.6, 40), ("a", qa, 20, 0, 0.1, 40)]
    rows = table(*(cell(*one) for one in run), cell("c", qa, 10, 0, 0.0) | NOT_SCORED)
    made = paper_table(LAYOUTS[5], rows, {"a": PublishedModel("a", "", "", "A")})
    assert made.text.to_dict("list") == {"Model": ["b", "A"], "Index 0": ["70.0", "60.0"], "Index 9": ["50.0", "-"]}
    assert made.values["model"].tolist() == ["b", "a"]
    assert made.values.loc[0, ["index_0", "index_0_ci_low", "index_0_n"]].tolist() == pytest.approx([0.7, 0.6, 50])
    assert made.caption.endswith("; n = 40 to 50, 95 % intervals reach at most 10.0 points to either side")
    nothing = paper_table(LAYOUTS[5], rows[rows["n"] == 0], {})
    assert nothing.text.empty and nothing.caption.endswith("; no question was scored")


def test_latex_has_the_rules_of_booktabs_and_no_bare_special_characters():
    shown = pd.DataFrame({"Model": ["a_b", "x & {y}"], "50 % & more": ["1.0 ± 0.1", "~1\\2"]})
    text = latex_table(PaperTable("Accuracy (%)", shown, shown))
    assert r"\caption{Accuracy (\%)}" in text and r"\begin{tabular}{lr}" in text
    rows = [r"a\_b & 1.0 $\pm$ 0.1 \\", r"x \& \{y\} & \textasciitilde{}1\textbackslash{}2 \\"]
    headings = [r"\toprule", r"Model & 50 \% \& more \\", r"\midrule"]
    assert text.splitlines()[4:10] == [*headings, *rows, r"\bottomrule"]


VALUE = PublishedAccuracy("m", "qa", 20, "gold_at_4", 4, "em", 2655, 0.538, "Table 6", "a note", "v1")
SAME = {
    "metric": "em", "n": 2655, "accuracy": 0.54, "accuracy_strict": None, "weights": "hub/m", "quantization": None,
    "data_version": "v1", "prompt_format": None,
}  # fmt: skip


def compared(**changes: object) -> dict:
    """The row of a measured cell that equals `SAME` except for these fields."""
    measured = {("m", "qa", 20, "gold_at_4"): {**SAME, **changes}}
    models = {"m": PublishedModel("m", "hub/m", "chat_a")}
    (row,) = TABLE.frame(comparison_rows(measured, [VALUE], models)).to_dict("records")
    return row


def test_the_verdict_is_whether_the_interval_of_the_difference_has_zero_in_it():
    same = compared()
    assert (same["verdict"], same["reason"], same["source"], same["note"]) == ("consistent", "", "Table 6", "a note")
    assert same["difference"] == pytest.approx(0.002) and same["difference_ci_low"] < 0 < same["difference_ci_high"]
    # Recorded responses are taken for the model that they name.
    assert compared(weights=None)["verdict"] == "consistent"
    lower = compared(accuracy=0.5)
    assert lower["verdict"] == "differs" and lower["difference_ci_high"] < 0
    width = lower["difference_ci_high"] - lower["difference_ci_low"]
    assert width == pytest.approx(2 * 1.96 * np.sqrt(2 * 0.25 / 2655), rel=0.01)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"n": 500}, "other questions (n = 500 here, 2,655 published)"),
        ({"metric": "exact"}, "another metric (exact here, em published)"),
        ({"data_version": "v2"}, "other data (v2 here, v1 published)"),
        ({"data_version": None}, "other data (your own here, v1 published)"),
        ({"weights": "hub/other"}, "other weights (hub/other here, hub/m published)"),
        ({"weights": ""}, "other weights (a folder here, hub/m published)"),
        ({"quantization": "nf4"}, "quantised here (nf4)"),
        ({"prompt_format": "raw"}, "another prompt format (raw here, chat_a published)"),
        ({"n": 0, "accuracy": None}, "no question was scored here"),
    ],
)
def test_cells_of_different_things_are_not_comparable_and_have_a_reason(changes, reason):
    row = compared(accuracy=changes.pop("accuracy", 0.2), **changes)
    assert (row["verdict"], row["reason"]) == ("not comparable", reason)


def test_the_strict_score_has_a_difference_and_a_verdict_of_its_own():
    row = compared(accuracy=0.54, accuracy_strict=0.5)
    assert (row["verdict"], row["verdict_strict"]) == ("consistent", "differs")
    assert row["difference_strict"] == pytest.approx(0.5 - 0.538) and row["difference_strict_ci_high"] < 0
    assert compared(accuracy_strict=0.5, n=500)["verdict_strict"] == "not comparable"
    assert pd.isna(compared()["verdict_strict"])


def test_the_prompt_format_of_every_published_model_with_weights_is_that_of_its_entry():
    entries = yaml.safe_load((ROOT / "config" / "models.yaml").read_text())
    for name, model in MODELS.items():
        assert model.prompt_format == entries[name].get("prompt_template", ""), name


def test_nothing_in_common_is_a_table_of_headings_alone():
    nothing = TABLE.frame(comparison_rows({}, ACCURACIES, MODELS))
    assert nothing.empty and {"difference", "verdict", "reason"} <= set(nothing.columns)
    assert TABLE.markdown(nothing).startswith("| Model")


@pytest.mark.parametrize(
    ("identity", "weights", "versions", "expected"),
    [
        ({"source": {"hub": "hub/m", "commit": "0"}, "model": {"quantization": "nf4", "prompt_template": "raw"}},
         None, {"20": "v2"}, ["v2", "hub/m", "raw", "nf4"]),
        ({"source": {"files": {}}, "model": {}}, "Q4_1, read as float32", {"20": "v2"},
         ["v2", "", None, "Q4_1, read as float32"]),
        ({"source": {"recorded": []}}, None, {}, [None, None, None, None]),
    ],
    ids=["hub", "gguf", "recorded"],
)  # fmt: skip
def test_measured_cells_know_their_weights_quantisation_and_data(identity, weights, versions, expected):
    row = {"model": "m", "experiment": "qa", "size": 20, "placement": "gold_at_4", "metric": "em"}
    accuracy = pd.DataFrame([{**row, "n": 5, "accuracy": 0.4, "accuracy_strict": 0.2}])
    manifest = {"model": "m", "experiment": "qa", "identity_fields": identity}
    manifest |= {"weights": weights} if weights else {}
    (cell,) = measured_cells(accuracy, [manifest], {"qa": versions}).values()
    assert [cell[name] for name in COMPARED] == [5, "em", *expected] and cell["accuracy_strict"] == 0.2


def test_the_interval_of_a_difference_is_newcombes():
    # Newcombe (1998), table II, examples (a) and (g), method 10.
    first, second = unpaired_difference(56, 70, 48, 80), unpaired_difference(10, 10, 0, 20)
    assert (first.value, first.low, first.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    assert (second.value, second.low, second.high) == pytest.approx((1.0, 0.6791, 1.0), abs=5e-5)


def test_the_mean_over_positions_is_over_the_questions_scored_at_all_of_them():
    matrix = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]])
    scores = of_matrix(matrix, (0, 1, 2), size=3)
    incomplete = scores[(scores["id"] != "q3") | (scores["position"] != 2)]
    (mean,) = position_means(incomplete).to_dict("records")
    assert (mean["size"], mean["n"]) == (3, 3) and mean["accuracy"] == pytest.approx(matrix[:3].mean())


def test_the_mean_of_cells_has_the_widest_interval_that_they_allow():
    rows = [cell("m", "qa", 10, 0, 0.7), cell("m", "qa", 10, 9, 0.5, 40), cell("m", "closed_book_qa", 0, None, 0.3)]
    rows[1]["ci_high"] = 0.55
    (mean,) = means_of_cells(table(*rows)).to_dict("records")
    assert mean["n"] == 40
    assert [mean["accuracy"], mean["ci_low"], mean["ci_high"]] == pytest.approx([0.6, 0.5, 0.675])


QA = {**FIGURE, "experiments": ["multi_document_qa"], "references": {}, "models": None, "sizes": None}
MEASURED = table(
    *(cell("mpt-30b-instruct", "multi_document_qa", size, p, 0.5) for size in (10, 20) for p in (0, 4, 9)),
    *(cell("mine", "multi_document_qa", size, p, 0.9) for size in (10, 20) for p in (0, 4, 9)),
)
PUBLISHED = published_table(ACCURACIES)


def test_the_published_curve_of_a_model_that_was_run_is_dashed_and_in_its_colour():
    figure = draw(QA, MEASURED, published=PUBLISHED)
    panel = figure.axes[0]
    (dashed,) = [line for line in panel.get_lines() if line.is_dashed() and len(line.get_xdata()) == 3]
    assert list(dashed.get_ydata()) == pytest.approx([60.2, 56.2, 59.7])
    assert dashed.get_color() == panel.containers[0].lines[0].get_color()
    assert legend(figure) == ["mpt-30b-instruct", "mine", "published"]
    assert legend(draw(QA, MEASURED)) == ["mpt-30b-instruct", "mine"]


def test_published_values_are_drawn_in_the_range_of_a_panel_for_all_models_of_the_figure():
    is_theirs = (MEASURED["model"] == "mpt-30b-instruct") & (MEASURED["size"] == 10)
    measured = pd.concat([MEASURED[is_theirs], MEASURED[MEASURED["model"] == "mine"]])
    figure = draw(QA, measured, published=PUBLISHED)
    lines = [[line for line in panel.get_lines() if line.is_dashed()] for panel in figure.axes]
    assert [[list(line.get_xdata()) for line in of_panel] for of_panel in lines] == [[[0, 4, 9]], [[0, 4, 9]]]


def test_a_figure_shows_its_sizes_alone_and_its_axis_fits_them():
    figure = draw({**QA, "sizes": [20]}, PUBLISHED[PUBLISHED["model"] == "gpt-3.5-turbo-0613"])
    (panel,) = figure.axes
    assert panel.get_title() == "20 documents"
    assert list(panel.containers[0].lines[0].get_ydata()) == pytest.approx([75.8, 57.2, 53.8, 55.4, 63.2])
    assert panel.get_ylim()[1] < 82


def test_figure_6_is_the_mean_over_the_positions_of_each_size():
    longchat = PUBLISHED[PUBLISHED["model"] == "longchat-13b-16k"]
    (curve,) = draw({**QA, "kind": "mean_accuracy_by_size"}, longchat).axes[0].containers
    means = [sum(values) / len(values) for values in ((72.1, 58.9, 58.5), (68.6, 57.4, 55.3, 52.5, 55.0))]
    assert list(curve.lines[0].get_xdata()) == [10, 20, 30]
    assert list(curve.lines[0].get_ydata())[:2] == pytest.approx(means)


def test_equal_curves_are_drawn_side_by_side_and_long_names_fit_the_legend():
    mine = MEASURED[MEASURED["model"] == "mine"]
    equal = [mine.assign(model=f"a-model-of-a-long-name-{number}") for number in range(6)]
    figure = draw({**QA, "sizes": [10]}, pd.concat(equal))
    figure.canvas.draw()
    firsts = [bar.lines[0].get_transform().transform((0, 90))[0] for bar in figure.axes[0].containers]
    assert firsts == sorted(set(firsts)) and firsts[-1] - firsts[0] < 40
    legend = figure.legends[0].get_window_extent()
    assert legend.x0 >= 0 and legend.x1 <= figure.bbox.x1


def test_the_models_of_a_figure_without_published_values_are_named():
    models = ["mpt-30b-instruct", "flan-t5-xxl", "longchat-13b-16k", "flan-ul2"]
    figure = {**QA, "models": models, "sizes": [20]}
    assert load_program("plot_figure").without_values(PUBLISHED, figure) == ["flan-t5-xxl", "flan-ul2"]


def test_published_lengths_of_prompts_are_those_of_the_models_of_a_figure():
    counts = read_csv(FOLDER / "token_counts.csv")
    figure = {"experiments": ["kv_retrieval"], "models": ["mpt-30b-instruct", "llama-2-7b"], "sizes": None}
    assert mean_tokens(figure, counts, 140) == {"mpt-30b-instruct": 7600.9}


def test_an_edited_published_value_reruns_only_the_jobs_that_show_it(new_bench):
    bench = new_bench
    wanted = ["--", *(f"results/published/tables/table{number}.csv" for number in (2, 5))]
    bench.run(*wanted)
    assert bench.path("results/published/tables/table5.md").read_text().splitlines()[2].startswith("| Claude-1.3 ")
    assert bench.plan(*wanted) == {}
    bench.edit("resources/published/accuracy.csv", "0.629", "0.628")
    assert bench.plan(*wanted) == {"make_published_paper_table": 1}


def test_the_published_figures_and_tables_need_no_model(new_project):
    assert set(new_project.plan("--", "published")) == {
        "plot_published",
        "make_published_paper_table",
        "make_published_claims_table",
    }


def test_printed_effective_lengths_are_those_of_the_printed_scores_or_the_note_says_where_not():
    lengths = read_rows(ROOT / "resources/published/effective_length.csv", PublishedLength)
    assert Counter(length.benchmark for length in lengths) == {"RULER": 44, "NoLiMa": 12}
    for length in lengths:
        scores = [(size, float(score)) for size, score in map(str.split, length.scores)]
        below = [place for place, (_, score) in enumerate(scores) if score < length.threshold]
        reached = [size for size, _ in scores[: below[0] if below else None]]
        expected = f"<{scores[0][0]}" if not reached else f">{reached[-1]}" if len(reached) == 6 else reached[-1]
        assert (length.effective == expected) == ("is below the threshold" not in length.note), length.printed_as


def test_published_effective_lengths_are_rows_beside_those_of_a_study():
    table = tables()["published_effective_length"]
    rows = table.frame(published_lengths_table(Files([str(ROOT / "resources/published/effective_length.csv")])), True)
    assert len(rows) == 56
    (mini,) = rows[rows["model"] == "gpt-4o-mini"].to_dict("records")
    assert (mini["effective"], mini["threshold"], mini["claimed"]) == ("<1K", 0.722, "128K")
