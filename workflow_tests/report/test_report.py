"""Wording of the report."""

import pandas as pd
import pytest

from litm.analysis.shapes import MEANINGS
from litm.base.messages import ordinal
from litm.base.table_files import write_csv
from litm.report.page_tables import shown_tables
from litm.report.phrases import findings, overview, shape
from litm.tables.table import tables

POSITION_BIAS = tables()["position_bias"]


#: Primacy and recency of the row below.
ENDS = "primacy +40.0 points [30.0, 50.0], recency +30.0 points [10.0, 40.0]"


def bias(**values) -> pd.DataFrame:
    """One row of the table of position bias."""
    row = {
        "model": "a", "experiment": "qa", "size": 10, "placement": None, "verdict": "measured", "reason": None,
        "n": 50, "n_left_out": 0, "n_positions": 3, "position_best": 0, "accuracy_best": 0.9,
        "position_worst": 4, "accuracy_worst": 0.5, "gap": 0.4, "cochran_p_value": 0.00005,
        "cochran_p_holm": 0.0001,
        "pbi": 0.35, "pbi_ci_low": 0.31, "pbi_ci_high": 0.39, "pbi_class": "strong", "class_certain": True,
        "primacy": 0.4, "primacy_ci_low": 0.3, "primacy_ci_high": 0.5, "pbi_mde": 0.12,
        "tilt": -0.1, "tilt_ci_low": -0.2, "tilt_ci_high": 0.1,
        "recency": 0.3, "recency_ci_low": 0.1, "recency_ci_high": 0.4, "gap_ci_low": 0.25, "gap_ci_high": 0.5,
        "class_words": "strong", "shape": "U",
    }  # fmt: skip
    return pd.DataFrame([row | values])


def test_findings_name_best_and_worst_positions_and_the_shape():
    best = (
        "a on qa, size 10: best with the answer in the 1st (90.0 %), worst in the 5th (50.0 %), gap 40.0 points "
        "[25.0, 50.0], n = 50"
    )
    pbi = "PBI +35.0 points [31.0, 39.0]: strong"
    assert findings(bias()) == [f"{best}. Shape: U (start and end are above the middle; {ENDS}). {pbi}."]
    (near,) = findings(bias(class_words="strong, by its interval anything from weak to strong"))
    assert near.endswith(": strong, by its interval anything from weak to strong.")
    (flat,) = findings(bias(gap=0.0, accuracy_best=0.5, accuracy_worst=0.5, pbi=None))
    assert flat == "a on qa, size 10: 50.0 % at each of the 3 positions (n = 50)."
    # Without a word, such as with two positions, Cochran's Q says whether positions differ.
    (differ, unclear) = findings(pd.concat([bias(shape=None), bias(shape=None, cochran_p_holm=0.21)]))
    assert differ == f"{best}; the positions differ by more than chance (Cochran's Q, p < 0.001 by Holm). {pbi}."
    assert "; the positions are not shown to differ (Cochran's Q, p = 0.210 by Holm). PBI" in unclear


@pytest.mark.parametrize(
    ("word", "cochran", "differ"), [("no difference shown", 0.02, 0), ("U", 0.2, 1), (None, 0.02, 1)]
)
def test_the_word_alone_says_whether_positions_differ_and_cochrans_q_only_where_there_is_none(word, cochran, differ):
    curve = bias(shape=word, cochran_p_holm=cochran)
    told = [*overview(pd.DataFrame({"model": ["a"], "experiment": ["qa"], "n": [50]}), curve)]
    assert told[1].startswith(f"Positions are shown to differ in {differ} of 1 curve,")
    assert ("more than chance" in findings(curve)[0]) == (word is None)


def test_findings_report_no_bias_without_information():
    (floor,) = findings(bias(verdict="no_information", reason="floor"))
    assert floor == "a on qa, size 10: no information on position, floor (n = 50)."
    nothing = "no question was scored at every position"
    (too_long,) = findings(bias(verdict="no_information", reason=nothing, n=0, n_left_out=7))
    assert too_long == f"a on qa, size 10: no information on position, {nothing} (n = 0, 7 left out)."
    (no_class,) = findings(bias(pbi_class=None, class_certain=None, reason="floor at start, middle and end"))
    assert no_class.endswith("n = 50. Its PBI carries no information (floor at start, middle and end).")
    (misplaced,) = findings(bias(pbi=None, pbi_class=None, reason="no position is near the middle (1st, 6th, 40th)"))
    assert misplaced.endswith("n = 50. It has no PBI: no position is near the middle (1st, 6th, 40th).")
    assert findings(None) == []


