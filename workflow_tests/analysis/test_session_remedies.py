"""Remedies in a session: differences on the same questions and positions, costs, and the advice in words."""

import numpy as np
import pytest
from score_frames import assert_plain, of_matrix

from litm.analysis.grid import Files
from litm.analysis.session_remedies import session_remedies_table
from litm.analysis.statistics import moments
from litm.base.table_files import write_parquet
from litm.findings.advice_words import advice_sentences
from litm.findings.record import Strength
from litm.findings.session_remedies import session_findings
from litm.tables.table import tables

PLACES = (0, 4, 9)
REPEAT = {"experiment": "again", "compared_with": "plain", "remedy": "repeat", "setting": "repeat it"}
HALF = {"experiment": "half", "compared_with": "plain", "remedy": "compacted", "setting": "put the summary"}


def right(shares, n: int = 40) -> np.ndarray:
    return np.column_stack([np.arange(n) < round(share * n) for share in shares]).astype(int)


@pytest.fixture
def rows(tmp_path) -> list[dict]:
    sweeps = {
        "plain": of_matrix(right((0.9, 0.2, 0.4)), PLACES, size=10, prompt_tokens=100, response_tokens=5),
        "again": of_matrix(right((0.9, 0.9, 0.9)), PLACES, size=10, prompt_tokens=130, response_tokens=5),
        "half": of_matrix(right((0.2, 0.4)), PLACES[1:], size=10, prompt_tokens=60, response_tokens=5),
        "other": of_matrix(right((0.5, 0.5)), PLACES[1:], size=30),
    }
    paths = []
    for name, frame in sweeps.items():
        paths.append(str(tmp_path / f"{name}.parquet"))
        write_parquet(paths[-1], frame.assign(experiment=name))
    return session_remedies_table(Files(paths), [REPEAT, HALF], {"m": {"input": 10.0, "output": 0.0}})


def test_a_remedy_is_compared_on_the_same_questions_at_the_positions_that_both_sides_have(rows):
    again, half = rows
    assert (again["accuracy_without"], again["accuracy"]) == (pytest.approx(0.5), pytest.approx(0.9))
    contrast = moments(np.hstack([right((0.9,) * 3), right((0.9, 0.2, 0.4))]), [1 / 3] * 3 + [-1 / 3] * 3)
    assert again["ci_low"] == contrast.estimate().low and again["p_value"] == contrast.p_value
    assert (half["accuracy_without"], half["accuracy"], half["difference"]) == (
        pytest.approx(0.3),
        pytest.approx(0.3),
        0,
    )
    for row in rows:
        assert row["n"] == 40 and {*row} == {*tables()["session_remedies"].columns}
        assert_plain(row)


def test_costs_are_tokens_and_dollars_of_the_same_positions(rows):
    again, half = rows
    assert (again["tokens"], again["tokens_without"], half["tokens"]) == (135, 105, 65)
    assert again["dollars"] - again["dollars_without"] == pytest.approx(1000 * 30 * 10 / 1e6)


def test_p_values_are_corrected_over_the_remedies_of_a_model(rows):
    again, half = rows
    assert again["p_holm"] == pytest.approx(2 * again["p_value"]) and half["p_holm"] == half["p_value"] == 1


def test_the_advice_says_what_helps_first_with_what_it_costs(rows):
    (finding,) = session_findings(rows)
    first, other = advice_sentences(finding)
    assert first.startswith("m: repeat it: 50 → 90 % (+40.0 points [")
    assert first.endswith("n = 40, 10 steps); costs 30 tokens, US$ 0.30 for 1,000 questions.")
    assert other.startswith("Not shown to change anything: put the summary: 30 → 30 % (") and "saves 40 tokens" in other


def test_without_a_shown_gain_the_advice_says_so_and_what_loses(rows):
    lost = {**rows[0], "difference": -0.4, "ci_low": -0.5, "ci_high": -0.3}
    (finding,) = session_findings([lost])
    assert advice_sentences(finding)[0] == "m: no remedy is shown to help."
    assert advice_sentences(finding)[1].startswith("Shown to be worse: repeat it: 50 → 90 %")
    assert not [*session_findings([lost], stand_ins=["m"])]


def test_where_the_questions_do_not_suffice_the_advice_says_so_and_how_many_would(rows):
    half = rows[1]
    assert half["n_for_5_points"] > half["n"]
    (finding,) = session_findings([half])
    first, other = advice_sentences(finding)
    would = f"{half['n_for_5_points']:,} would show 5 points."
    assert first == f"m: the 40 questions do not suffice to tell whether a remedy helps; {would}"
    assert other.startswith("Not shown to change anything: put the summary")


def test_where_the_questions_suffice_or_nothing_is_to_be_mended_the_advice_says_that(rows):
    enough = {**rows[1], "n": 1000, "n_for_5_points": 900}
    assert advice_sentences(next(session_findings([enough])))[0] == "m: no remedy is shown to help."
    mended = {**rows[1], "accuracy_without": 1.0, "accuracy": 1.0}
    assert advice_sentences(next(session_findings([mended])))[0] == "m: all answers are right without a remedy."


def test_more_questions_with_a_smaller_spread_are_needed_by_the_formula_of_students_test(rows):
    contrast = moments(right((0.2, 0.4, 0.2, 0.4)), [0.5, 0.5, -0.5, -0.5])
    assert rows[1]["n_for_5_points"] == pytest.approx(
        (1.96 + 0.8416) ** 2 * contrast.standard_error**2 * 40 / 0.05**2, abs=4
    )


def test_a_finding_is_shown_if_any_remedy_is(rows):
    for some, strength in ((rows, Strength.SHOWN), (rows[1:], Strength.CANNOT_TELL)):
        (finding,) = session_findings(some)
        assert finding.strength is strength
