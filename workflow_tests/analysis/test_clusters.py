"""Statistics of questions in clusters: coverage, error rates, and equality with statistics without clusters."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats
from score_frames import of_matrix, random_matrix

from litm.analysis.grid import read_curve
from litm.analysis.positions import pairwise_rows, position_bias_row
from litm.analysis.significance import cochrans_q, gap_test, sign_test_p
from litm.analysis.statistics import contrast_interval, design_effect, gap_difference, gap_interval, moments
from litm.base.intervals import binomial_interval, cluster_factors, clustered_interval
from litm.claims.evidence import scored_evidence

GROUPS, EACH = 40, 10
CODES = np.repeat(np.arange(GROUPS), EACH)


def correlated(p: float, rng: np.random.Generator, columns: int = 1) -> np.ndarray:
    """(questions, columns): answers with intra-cluster correlation 0.3, beta-binomial, equally right in each column."""
    spread = 0.7 / 0.3
    rates = np.repeat(rng.beta(p * spread, (1 - p) * spread, (GROUPS, columns)), EACH, axis=0)
    return (rng.random(rates.shape) < rates).astype(int)


def only_one(pair: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By question, whether the first and whether the second column alone is right."""
    return pair[:, 0] > pair[:, 1], pair[:, 1] > pair[:, 0]


def misses(truth: float, limits: tuple[float, float]) -> bool:
    return not limits[0] <= truth <= limits[1]


#: Whether a statistic of answers to three equal conditions is wrong; data sets; least and most share of wrong ones.
ERRORS = {
    "the interval of an accuracy": (lambda x, of: misses(0.6, clustered_interval(x[:, 0], of)), 1000, 0.025, 0.07),
    "that of a difference": (lambda x, of: misses(0, contrast_interval(x, [1, -1, 0], of).limits), 1000, 0.025, 0.07),
    "the sign test": (lambda x, of: sign_test_p(*only_one(x), of) < 0.05, 1000, 0, 0.065),
    "Cochran's test": (lambda x, of: cochrans_q(x, of).p_value < 0.05, 1000, 0, 0.065),
    "the test of the gap": (lambda x, of: gap_test(x, 300, np.random.default_rng(4), of).p_value < 0.05, 150, 0, 0.09),
}


@pytest.mark.parametrize(("is_wrong", "data_sets", "least", "most"), ERRORS.values(), ids=ERRORS)
def test_with_ten_questions_an_article_5_per_cent_are_wrong_with_clusters_and_over_20_without(
    is_wrong, data_sets, least, most
):
    rng = np.random.default_rng(1)
    drawn = [correlated(0.6, rng, 3) for _ in range(data_sets)]
    assert least <= np.mean([is_wrong(answers, CODES) for answers in drawn]) <= most
    assert np.mean([is_wrong(answers, None) for answers in drawn]) > 0.2


def test_clusters_of_unequal_sizes_keep_the_level_of_an_interval():
    sizes, rng = [40, 20, 10, 5, 5, 5, 5, 5, 3, 2], np.random.default_rng(1)
    of, wrong = np.repeat(np.arange(len(sizes)), sizes), []
    for _ in range(1000):
        rates = np.clip(0.6 + rng.normal(0, 0.15, (len(sizes), 2)), 0, 1)[of]
        pair = (rng.random(rates.shape) < rates).astype(int)
        accuracy = clustered_interval(pair[:, 0], of)
        wrong.append((misses(0, contrast_interval(pair, [1, -1], of).limits), misses(0.6, accuracy)))
    assert np.max(np.mean(wrong, axis=0)) < 0.06
    factors, df = cluster_factors(np.full(8, 5))
    assert (df, *factors) == pytest.approx((7, *[8 / 7] * 8))


def test_wrong_answers_of_one_question_do_not_look_like_those_of_many():
    # Of 60 questions at 9 positions, 2 % are wrong at all of them and 5 % at one.
    rng, truth, wrong = np.random.default_rng(1), 1 - 0.022 - 0.05 / 9, []
    for _ in range(1000):
        kinds = rng.choice(3, 60, p=[0.928, 0.05, 0.022])
        matrix = np.where(kinds == 2, 0, 1)[:, None] * np.ones(9, int)
        matrix[kinds == 1, 0] = 0
        wrong.append(misses(truth, clustered_interval(matrix, None)))
    assert np.mean(wrong) < 0.06


@pytest.mark.parametrize("answered", [0.03, 0.97])
def test_the_mean_over_positions_keeps_its_level_where_few_questions_decide(answered):
    rng, truth, wrong = np.random.default_rng(1), answered * 0.9 if answered < 0.5 else answered, []
    for _ in range(1000):
        is_able = rng.random((100, 1)) < answered
        matrix = is_able & (rng.random((100, 5)) < truth / answered)
        wrong.append(misses(truth, clustered_interval(matrix.astype(int), None)))
    assert np.mean(wrong) < 0.065


