"""Results by the first line and by the whole answer, and warnings where the conclusion changes: the rows are as the
table is read, with missing values."""

import numpy as np
import pandas as pd
import pytest
from score_frames import assert_plain, of_matrix, random_matrix, score_rows

from litm.analysis.cells import sensitivity_rows
from litm.analysis.positions import position_bias_row
from litm.analysis.statistics import paired_difference
from litm.analysis.table import tables
from litm.base.table_files import plain_rows
from litm.findings.answer_warnings import announced_findings, reading_findings

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
    table = TABLE.frame(rows)
    (told,) = reading_findings(plain_rows(table))
    assert (told.models, told.experiments, told.facts["changes"]) == (("m",), ("qa",), 1)
    expected_names = ("accuracy - closed book", 9, "gold_at_4")
    assert tuple(told.facts[name] for name in ("quantity", "size", "placement")) == expected_names
    assert told.numbers["first_line"][:2] == pytest.approx((-0.24, expected.low))
    assert told.numbers["full"].value == pytest.approx(0.14)
    assert [*reading_findings(plain_rows(table.assign(metric="exact_code")))] == []


def test_first_lines_that_end_with_a_colon_are_counted_with_a_warning():
    gold, _ = below_by_the_first_line_alone()
    rows = sensitivity(gold, None, None)
    assert (rows[0]["n_preamble"], rows[0]["n_preamble_right"], rows[0]["n_more_lines"]) == (250, 0, 1000)
    (told,) = announced_findings(plain_rows(TABLE.frame(rows)))
    assert (told.n, told.facts["count"], told.facts["right"]) == (1000, 250, 0)


def test_nothing_is_said_where_both_readings_agree():
    matrix = random_matrix([0.8, 0.5, 0.6], 90)
    scores = read(of_matrix(matrix, (0, 4, 8)), matrix.T.ravel() == 1, matrix.T.ravel() == 1)
    rows = sensitivity(scores, None, None)
    assert not any(row["changes_with_reading"] for row in rows)
    assert [*reading_findings(plain_rows(TABLE.frame(rows)))] == []
    assert [*announced_findings(plain_rows(TABLE.frame(rows)))] == []


def test_an_accuracy_leads_to_no_conclusion():
    gold, _ = below_by_the_first_line_alone()
    (row,) = sensitivity(gold, None, None)
    assert row["changes_with_reading"] is None and row["conclusion_full"] is None
    assert (row["value_first_line"], row["value_full"]) == (0.26, 0.64)
