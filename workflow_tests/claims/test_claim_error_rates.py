"""Error rates of claims, on estimates and answers with a known truth."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from conftest import ROOT
from scipy.stats import norm

from litm.analysis.shapes import SMALL
from litm.analysis.significance import holm
from litm.claims.evidence import Measure, largest, lowest, minus
from litm.claims.verdicts import (
    ABOVE_ZERO,
    ALPHA,
    AT_MOST_SMALL,
    CONTRADICTED,
    NEGLIGIBLE,
    NOT_ABOVE_ZERO,
    NOT_ENOUGH,
    SUPPORTED,
    WITHIN_SMALL,
    Part,
    Question,
    decide,
)

# At the end of the path: a benchmark's name may not hide a folder of tests.
sys.path.append(str(ROOT / "benchmarks"))
import claim_errors as simulation

#: What 5 % may look like in the families simulated here: two standard errors more.
MOST = 0.07


def asked(*values: float, criterion=ABOVE_ZERO, error: float = 1.0, withheld: str = "") -> Question:
    """The question whether quantities with normal intervals all meet a criterion."""
    measures = (simulation.normal(value, error) for value in values)
    return replace(simulation.question(criterion, *measures), withheld=withheld)


def verdicts(questions: list[Question]) -> list[str]:
    return [decision.verdict for decision in decide(questions)]


def wrong(criterion, truths: list[float], error: float, correlation: float, families: int = 600) -> float:
    """Fraction of simulated families in which `decide` has a wrong verdict."""
    drawn = simulation.estimates(truths, len(truths), error, correlation, families, seed=1).tolist()
    found = [verdicts([asked(value, criterion=criterion, error=error) for value in family]) for family in drawn]
    return simulation.any_wrong(criterion, truths, np.array(found)).mean()


@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize(
    ("criterion", "truths", "error"),
    [
        (ABOVE_ZERO, [0.0] * 10, 0.005),
        (ABOVE_ZERO, [0.0] * 23, 0.004),
        (ABOVE_ZERO, [NEGLIGIBLE] * 10, 0.005),
        (ABOVE_ZERO, [0.0, NEGLIGIBLE] * 5, 0.005),
        (NOT_ABOVE_ZERO, [0.0, NEGLIGIBLE] * 5, 0.005),
        (AT_MOST_SMALL, [SMALL] * 10, 0.01),
        (WITHIN_SMALL, [SMALL, -SMALL] * 5, 0.01),
    ],
)
def test_a_family_has_a_wrong_verdict_in_at_most_5_percent(criterion, truths, error, correlation):
    assert wrong(criterion, truths, error, correlation) <= MOST


def test_the_arrays_of_the_benchmark_are_the_procedure_of_the_claims():
    """At the levels where a family is large, and of both kinds of truth: the benchmark stops where they differ."""
    for name in ("flat", "flat and U of 2 points"):
        simulation.scores_cell(simulation.TRUTHS[name], 10, 2655, families=300)
    simulation.estimates_cell(WITHIN_SMALL, (SMALL, -SMALL), 10, 0.01, 0.0, families=300)


@pytest.mark.parametrize("name", ["flat", "recency alone", "U of 2 points", "half recency alone, half U of 2 points"])
def test_ten_curves_of_2655_correlated_answers_have_a_wrong_verdict_in_at_most_5_percent(name):
    truths = simulation.TRUTHS[name]
    families = simulation.answers(truths, 10, 2655, 200, seed=3)
    found = [verdicts([simulation.u_question(counts) for counts in family]) for family in families]
    assert simulation.any_wrong(ABOVE_ZERO, simulation.heights(truths), np.array(found)).mean() <= 0.08


def test_each_direction_is_holms_procedure_at_half_the_level():
    rng = np.random.default_rng(0)
    for _ in range(20):
        values = rng.normal(1.8, 1.5, size=7).tolist()
        corrected = holm([norm.sf(value) for value in values])
        expected = [p < ALPHA / 2 for p in corrected]
        assert [verdict == SUPPORTED for verdict in verdicts([asked(value) for value in values])] == expected


def test_a_case_that_is_contradicted_makes_nothing_easier_for_the_others():
    # 2.5 standard errors: enough for one case (1.96) and for four (2.50), not for five (2.58).
    open_case = asked(0.0251, error=0.01)
    contradicted = [asked(-0.2, error=0.01)] * 4
    assert verdicts([open_case, *contradicted]) == [NOT_ENOUGH, *[CONTRADICTED] * 4]
    assert verdicts([open_case, *[asked(0.2, error=0.01)] * 4]) == [SUPPORTED] * 5


def test_cases_without_a_measure_do_not_count_for_the_correction_and_withheld_cases_do():
    unknown = Question(("m",), "e", 1, (Part("s", ABOVE_ZERO, None),), "")
    assert verdicts([asked(2.0), *[unknown] * 9]) == [SUPPORTED, *[NOT_ENOUGH] * 9]
    assert verdicts([asked(2.0), *[asked(9.0, withheld="ceiling")] * 9]) == [NOT_ENOUGH] * 10


def test_a_claim_in_two_parts_is_supported_by_both_at_full_level_and_contradicted_by_one_at_half():
    assert verdicts([asked(2.0, 2.0)]) == [SUPPORTED]
    assert verdicts([asked(2.0, 1.9)]) == [NOT_ENOUGH]
    # 2.1 standard errors below 2 points are enough at the level of one part (1.96), not of one of two (2.24).
    below = NEGLIGIBLE - 0.021
    assert verdicts([asked(below, error=0.01)]) == [CONTRADICTED]
    assert verdicts([asked(below, 0.5, error=0.01)]) == [NOT_ENOUGH]
    assert verdicts([asked(below - 0.002, 0.5, error=0.01)]) == [CONTRADICTED]


def test_intervals_of_extremes_and_of_differences_hold_the_truth():
    rng = np.random.default_rng(1)
    held = np.zeros(3)
    for _ in range(300):
        measures = [simulation.normal(value, 0.2) for value in rng.normal([0.0, 0.1, 0.1, 0.3], 0.2)]
        found = (lowest(measures), largest(measures), minus(measures[3], measures[0]))
        limits = [measure.interval(0.95) for measure in found]
        held += [low <= truth <= high for (low, high), truth in zip(limits, (0.0, 0.3, 0.3), strict=True)]
    assert held.min() >= 0.94 * 300, held


def test_the_row_has_the_interval_that_decided():
    supported, still_open = decide([asked(0.2, error=0.01), asked(0.0, error=0.01)])
    assert supported.confidence == still_open.confidence == pytest.approx(0.975)
    assert supported.low == pytest.approx(0.2 - 0.01 * norm.ppf(0.9875))


def test_a_small_real_effect_is_never_called_none():
    """Families of different sizes test one quantity at different confidences, and must not contradict each other."""
    for others in range(30):
        of = [asked(0.01, criterion=criterion, error=0.004) for criterion in (ABOVE_ZERO, NOT_ABOVE_ZERO)]
        there, none = (verdicts([question, *[asked(0.0)] * others])[0] for question in of)
        assert there != CONTRADICTED and none != SUPPORTED


def test_a_measure_is_never_asked_for_a_confidence_of_less_than_95_percent():
    asked_for = []

    def interval(confidence: float) -> tuple[float, float]:
        asked_for.append(confidence)
        return -1.0, 1.0

    decide([Question(("m",), "e", 1, (Part("s", WITHIN_SMALL, Measure(0.0, 9, interval)),), "")] * 3)
    assert min(asked_for) >= 1 - ALPHA - 1e-12


def test_the_headline_of_18_models_and_8_experiments_without_an_effect_shows_none_in_95_percent_of_studies():
    families = simulation.answers((simulation.FLAT,), simulation.MODELS * simulation.EXPERIMENTS, 500, 20, seed=5)
    wrong = [simulation.wrong_headline((simulation.FLAT,), family) for family in families]
    assert np.mean(wrong, axis=0).max() <= MOST


def test_the_limits_of_a_headline_hold_the_effect_that_was_chosen_as_the_largest():
    truths = (simulation.FLAT, simulation.RECENCY_ALONE)
    families = simulation.answers(truths, simulation.MODELS * simulation.EXPERIMENTS, 500, 10, seed=6)
    assert np.mean([simulation.wrong_headline(truths, family)[1] for family in families]) <= MOST