def test_clusters_of_one_question_are_questions():
    matrix, each = random_matrix([0.8, 0.5, 0.6], 120), np.random.default_rng(0).permutation(120)
    sides = only_one(matrix)
    assert sign_test_p(*sides, each) == pytest.approx(sign_test_p(*sides, None))
    for interval, weights in ((contrast_interval, [[0.5, -1, 0.5]]), (gap_interval, [])):
        plain, clustered = interval(matrix, *weights), interval(matrix, *weights, each)
        assert clustered.value == pytest.approx(plain.value)
        assert clustered.limits == pytest.approx(plain.limits, abs=2e-3)
    assert cochrans_q(matrix, each).statistic == pytest.approx(cochrans_q(matrix).statistic)
    one, other = clustered_interval(matrix[:, 0], each), binomial_interval(int(matrix[:, 0].sum()), 120)
    assert one == pytest.approx(other, abs=3e-3)
    assert 1 <= design_effect(matrix, [1, -1, 0], each) < 1.05


def test_the_test_of_many_clusters_comes_to_obuchowski_s():
    first, second = only_one(correlated(0.6, np.random.default_rng(4), 2))
    differences = np.bincount(CODES, first.astype(int) - second.astype(int))
    statistic = differences.sum() ** 2 / (differences**2).sum()
    assert sign_test_p(first, second, CODES) == pytest.approx(stats.chi2.sf(statistic, 1), abs=0.05)


def test_a_sign_test_counts_all_swaps_of_whole_clusters():
    codes = np.array([0, 0, 0, 1, 1, 2])
    first, second = np.array([1, 1, 1, 0, 0, 1], bool), np.array([0, 0, 0, 1, 0, 0], bool)
    # The sums are 3, -1 and 1, together 3; of the 8 ways to sign 3, 1 and 1, six have a sum of 3 or more in size.
    assert sign_test_p(first, second, codes) == pytest.approx(6 / 8)


def test_one_cluster_says_nothing():
    matrix, other, one = random_matrix([0.9, 0.4], 50, 1), random_matrix([0.5, 0.5], 50, 2), np.zeros(50, dtype=int)
    assert contrast_interval(matrix, [1, -1], one).limits == (-1, 1)
    assert clustered_interval(matrix[:, 0], one) == (0, 1)
    assert cochrans_q(matrix, one).p_value == 1
    found, p = gap_difference(np.hstack([matrix, other]), one)
    assert (found.low, found.high, p) == (-1, 1, 1)


def test_tables_of_scores_with_clusters_have_wider_intervals_and_those_without_are_as_before():
    rng = np.random.default_rng(5)
    matrix = np.hstack([correlated(p, rng) for p in (0.8, 0.5, 0.7)])
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
    for _ in range(40):
        matrix = correlated(0.6, rng, 3)
        pairs = [matrix[:, [a, b]] for a, b in permutations(range(3), 2)]
        gap, plain = gap_interval(matrix, CODES), gap_interval(matrix)
        high = max(contrast_interval(pair, [1, -1], CODES).high for pair in pairs)
        assert (gap.value, gap.high) == pytest.approx((np.ptp(matrix.mean(axis=0)), high))
        assert gap.high - gap.low > plain.high - plain.low
        for codes in (None, CODES):
            low, high = contrast_interval(pairs[0], [1, -1], codes).limits
            assert (moments(pairs[0], [1, -1], codes).p_value < 0.05) == (low > 0 or high < 0)


def test_the_design_effect_of_copies_is_their_number_and_1_without_clusters():
    matrix = random_matrix([0.5, 0.6, 0.7], 300)
    copies, clusters = np.repeat(matrix, 4, axis=0), np.repeat(np.arange(300), 4)
    assert design_effect(copies, [1, -1, 0], clusters) == pytest.approx(4, rel=0.02)
    assert design_effect(matrix, [1, -1, 0], None) == 1


@pytest.mark.parametrize("codes", [None, CODES])
def test_the_difference_of_two_gaps_is_made_of_the_intervals_of_all_pairs_of_pairs(codes):
    a, b = random_matrix([0.8, 0.4, 0.6], 400, 1), random_matrix([0.6, 0.5, 0.6], 400, 2)
    pairs = list(permutations(range(3), 2))
    limits = [[contrast_interval(np.hstack([a[:, one], b[:, other]]), [1, -1, -1, 1], codes, 1 - 0.05 / 6)
               for other in pairs] for one in pairs]  # fmt: skip
    found, p = gap_difference(np.hstack([a, b]), codes)
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
        found, p = gap_difference(np.hstack([a, b]))
        assert (p < 0.05) == (found.low > 0 or found.high < 0)
        wrong += not found.low <= -0.4 <= found.high
        chosen = [[of.sum(axis=0).argmax(), of.sum(axis=0).argmin()] for of in (a, b)]
        naive = contrast_interval(np.hstack([a[:, chosen[0]], b[:, chosen[1]]]), [1, -1, -1, 1], None)
        wrong_if_chosen += not naive.low <= -0.4 <= naive.high
    assert wrong <= 10 and wrong_if_chosen > 20


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
    row, single = position_bias_row(scores), position_bias_row(apart)
    assert row["primacy_design_effect"] == pytest.approx(4, rel=0.05)
    assert row["primacy_mde"] == pytest.approx(single["primacy_mde"], rel=0.03)
    assert single["primacy_design_effect"] == 1
    few = of_matrix(np.ones((40, 3), int), (0, 4, 8)).assign(cluster="one")
    assert position_bias_row(few)["reason"] == "too few questions"
    assert position_bias_row(few.drop(columns="cluster"))["reason"] == "ceiling"
