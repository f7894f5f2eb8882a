"""The summary at the end of a run."""

import pandas as pd
import pytest

from litm.analysis.claims.meanings import MEANINGS
from litm.analysis.run_summary import MOST_TABLES, run_summary
from litm.report.verdicts import verdicts


def cell(position: str, accuracy: float, **others: str) -> dict[str, str]:
    """A row of the accuracy table as CSV files have it."""
    return {
        "model": "m",
        "experiment": "qa",
        "task": "multi_document_qa",
        "size": "20",
        "target": "gold",
        "position": position,
        "n": "40",
        "accuracy": str(accuracy),
        "ci_low": "0.1",
        "ci_high": "0.9",
        "n_left_out": "0",
        "n_failed": "0",
        "n_not_recorded": "",
        **others,
    }


#: A row of position_bias.csv.
SHAPE = {
    "model": "m", "experiment": "qa", "size": "20", "placement": "",
    "verdict": "measured", "reason": "", "n_positions": "3", "shape": "U",
}  # fmt: skip


def summary(rows, shapes):
    return run_summary(rows, shapes, dict.fromkeys([row["experiment"] for row in rows], "documents"))


def test_a_curve_is_its_accuracies_with_intervals_by_position_and_its_shape():
    lines = list(summary([cell("0", 0.6), cell("9", 0.025), cell("19", 1)], [SHAPE]))
    assert lines == [
        "m",
        "  qa, 20 documents, n = 40",
        "    position         0         9        19",
        "    accuracy      60 %       2 %     100 %",
        "    95 %      [10, 90]  [10, 90]  [10, 90]",
        "    shape     U (start and end are above the middle)",
    ]


@pytest.mark.parametrize(
    "changes",
    [
        *({"shape": word} for word in MEANINGS),
        {"verdict": "no_information", "reason": "floor", "shape": ""},
        {"shape": "", "n_positions": "2"},
        {"shape": ""},
    ],
)
def test_the_console_says_of_a_shape_what_the_report_says(changes):
    row = {**SHAPE, **changes}
    said = list(summary([cell("0", 0.6), cell("9", 0.5)], [row]))[-1].split(maxsplit=1)[1]
    figure = {"kind": "accuracy_by_position", "experiments": ["qa"]}
    table = pd.DataFrame([{**row, "placement": None, "n_positions": int(row["n_positions"]), "n": 40}])
    table["shape"] = table["shape"].replace("", None)
    (shown,) = verdicts(figure, table, lambda experiment, size: "20 documents", {}, several=False)
    (report,) = shown["says"]
    assert said == (f"{report['word']} ({report['meaning']})" if report["word"] else report["meaning"])


def test_an_oracle_without_a_right_answer_is_commented():
    oracle = {"experiment": "oracle", "task": "oracle_qa", "size": "1"}
    assert "positions tell nothing" in list(summary([cell("0", 0.0, **oracle)], []))[-1]
    assert len(list(summary([cell("0", 0.1, **oracle)], []))) == 2


def test_an_experiment_without_positions_is_one_line():
    (_, line) = summary([cell("", 0.95, experiment="oracle", size="1")], [])
    assert line == "  oracle, n = 40: 95 % [10, 90]"


def test_sizes_without_positions_are_columns():
    lines = list(summary([cell("", 0.08, size="1"), cell("", 0.125, size="10")], []))
    assert lines == [
        "m",
        "  qa, n = 40",
        "    documents         1        10",
        "    accuracy        8 %      12 %",
        "    95 %       [10, 90]  [10, 90]",
    ]


def test_a_cell_without_an_answer_has_no_accuracy():
    lines = list(summary([cell("0", 0.6), {**cell("9", 0), "n": "0", "accuracy": "", "ci_low": "", "ci_high": ""}], []))
    assert lines[1] == "  qa, 20 documents, n = 0-40" and lines[3].split() == ["accuracy", "60", "%", "-"]


def test_questions_without_an_accuracy_are_said():
    lines = list(summary([cell("0", 0.6, n_left_out="3"), cell("9", 0.5, n_left_out="3", n_failed="2")], []))
    assert lines[-1] == "    without   3 questions that do not fit, 2 questions that failed"


def test_prompts_with_several_gold_items_have_one_line():
    rows = [cell("0", 0.5, target="a"), cell("9", 0.7, target="b")]
    assert (
        list(summary(rows, []))[1]
        == "  qa, 20 documents, n = 40: 60 % of the items; by position in tables/accuracy.csv"
    )


def test_several_gold_items_of_prompts_that_do_not_fit_have_no_accuracy():
    nothing = {"accuracy": "", "ci_low": "", "ci_high": "", "n": "0", "n_left_out": "40"}
    rows = [cell(position, 0, target=name) | nothing for position, name in (("0", "start"), ("9", "end"))]
    assert "  qa, 20 documents, n = 0: - of the items; by position in tables/accuracy.csv" in list(summary(rows, []))


def test_curves_that_are_not_printed_are_counted():
    rows = [cell("", 0.5, experiment=f"e{number}") for number in range(MOST_TABLES + 7)]
    lines = list(summary(rows, []))
    assert len(lines) == MOST_TABLES + 2 and lines[-1] == "and 7 more: tables/accuracy.csv"


def test_nothing_is_said_of_nothing():
    assert list(summary([], [])) == []
