"""Accuracies and contrasts of judged answers, corrected by labels."""

import sys

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

from litm.analysis.grid import CORRECT, Grid
from litm.analysis.significance import any_pair_p, cochrans_q
from litm.analysis.statistics import (
    corrected_moments,
    design_effect,
    gap_difference,
    gap_interval,
    moments,
    utilisation,
)
from litm.scoring.judge_error import Labelled, corrected_accuracy, drawn

sys.path.insert(0, str(ROOT / "benchmarks"))
from judge_coverage import MADE, PBI, covered, made_right

RNG = np.random.default_rng(5)


def made(judge: float = 0.8, n: int = 60) -> tuple[np.ndarray, ...]:
    """Truth, verdicts that agree with it so often, and strict verdicts."""
    truth = (RNG.random((n, 5)) < 0.6).astype(int)
    verdicts = np.where(RNG.random(truth.shape) < judge, truth, 1 - truth)
    return truth, verdicts, (truth & (RNG.random(truth.shape) < 0.6)).astype(int)


def test_with_a_label_on_each_answer_the_corrected_numbers_are_those_of_the_labels():
    truth, verdicts, strict = made()
    labelled = Labelled(verdicts, strict, truth.astype(float))
    assert corrected_accuracy(labelled, np.eye(5)[2])[0] == pytest.approx(truth[:, 2].mean())
    assert corrected_moments(labelled, PBI).value == pytest.approx(truth.mean(axis=0) @ PBI)


def test_a_judge_that_always_says_yes_is_corrected_by_the_labels_alone():
    truth, _, strict = made()
    yes = np.ones_like(truth)
    labels = np.where(drawn(yes, strict, 100, RNG), truth, np.nan)
    value, low, high = corrected_accuracy(Labelled(yes, strict, labels), np.eye(5)[0])
    assert low < truth[:, 0].mean() < high < 1 and abs(value - truth[:, 0].mean()) < 0.25


def test_labels_widen_every_interval_and_more_labels_do_so_less():
    truth, verdicts, strict = made(n=200)
    plain = moments(verdicts, PBI).standard_error
    labels = [np.where(drawn(verdicts, strict, number, RNG), truth, np.nan) for number in (60, 600)]
    few, many = (corrected_moments(Labelled(verdicts, strict, known), PBI) for known in labels)
    assert few.standard_error > many.standard_error > plain and few.df < many.df


def test_without_a_label_of_some_kind_of_answer_there_is_no_correction():
    truth, verdicts, strict = made()
    labels = np.where(verdicts == 1, truth, np.nan)
    assert not Labelled(verdicts, strict, labels).is_complete


def test_each_position_has_labels_of_each_kind_of_answer():
    _, verdicts, strict = made(n=100)
    chosen = drawn(verdicts, strict, 100, RNG)
    for column in range(5):
        for kind in np.unique(2 * verdicts[:, column] + strict[:, column]):
            of_kind = 2 * verdicts[:, column] + strict[:, column] == kind
            assert chosen[of_kind, column].sum() >= min(2, of_kind.sum())
    assert 90 <= chosen.sum() <= 110


def test_a_judge_that_errs_more_in_the_middle_shows_a_shape_that_its_labels_take_back():
    plain, corrected = covered("flat", "worse in the middle", n=200, labels=100, replicates=150, seed=3)
    assert plain[3] > 0.3 and corrected[3] < 0.1
    assert plain[2] < 0.7 and (corrected[:3] > 0.89).all()


def labelled_grid(truth: np.ndarray, verdicts: np.ndarray, strict: np.ndarray, labels: np.ndarray) -> Grid:
    return Grid([*range(truth.shape[1])], pd.RangeIndex(len(truth)), {CORRECT: verdicts}, None, strict, labels)


def test_with_a_label_on_each_answer_all_that_is_made_of_contrasts_has_the_value_of_the_labels():
    truth, verdicts, strict = made(n=400)
    truth[:, 1] = RNG.random(400) < 0.2
    truth[:, 2] = RNG.random(400) < 0.9
    grid = labelled_grid(truth, verdicts, strict, truth.astype(float))
    three, three_true = grid.complete([0, 1, 2]), truth[:, :3]
    assert utilisation(three.measured).value == pytest.approx(utilisation(three_true).value)
    assert gap_interval(grid.measured).value == pytest.approx(np.ptp(truth.mean(axis=0)))
    four, four_true = grid.complete([0, 1, 2, 3]), truth[:, :4]
    assert gap_difference(four.measured)[0].value == pytest.approx(gap_difference(four_true)[0].value)
    assert [accuracy.value for accuracy in grid.accuracies] == pytest.approx(truth.mean(axis=0).tolist())
    assert any_pair_p(grid.measured) < 0.001 > any_pair_p(truth)


def test_the_error_of_labels_counts_as_fewer_questions_and_as_less_evidence_of_a_difference():
    truth, verdicts, strict = made(n=200)
    labels = np.where(drawn(verdicts, strict, 60, RNG), truth, np.nan)
    labelled = labelled_grid(truth, verdicts, strict, labels).measured
    assert design_effect(labelled, PBI, None) > 2
    assert any_pair_p(labelled) > cochrans_q(verdicts).p_value / 10


def test_a_judge_that_always_says_yes_is_not_at_the_ceiling_where_labels_say_otherwise():
    truth, _, strict = made(n=200)
    yes = np.ones_like(truth)
    labels = np.where(drawn(yes, strict, 150, RNG), truth, np.nan)
    assert labelled_grid(truth, yes, strict, np.full(truth.shape, np.nan)).limit() == "ceiling"
    assert labelled_grid(truth, yes, strict, labels).limit() is None


@pytest.mark.parametrize("name", MADE)
def test_a_judge_that_favours_a_side_misleads_no_statement_where_labels_correct_it(name):
    alone, corrected = made_right(MADE[name], n=200, labels=100, replicates=60, seed=3)
    assert alone < 0.8 < 0.88 < corrected
