"""What people read: the report's words."""

import pandas as pd

from litm.analysis.tables.position_bias import TABLE as POSITION_BIAS
from litm.base.csv_files import read_csv, write_csv
from litm.base.formatting import ordinal
from litm.report.findings import findings, overview
from litm.report.tables import shown_tables


def bias(**values) -> pd.DataFrame:
    """One row of the table of position bias."""
    row = {
        "model": "a", "experiment": "qa", "size": 10, "placement": None, "verdict": "measured", "reason": None,
        "n_complete": 50, "n_incomplete": 0, "positions": 3, "best_position": 0, "best_accuracy": 0.9,
        "worst_position": 4, "worst_accuracy": 0.5, "gap": 0.4, "cochran_p": 0.0001,
        "pbi": 0.35, "pbi_ci_low": 0.31, "pbi_ci_high": 0.39, "pbi_class": "strong", "class_certain": True,
        "class_words": "strong",
    }  # fmt: skip
    return pd.DataFrame([row | values])


def test_findings_say_which_positions_are_best_and_worst_and_whether_that_is_more_than_chance():
    assert findings(bias()) == [
        "a on qa, size 10: best with the answer in the 1st (90.0 %), worst in the 5th (50.0 %), n = 50; the positions "
        "differ by more than chance (Cochran's Q, p < 0.001). PBI 35.0 points [31.0, 39.0]: strong."
    ]
    (near,) = findings(bias(cochran_p=0.21, class_words="strong, by its interval anything from weak to strong"))
    assert "the positions are not shown to differ (Cochran's Q, p = 0.210)" in near
    assert near.endswith(": strong, by its interval anything from weak to strong.")
    (flat,) = findings(bias(gap=0.0, best_accuracy=0.5, worst_accuracy=0.5, pbi=None))
    assert flat == "a on qa, size 10: 50.0 % at each of the 3 positions (n = 50)."


def test_findings_make_up_no_bias_where_there_is_no_information():
    (floor,) = findings(bias(verdict="no_information", reason="floor"))
    assert floor == "a on qa, size 10: no information on position, floor (n = 50)."
    nothing = "no question was scored at every position"
    (too_long,) = findings(bias(verdict="no_information", reason=nothing, n_complete=0, n_incomplete=7))
    assert too_long == f"a on qa, size 10: no information on position, {nothing} (n = 0, 7 left out)."
    (no_class,) = findings(bias(pbi_class=None, class_certain=None, reason="floor at start, middle and end"))
    assert no_class.endswith("p < 0.001). Its PBI says nothing (floor at start, middle and end).")
    assert findings(None) == []


def test_the_overview_counts_what_differs_what_does_not_and_what_agrees_with_the_published():
    accuracy = pd.DataFrame({"model": ["a", "a", "b"], "experiment": ["qa"] * 3, "n": [50, 50, 48]})
    curves = [bias(), bias(model="b", cochran_p=0.5, pbi=-0.1, pbi_class="inverted"), bias(verdict="no_information")]
    published = pd.DataFrame({"verdict": ["differs", "consistent", "consistent"]})
    told = overview(accuracy, pd.concat(curves), published)
    assert told[0] == "2 models, 1 experiment, 3 cells with 148 answers counted."
    assert told[1].startswith("Positions differ by more than chance in 1 of 3 curves (Cochran's Q, p < 0.05), and are")
    assert "not shown to differ in 1; 1 say nothing on position" in told[1]
    assert told[2] == "By the Position Bias Index (edges minus middle): 1 strong, 1 inverted."
    assert "highest for a on qa, size 10 (35.0 points), and lowest for b on qa, size 10 (-10.0" in told[3]
    assert told[4] == "Beside 3 published values: 2 consistent, 1 differs."
    assert overview(accuracy, None) == told[:1]


def test_ordinals():
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"
    ]  # fmt: skip


def test_the_report_says_yes_and_no_and_leaves_what_is_missing_empty(tmp_path):
    rows = [{"pbi": 0.1234, "class_certain": True, "cochran_p": 0.0001}, {"class_certain": False}, {}]
    write_csv(tmp_path / "bias.csv", POSITION_BIAS.frame(rows))
    (table,) = shown_tables({"position_bias": read_csv(tmp_path / "bias.csv")})
    shown = [dict(zip(POSITION_BIAS.report, (text for text, _ in row), strict=True)) for row in table["rows"]]
    assert [cells["class_certain"] for cells in shown] == ["yes", "no", ""]
    assert (shown[0]["pbi"], shown[0]["cochran_p"], shown[1]["pbi"]) == ("12.3", "< 0.001", "")
