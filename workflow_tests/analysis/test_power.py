"""Statistical power, compared with simulation and enumeration, and its table."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from drawn_answers import correlated
from scipy import stats
from score_frames import of_matrix

from litm.analysis.pbi import CONTRASTS
from litm.analysis.positions import position_bias_row
from litm.analysis.power import (
    MOST_EXACT_INDEX,
    Assumption,
    detectable_effect,
    latent_correlation,
    observed,
    pattern_shares,
    planned_accuracies,
    power,
    questions_needed,
)
from litm.analysis.statistics import contrast_interval

PATTERNS = np.array(list(product((0, 1), repeat=3)))


@pytest.mark.parametrize(
    ("contrast", "n", "assumed"),
    [
        ("primacy", 60, Assumption(0.5, 0.5)),
        ("tilt", 40, Assumption(0.95, 0.3)),
        ("pbi", 40, Assumption(0.9, 0.6)),
        ("pbi", 300, Assumption(0.6, 0.5)),
    ],
)
def test_the_detectable_effect_is_shown_by_80_percent_of_simulated_data_sets(contrast, n, assumed):
    effect = detectable_effect(contrast, n, assumed)
    accuracies = planned_accuracies(contrast, effect, assumed.accuracy)
    latent, data_sets = latent_correlation(assumed), 1000
    shown = sum(
        contrast_interval(correlated(accuracies, n, seed, latent), CONTRASTS[contrast]).low > 0
        for seed in range(data_sets)
    )
    # Three standard errors.
    assert shown / data_sets == pytest.approx(0.8, abs=0.038)


def test_a_chance_is_the_sum_over_all_data_sets_there_can_be():
    n, assumed = 7, Assumption(0.5, 0.3)
    for contrast in ("recency", "pbi"):
        shares = pattern_shares(planned_accuracies(contrast, 0.7, 0.5), latent_correlation(assumed))
        chance = 0.0
        for questions in combinations_with_replacement(range(8), n):
            if contrast_interval(PATTERNS[list(questions)], CONTRASTS[contrast]).low > 0:
                chance += stats.multinomial.pmf(np.bincount(questions, minlength=8), n, shares / shares.sum())
        assert 0.05 < chance < 0.95
        assert power(contrast, 0.7, n, assumed) == pytest.approx(chance, abs=1e-6)


def test_exact_and_normal_chances_agree_where_one_takes_over_from_the_other():
    for accuracy in (0.5, 0.9):
        chances = [power("pbi", 0.15, MOST_EXACT_INDEX + more, Assumption(accuracy, 0.5)) for more in (0, 1)]
        assert chances[0] == pytest.approx(chances[1], abs=0.03)


def test_more_questions_and_a_higher_correlation_show_smaller_effects():
    few, many = (detectable_effect("primacy", n, Assumption(0.5, 0.5)) for n in (50, 500))
    alike = detectable_effect("primacy", 500, Assumption(0.5, 0.8))
    assert few > many > alike
    needed = questions_needed("primacy", many, Assumption(0.5, 0.5))
    assert needed == pytest.approx(500, rel=0.02)
    assert detectable_effect("primacy", 2, Assumption(0.5, 0.5)) is None


def test_the_copula_has_the_accuracies_and_the_correlation_that_were_asked_for():
    shares = pattern_shares((0.9, 0.4, 0.7), 0.5)
    assert shares.sum() == pytest.approx(1)
    assert PATTERNS.T @ shares == pytest.approx([0.9, 0.4, 0.7], abs=1e-9)
    assumed = Assumption(0.8, 0.6)
    both = pattern_shares((0.8,) * 3, latent_correlation(assumed)).reshape(2, 2, 2)[1, 1].sum()
    assert (both - 0.64) / 0.16 == pytest.approx(0.6, abs=1e-4)
    found = observed(correlated((0.8,) * 3, 100_000, 0, latent_correlation(assumed)))
    assert found.accuracy == pytest.approx(0.8, abs=0.005) and found.correlation == pytest.approx(0.6, abs=0.01)
    assert observed(np.ones((9, 3), int)).correlation == 0.5


def test_planned_curves_have_their_effect_and_stay_between_0_and_1():
    for contrast, accuracy, effect in product(CONTRASTS, (0.02, 0.5, 0.99), (0.01, 0.3, 1.0)):
        accuracies = planned_accuracies(contrast, effect, accuracy)
        assert np.dot(accuracies, CONTRASTS[contrast]) == pytest.approx(effect)
        assert all(-1e-9 <= one <= 1 + 1e-9 for one in accuracies)


def test_a_curve_has_the_effects_that_its_questions_show_and_one_without_a_middle_has_none():
    matrix = correlated((0.9, 0.6, 0.8), 80, 3, 0.6)
    row = position_bias_row(of_matrix(matrix, (0, 4, 8)))
    assert all(0 < row[f"{name}_mde"] < 0.3 and row[f"{name}_n_for_5_points"] > 80 for name in CONTRASTS)
    assert row["accuracy_mean"] == pytest.approx(matrix.mean()) and row["n"] == 80
    assert not {"accuracy_mean", "pbi_mde", "tilt_mde"} & position_bias_row(of_matrix(matrix[:, :2], (0, 8))).keys()
