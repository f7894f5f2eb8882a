"""Statistics of questions in clusters: coverage, error rates, and equality with statistics without clusters."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats
from score_frames import of_matrix, random_matrix

from litm.analysis import statistics
from litm.analysis.grid import read_curve
from litm.analysis.positions import detectable_effect_rows, pairwise_rows, position_bias_row
from litm.base.intervals import binomial_interval, clustered_interval
from litm.claims.evidence import scored_evidence

GROUPS, EACH, RUNS = 40, 10, 1000
CODES = np.repeat(np.arange(GROUPS), EACH)


def correlated(p: float, rho: float, rng: np.random.Generator, runs: int = RUNS) -> np.ndarray:
    """(runs, questions): answers with intra-cluster correlation rho, beta-binomial."""
    spread = (1 - rho) / rho
    rates = rng.beta(p * spread, (1 - p) * spread, (runs, GROUPS))
    return (rng.random((runs, GROUPS * EACH)) < np.repeat(rates, EACH, axis=1)).astype(int)


def correlated_pairs(rng: np.random.Generator) -> np.ndarray:
    """(runs, questions, 2): answers under two conditions without a difference; each cluster prefers one of them."""
    return np.stack([correlated(0.6, 0.3, rng), correlated(0.6, 0.3, rng)], axis=2)


def test_with_ten_questions_an_article_the_interval_of_an_accuracy_covers_with_clusters_and_fails_without():
    covered = {"questions": 0, "clusters": 0}
    for right in correlated(0.7, 0.3, np.random.default_rng(0)):
        low, high = binomial_interval(int(right.sum()), len(right))
        covered["questions"] += low <= 0.7 <= high
        low, high = clustered_interval(right, CODES)
        covered["clusters"] += low <= 0.7 <= high
    assert covered["questions"] / RUNS < 0.75
    assert 0.93 <= covered["clusters"] / RUNS <= 0.975


def test_with_ten_questions_an_article_the_interval_of_a_difference_covers_with_clusters_and_fails_without():
    covered = {"questions": 0, "clusters": 0}
    for pair in correlated_pairs(np.random.default_rng(1)):
        for name, codes in (("questions", None), ("clusters", CODES)):
            estimate = statistics.contrast_interval(pair, [1, -1], codes)
            covered[name] += estimate.low <= 0 <= estimate.high
    assert covered["questions"] / RUNS < 0.8
    assert 0.93 <= covered["clusters"] / RUNS <= 0.975


def test_tests_keep_5_per_cent_with_clusters_and_do_not_without():
    false = dict.fromkeys(["questions", "clusters", "q", "clustered q"], 0)
    for pair in correlated_pairs(np.random.default_rng(2)):
        first, second = pair[:, 0] > pair[:, 1], pair[:, 1] > pair[:, 0]
        false["questions"] += statistics.sign_test_p(first, second, None) < 0.05
        false["clusters"] += statistics.sign_test_p(first, second, CODES) < 0.05
        false["q"] += statistics.cochrans_q(pair, None).p_value < 0.05
        false["clustered q"] += statistics.cochrans_q(pair, CODES).p_value < 0.05
    assert false["questions"] / RUNS > 0.2 and false["q"] / RUNS > 0.2
    assert false["clusters"] / RUNS <= 0.065 and false["clustered q"] / RUNS <= 0.065


def test_the_gap_of_positions_keeps_5_per_cent_with_clusters():
    rng, false = np.random.default_rng(3), {"questions": 0, "clusters": 0}
    for _ in range(150):
        curve = np.stack([correlated(0.6, 0.3, rng, 1)[0] for _ in range(3)], axis=1)
        false["questions"] += statistics.gap_test(curve, 300, rng, None).p_value < 0.05
        false["clusters"] += statistics.gap_test(curve, 300, rng, CODES).p_value < 0.05
    assert false["questions"] / 150 > 0.2
    assert false["clusters"] / 150 <= 0.09


def test_clusters_of_one_question_are_questions():
    matrix, each = random_matrix([0.8, 0.5, 0.6], 120), np.random.default_rng(0).permutation(120)
    first, second = matrix[:, 0] > matrix[:, 1], matrix[:, 1] > matrix[:, 0]
    assert statistics.sign_test_p(first, second, each) == pytest.approx(statistics.sign_test_p(first, second, None))
    plain, clustered = (statistics.contrast_interval(matrix, [0.5, -1, 0.5], codes) for codes in (None, each))
    assert clustered.value == pytest.approx(plain.value)
    assert (clustered.low, clustered.high) == pytest.approx((plain.low, plain.high), abs=1e-3)
    assert statistics.cochrans_q(matrix, each).statistic == pytest.approx(statistics.cochrans_q(matrix).statistic)
    one, other = clustered_interval(matrix[:, 0], each), binomial_interval(int(matrix[:, 0].sum()), 120)
    assert one == pytest.approx(other, abs=3e-3)


def test_the_test_of_many_clusters_comes_to_obuchowski_s():
    pair = correlated_pairs(np.random.default_rng(4))[0]
    first, second = pair[:, 0] > pair[:, 1], pair[:, 1] > pair[:, 0]
    differences = np.bincount(CODES, first.astype(int) - second.astype(int))
    statistic = differences.sum() ** 2 / (differences**2).sum()
    assert statistics.sign_test_p(first, second, CODES) == pytest.approx(stats.chi2.sf(statistic, 1), abs=0.05)


def test_a_sign_test_counts_all_swaps_of_whole_clusters():
    codes = np.array([0, 0, 0, 1, 1, 2])
    first, second = np.array([1, 1, 1, 0, 0, 1], bool), np.array([0, 0, 0, 1, 0, 0], bool)
    # The sums are 3, -1 and 1, together 3; of the 8 ways to sign 3, 1 and 1, six have a sum of 3 or more in size.
    assert statistics.sign_test_p(first, second, codes) == pytest.approx(6 / 8)


def test_one_cluster_says_nothing():
    matrix, one = random_matrix([0.8, 0.5], 50), np.zeros(50, dtype=int)
    estimate = statistics.contrast_interval(matrix, [1, -1], one)
    assert (estimate.low, estimate.high) == (-1, 1)
    assert clustered_interval(matrix[:, 0], one) == (0, 1)
    assert statistics.cochrans_q(matrix, one).p_value == 1


def test_tables_of_scores_with_clusters_have_wider_intervals_and_those_without_are_as_before():
    rng = np.random.default_rng(5)
    matrix = np.stack([correlated(p, 0.3, rng, 1)[0] for p in (0.8, 0.5, 0.7)], axis=1)
    scores = of_matrix(matrix, (0, 4, 8))
    clustered = scores.assign(cluster=[f"article {code}" for code in np.tile(CODES, 3)])
    assert read_curve(scores).clusters is None
    plain, wide = position_bias_row(scores), position_bias_row(clustered)
    assert (wide["pbi"], wide["n"]) == (plain["pbi"], plain["n"])
    assert wide["pbi_ci_high"] - wide["pbi_ci_low"] > 1.2 * (plain["pbi_ci_high"] - plain["pbi_ci_low"])
    assert wide["pbi_mde"] > plain["pbi_mde"] and wide["cochran_q"] < plain["cochran_q"]
    for one, other in zip(pairwise_rows(scores), pairwise_rows(clustered), strict=True):
        assert other["difference"] == pytest.approx(one["difference"]) and other["p_value"] > one["p_value"]


def test_the_gap_and_the_p_value_agree_with_the_intervals_of_clusters():
    rng = np.random.default_rng(7)
    for pair in correlated_pairs(rng)[:40]:
        third = pair[:, :1]
        matrix = np.hstack([pair, third])
        gap = statistics.gap_interval(matrix, CODES)
        highs = [
            statistics.contrast_interval(matrix[:, [a, b]], [1, -1], CODES).high
            for a in range(3)
            for b in range(3)
            if a != b
        ]
        assert (gap.value, gap.high) == pytest.approx((np.ptp(matrix.mean(axis=0)), max(highs)))
        assert gap.high - gap.low > statistics.gap_interval(matrix).high - statistics.gap_interval(matrix).low
        for codes in (None, CODES):
            estimate = statistics.contrast_interval(pair, [1, -1], codes)
            assert (statistics.moments(pair, [1, -1], codes).p_value < 0.05) == (estimate.low > 0 or estimate.high < 0)


def test_clusters_of_one_question_make_hardly_a_difference_to_the_gap_and_the_design_effect():
    matrix, own = random_matrix([0.5, 0.6, 0.7], 300), np.arange(300)
    plain, clustered = statistics.gap_interval(matrix), statistics.gap_interval(matrix, own)
    assert (clustered.low, clustered.high) == pytest.approx((plain.low, plain.high), abs=0.001)
    assert 1 <= statistics.design_effect(matrix, [1, -1, 0], own) < 1.02
    assert statistics.design_effect(matrix, [1, -1, 0], None) == 1
    assert statistics.design_effect(np.repeat(matrix, 4, axis=0), [1, -1, 0], np.repeat(own, 4)) == pytest.approx(
        4, rel=0.02
    )


@pytest.mark.parametrize("codes", [None, CODES])
def test_the_difference_of_two_gaps_is_made_of_the_intervals_of_all_pairs_of_pairs(codes):
    a, b = random_matrix([0.8, 0.4, 0.6], 400, 1), random_matrix([0.6, 0.5, 0.6], 400, 2)
    pairs = list(permutations(range(3), 2))
    limits = [[statistics.contrast_interval(np.hstack([a[:, one], b[:, other]]), [1, -1, -1, 1], codes, 1 - 0.05 / 6)
               for other in pairs] for one in pairs]  # fmt: skip
    found, p = statistics.gap_difference(a, b, codes)
    low = min(max(row[other].low for row in limits) for other in range(6))
    high = max(min(one.high for one in row) for row in limits)
    gaps = [np.ptp(of.mean(axis=0)) for of in (a, b)]
    assert (found.value, found.low, found.high) == pytest.approx((gaps[0] - gaps[1], low, high))
    assert (found.low > 0) and p < 0.05


def test_the_difference_of_two_gaps_holds_its_level_where_that_of_the_chosen_positions_does_not():
    """Nine equal positions against nine with one best and one worst: the sample has a gap among the equal ones too."""
    wrong, wrong_if_chosen = 0, 0
    for seed in range(200):
        a, b = random_matrix([0.6] * 9, 200, 2 * seed), random_matrix([0.8, *[0.6] * 7, 0.4], 200, 2 * seed + 1)
        found, p = statistics.gap_difference(a, b, None)
        assert (p < 0.05) == (found.low > 0 or found.high < 0)
        wrong += not found.low <= -0.4 <= found.high
        chosen = [[of.sum(axis=0).argmax(), of.sum(axis=0).argmin()] for of in (a, b)]
        naive = statistics.contrast_interval(np.hstack([a[:, chosen[0]], b[:, chosen[1]]]), [1, -1, -1, 1], None)
        wrong_if_chosen += not naive.low <= -0.4 <= naive.high
    assert wrong <= 10 and wrong_if_chosen > 20


def test_one_cluster_says_nothing_about_a_difference_of_gaps():
    a, b = random_matrix([0.9, 0.4], 50, 1), random_matrix([0.5, 0.5], 50, 2)
    found, p = statistics.gap_difference(a, b, np.zeros(50, dtype=int))
    assert (found.low, found.high, p) == (-1, 1, 1)


def test_claims_floors_and_detectable_effects_count_clusters():
    """Every answer four times: intervals equal those of single answers with `cluster`, and are half as wide without."""
    once = random_matrix([0.62, 0.55, 0.6], 120, seed=3)
    scores = of_matrix(np.repeat(once, 4, axis=0), (0, 4, 8))
    scores["cluster"] = scores["id"].str[1:].astype(int) // 4
    apart = of_matrix(once, (0, 4, 8))

    def primacy(frame):
        evidence = scored_evidence([frame])
        start, middle, _ = evidence.cells
        low, high = evidence.contrast({start: 1, middle: -1}).interval(0.95)
        right = evidence.accuracy(start).interval(0.95)
        return high - low, right[1] - right[0]

    assert primacy(scores) == pytest.approx(primacy(apart), rel=0.03)
    assert primacy(scores.drop(columns="cluster")) == pytest.approx([one / 2 for one in primacy(apart)], rel=0.05)
    (row, *_), (single, *_) = detectable_effect_rows(scores), detectable_effect_rows(apart)
    assert (row["design_effect"], row["mde"]) == (pytest.approx(4, rel=0.05), pytest.approx(single["mde"], rel=0.03))
    assert single["design_effect"] == 1
    few = of_matrix(np.ones((40, 3), int), (0, 4, 8)).assign(cluster="one")
    assert position_bias_row(few)["reason"] == "too few questions"
    assert position_bias_row(few.drop(columns="cluster"))["reason"] == "ceiling"