def test_the_overview_counts_curves_that_differ_and_agreements_with_published_values():
    accuracy = pd.DataFrame({"model": ["a", "a", "b"], "experiment": ["qa"] * 3, "n": [50, 50, 48]})
    inverted = bias(model="b", cochran_p_holm=0.5, pbi=-0.1, pbi_class="inverted")
    curves = [bias(), inverted, bias(verdict="no_information")]
    published = pd.DataFrame({"verdict": ["differs", "consistent", "consistent"]})
    told = [*overview(accuracy, pd.concat(curves), published)]
    assert told[0] == "2 models, 1 experiment, 3 cells with 148 answers counted."
    assert told[1] == (
        "Positions are shown to differ in 2 of 3 curves, and to be within 5 points of one another in 0; neither is "
        "shown in 0, and 1 have no information on position (floor, ceiling, or too few questions)."
    )
    assert told[2] == (
        f"U (start and end are above the middle): b on qa, size 10 ({ENDS}, n = 50); a on qa, size 10 ({ENDS}, n = 50)."
    )
    assert "highest for a on qa, size 10 (+35.0 points [31.0, 39.0], n = 50), and lowest for b on" in told[3]
    assert told[4] == "Compared with 3 published values: 2 consistent, 1 differs."
    assert [*overview(accuracy, None)] == told[:1]


@pytest.mark.parametrize("word", MEANINGS)
def test_a_shape_is_the_word_of_the_table_with_its_meaning_and_both_ends(word):
    (row,) = bias(shape=word, primacy=-0.21).to_dict("records")
    told = shape(row)
    ends = "primacy -21.0 points [30.0, 50.0], recency +30.0 points [10.0, 40.0]"
    assert told.startswith(f"{word} ({MEANINGS[word]}; {ends}")
    assert ("50 questions show a PBI from 12.0 points on" in told) == (word == "no difference shown")


def test_the_report_names_differences_that_only_a_single_interval_shows():
    (row,) = bias(shape="no difference shown", recency_ci_low=-0.1, tilt_ci_high=-0.02).to_dict("records")
    assert "tilt -10.0 points [-20.0, -2.0]; without 0 by its own 95 % interval, uncorrected: primacy, tilt;" in shape(
        row
    )
    assert "uncorrected" not in shape({**row, "primacy_ci_low": -0.1, "tilt_ci_high": 0.1})


def test_many_curves_are_counted_by_their_shapes():
    accuracy = pd.DataFrame({"model": ["a"], "experiment": ["qa"], "n": [50]})
    curves = [bias(size=size) for size in range(9)] + [bias(size=9, shape="recency alone")]
    told = [*overview(accuracy, pd.concat(curves))]
    assert told[2] == "U (start and end are above the middle): 9 of 10 curves."
    assert told[3].startswith(
        "Recency alone (the end is above the middle, the start is not shown to differ from it): a on"
    )


def test_ordinals():
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"
    ]  # fmt: skip


def test_tables_show_percents_with_their_intervals_yes_and_no_and_empty_cells_for_missing_values(tmp_path):
    row = {
        "model": "a", "experiment": "e", "size": 20, "n": 2655, "pbi": 0.1234, "class_certain": True,
        "cochran_p_value": 0.0001, "primacy": 0.1, "primacy_ci_low": -0.05, "primacy_ci_high": 0.2, "gap": 0.3,
        "gap_ci_low": 0.0, "gap_ci_high": 0.5,
    }  # fmt: skip
    write_csv(tmp_path / "bias.csv", POSITION_BIAS.frame([row, {"model": "b", "class_certain": False}, {}]))
    (table,) = shown_tables({"position_bias": POSITION_BIAS.read(tmp_path / "bias.csv")})
    whole, *others = (dict(zip(POSITION_BIAS.report, (text for text, _ in one), strict=True)) for one in table["rows"])
    assert (whole["size"], whole["n"], whole["pbi"], whole["cochran_p_value"]) == ("20", "2,655", "12.3", "< 0.001")
    assert (whole["primacy"], whole["gap"], whole["tilt"]) == ("10.0 [-5.0, 20.0]", "30.0 [0.0, 50.0]", "")
    assert [cells["class_certain"] for cells in (whole, *others)] == ["yes", "no", ""]
    assert {cells[name] for cells in others for name in ("pbi", "primacy")} == {""}
