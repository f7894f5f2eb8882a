"""Results by the first line and by the whole answer, and warnings where the conclusion changes."""

import numpy as np
import pandas as pd
import pytest
from score_frames import assert_plain, of_matrix, random_matrix, score_rows

from litm.analysis.cells import reading_warnings, sensitivity_rows
from litm.analysis.positions import position_bias_row
from litm.analysis.statistics import paired_difference
from litm.tables.table import tables

TABLE = tables()["reading_sensitivity"]


def read(scores: pd.DataFrame, first: np.ndarray, full: np.ndarray, **more) -> pd.DataFrame:
    """Score rows with the verdicts of both readings, in the order of the rows; the metric reads the first line."""
    flags = {"preamble": False, "more_lines": False, **more}
    return scores.assign(correct=first, correct_first_line=first, correct_full=full, **flags)


def sensitivity(*frames: pd.DataFrame | None) -> list[dict]:
    rows = list(sensitivity_rows(*frames))
    for row in rows:
        assert_plain(row)
    return rows


def test_each_quantity_is_that_of_its_own_table_under_both_readings():
    first, full = random_matrix([0.8, 0.5, 0.6], 90), random_matrix([0.6, 0.6, 0.9], 90, 1)
    positions = (0, 4, 8)
    scores = read(of_matrix(first, positions), first.T.ravel() == 1, full.T.ravel() == 1)
    rows = {row["quantity"]: row for row in sensitivity(scores, None, None) if row["quantity"] != "accuracy"}
    assert set(rows) == {"primacy", "recency", "tilt", "pbi"}
    for reading, matrix in (("first_line", first), ("full", full)):
        own = position_bias_row(of_matrix(matrix, positions))
        for name, row in rows.items():
            for part in ("", "_ci_low", "_ci_high"):
                assert row[f"value_{reading}{part}"] == pytest.approx(own[f"{name}{part}"])


def below_by_the_first_line_alone(n: int = 1000) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A middle position against closed book: 24 points lower by the first line, 14 higher by the whole answer."""
    question = np.arange(n)
    closed = question % 100 < 50
    first, full = question % 100 < 26, question % 100 < 64
    gold = read(score_rows({4: list(map(bool, first))}, experiment="qa"), first, full, more_lines=True)
    gold["preamble"] = question % 100 >= 75
    book = score_rows({None: list(map(bool, closed))}, size=2, experiment="book")
    return gold, read(book, closed, closed)


def test_a_gap_to_closed_book_whose_sign_depends_on_the_reading_is_flagged_with_a_warning():
    gold, book = below_by_the_first_line_alone()
    rows = sensitivity(gold, book, None)
    (gap,) = [row for row in rows if row["quantity"] == "accuracy - closed book"]
    expected = paired_difference(0, 240, 1000)
    assert (gap["value_first_line"], gap["value_first_line_ci_low"]) == pytest.approx((-0.24, expected.low))
    assert gap["value_full"] == pytest.approx(0.14)
    assert (gap["conclusion_first_line"], gap["conclusion_full"]) == ("below 0", "above 0")
    assert gap["changes_with_reading"]
    told = reading_warnings(TABLE.frame(rows))
    assert told[0].startswith("m on qa: a conclusion changes with how much of the answers is read")
    assert "accuracy - closed book (size 9, gold_at_4) is -24.0 points [" in told[0]
    assert "+14.0 points" in told[0]
    assert len(told) == 2 and reading_warnings(TABLE.frame(rows).assign(metric="exact_code")) == told[1:]


def test_first_lines_that_end_with_a_colon_are_counted_with_a_warning():
    gold, _ = below_by_the_first_line_alone()
    rows = sensitivity(gold, None, None)
    assert (rows[0]["n_preamble"], rows[0]["n_preamble_right"], rows[0]["n_more_lines"]) == (250, 0, 1000)
    table = TABLE.frame(rows)
    assert reading_warnings(table) == [
        "m on qa: 250 of 1,000 answers have a first line that ends with a colon; 0 of these are right"
    ]
    (graded,) = reading_warnings(table.assign(metric="token_f1", n_preamble_right=2))
    assert graded.endswith("; 2 of these are right at least in part")
    (early,) = reading_warnings(table, {("m", "qa"): "first_line"})
    assert early.endswith("`stop: end_token` records all of it")
    assert "stop" not in reading_warnings(table, {("m", "qa"): "end_token"})[0]
    # One line for a model, and none for a few answers, though they are many of the sweep's.
    both = pd.concat([table, table.assign(experiment="other"), table.assign(experiment="few", n=8, n_preamble=4)])
    (line,) = reading_warnings(both)
    assert line.startswith("m on qa, other: 500 of 2,000 answers have")


def test_nothing_is_said_where_both_readings_agree():
    matrix = random_matrix([0.8, 0.5, 0.6], 90)
    scores = read(of_matrix(matrix, (0, 4, 8)), matrix.T.ravel() == 1, matrix.T.ravel() == 1)
    rows = sensitivity(scores, None, None)
    assert not any(row["changes_with_reading"] for row in rows)
    assert reading_warnings(TABLE.frame(rows)) == []
    assert reading_warnings(None) == []


def test_an_accuracy_leads_to_no_conclusion():
    gold, _ = below_by_the_first_line_alone()
    (row,) = sensitivity(gold, None, None)
    assert row["changes_with_reading"] is None and row["conclusion_full"] is None
    assert (row["value_first_line"], row["value_full"]) == (0.26, 0.64)
