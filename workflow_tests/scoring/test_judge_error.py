"""Accuracies and contrasts of judged answers, corrected by labels."""

import sys

import numpy as np
import pytest
from conftest import ROOT

from litm.analysis.statistics import corrected_moments, moments
from litm.scoring.judge_error import Labelled, corrected_accuracy, drawn

sys.path.insert(0, str(ROOT / "benchmarks"))
from judge_coverage import PBI, covered

RNG = np.random.default_rng(5)


def made(judge: float = 0.8, n: int = 60) -> tuple[np.ndarray, ...]:
    """Truth, verdicts that agree with it so often, and strict verdicts."""
    truth = (RNG.random((n, 5)) < 0.6).astype(int)
    verdicts = np.where(RNG.random(truth.shape) < judge, truth, 1 - truth)
    return truth, verdicts, (truth & (RNG.random(truth.shape) < 0.6)).astype(int)


def test_with_a_label_on_each_answer_the_corrected_numbers_are_those_of_the_labels():
    truth, verdicts, strict = made()
    labelled = Labelled(verdicts, strict, truth.astype(float))
    assert corrected_accuracy(labelled, 2)[0] == pytest.approx(truth[:, 2].mean())
    assert corrected_moments(labelled, PBI).value == pytest.approx(truth.mean(axis=0) @ PBI)


def test_a_judge_that_always_says_yes_is_corrected_by_the_labels_alone():
    truth, _, strict = made()
    yes = np.ones_like(truth)
    labels = np.where(drawn(yes, strict, 100, RNG), truth, np.nan)
    value, low, high = corrected_accuracy(Labelled(yes, strict, labels), 0)
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
