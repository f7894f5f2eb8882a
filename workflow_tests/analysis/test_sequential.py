"""Verdicts that may be looked at again and again: their errors, what they cost, and what the outcome is."""

import numpy as np
import pandas as pd
import pytest
from score_frames import assert_plain, of_matrix

from litm.analysis.regression import NOT_COMPARED, NOT_WORSE, OPEN, WORSE
from litm.analysis.sequential import (
    FRACTIONS,
    SHARES,
    UNINFORMATIVE,
    confidence_sequence,
    gains,
    looks,
    p_of_at_most,
    sequential_outcome,
    sequential_rows,
)
from litm.figures.curves import verdict_chart
from litm.tables.table import tables

POSITIONS = (0, 4, 9)
ALWAYS, NEVER = 1.0, 0.0


def answers(n: int, *accuracies: float) -> np.ndarray:
    """(questions, positions): in every ten questions the same share is right."""
    return np.array([[question % 10 < round(10 * accuracy) for accuracy in accuracies] for question in range(n)], float)


def judged(a: np.ndarray, b: np.ndarray, margin: float) -> list:
    sides = [of_matrix(matrix, POSITIONS, size=10, model=side) for matrix, side in ((a, "a"), (b, "b"))]
    return sequential_rows(pd.concat(sides), margin)


@pytest.mark.parametrize(("margin", "n"), [(0.15, 21), (0.10, 33), (0.05, 67)])
def test_equal_answers_are_not_worse_after_so_many_questions_and_not_before(margin, n):
    assert p_of_at_most(np.zeros(n), -margin) < 0.05 <= p_of_at_most(np.zeros(n - 1), -margin)


def test_the_bet_is_fair_where_the_mean_is_the_bound_and_loses_below_it():
    for lost, won in ((0.1, 0.0), (0.3, 0.2), (0.55, 0.45)):
        expected = [
            chance * np.exp(gains(np.array([value]), -0.1)[0])
            for value, chance in ((-1.0, lost), (0.0, 1 - lost - won), (1.0, won))
        ]
        assert sum(expected) == pytest.approx(1.0)
    assert np.exp(gains(np.array([-1.0]), -0.1)[0]) == pytest.approx(((1 - FRACTIONS) * SHARES).sum())


@pytest.mark.parametrize(("lost", "won"), [(0.1, 0.0), (0.15, 0.05), (0.4, 0.3)])
def test_looking_after_every_question_shows_a_wrong_verdict_in_at_most_five_per_cent(lost, won):
    rng, studies = np.random.default_rng(1), 1500
    level = rng.random((studies, 200))
    differences = (level < won).astype(float) - (level > 1 - lost)
    for drawn, bound in ((differences, -0.1), (-differences, 0.1)):
        wrong = np.mean([p_of_at_most(row, bound) < 0.05 for row in drawn])
        assert wrong <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / studies)


def test_a_verdict_once_shown_stays_shown():
    won_then_lost = np.concatenate([np.zeros(40), -np.ones(40)])
    assert p_of_at_most(won_then_lost, -0.1) == p_of_at_most(won_then_lost[:40], -0.1) < 0.05


def test_limits_hold_the_mean_and_are_those_that_no_test_refutes():
    rng = np.random.default_rng(0)
    differences = rng.choice([-1.0, 0.0, 1.0], 80, p=[0.3, 0.6, 0.1])
    estimate = confidence_sequence(differences)
    assert estimate.low < estimate.value == differences.mean() < estimate.high
    assert p_of_at_most(differences, estimate.low) == pytest.approx(0.025, rel=1e-3)
    assert p_of_at_most(-differences, -estimate.high) == pytest.approx(0.025, rel=1e-3)
    assert confidence_sequence(np.zeros(1)).high > 0.95


def test_a_loss_in_the_middle_is_worse_there_alone():
    reference = answers(70, 0.6, 0.6, 0.6)
    rows = judged(answers(70, 0.6, 0.1, 0.6), reference, 0.1)
    assert [row["verdict"] for row in rows] == [NOT_WORSE, WORSE, NOT_WORSE]
    assert rows[1]["difference"] == -0.5
    assert sequential_outcome(rows) == WORSE
    assert_plain(tables()["regression"].frame(rows).to_dict("records")[0])


def test_few_questions_tell_nothing():
    rows = judged(answers(20, 0.6, 0.6, 0.6), answers(20, 0.6, 0.6, 0.6), 0.1)
    assert {row["verdict"] for row in rows} == {OPEN}
    assert sequential_outcome(rows) == OPEN


def test_a_reference_at_the_floor_or_at_the_ceiling_cannot_pass_but_can_be_worse():
    reference = answers(70, ALWAYS, 0.6, NEVER)
    same = judged(reference, reference, 0.1)
    assert [row["verdict"] for row in same] == [UNINFORMATIVE, NOT_WORSE, UNINFORMATIVE]
    assert sequential_outcome(same) == UNINFORMATIVE
    assert judged(answers(70, 0.5, 0.6, 0), reference, 0.1)[0]["verdict"] == WORSE


def test_the_outcome_passes_if_more_than_half_of_the_cells_of_every_size_do():
    sizes = [(size, verdict) for size, of_size in ((10, [NOT_WORSE] * 2 + [UNINFORMATIVE]), (20, [NOT_WORSE] * 3))
             for verdict in of_size]  # fmt: skip
    rows = [{"experiment": "e", "size": size, "verdict": verdict} for size, verdict in sizes]
    assert sequential_outcome(rows) == NOT_WORSE
    assert sequential_outcome([*rows, {"experiment": "e", "size": 40, "verdict": UNINFORMATIVE}]) == UNINFORMATIVE
    assert sequential_outcome([*rows, {"experiment": "e", "size": 10, "verdict": OPEN}]) == OPEN
    assert sequential_outcome([]) == UNINFORMATIVE


def test_a_cell_that_one_side_could_not_answer_is_not_compared_and_no_check_passes_without_it():
    reference = answers(70, 0.6, 0.6, 0.6)
    frames = [of_matrix(reference, POSITIONS, size=10, model=side) for side in "ab"]
    frames[0].loc[frames[0]["position"] == 4, "excluded"] = True
    rows = sequential_rows(pd.concat(frames), 0.1)
    assert [row["verdict"] for row in rows] == [NOT_WORSE, NOT_COMPARED, NOT_WORSE]
    assert sequential_outcome(rows) == OPEN
    assert [point.x for point in verdict_chart(rows, "a minus b").panels[0].series[0].points] == [0, 9]


def test_worse_is_corrected_over_the_cells():
    lost = np.zeros((30, 3))
    lost[:30, 1] = 0
    reference = np.ones((30, 3))
    worse = reference.copy()
    worse[:12, 1] = 0
    alone = p_of_at_most(-(worse - reference)[:, 1], 0.1)
    assert [row["p_worse_holm"] for row in judged(worse, reference, 0.1)][1] == pytest.approx(3 * alone)


def test_the_last_look_is_at_the_largest_number():
    assert [*looks(35)] == [12, 24, 35]
    assert [*looks(60)] == [12, 24, 35, 50, 60]
    assert [*looks(5)] == [5]
