"""Differences between two conditions of one model: compared questions and places, and the conclusions."""

import numpy as np
import pandas as pd
import pytest
from score_frames import assert_plain, of_matrix, random_matrix, score_rows

from litm.analysis.differences import condition_difference_rows
from litm.analysis.grid import read_grids
from litm.analysis.significance import holm, mcnemar_p
from litm.analysis.statistics import contrast_interval, paired_difference
from litm.records.conditions import Comparison
from litm.tables.table import tables

TABLE = tables()["condition_differences"]

PLACES = (0, 4, 8)
COMPARED = Comparison("prompt", "other", "plain", "aware", "usual", (9,))


def difference_rows(*sweeps: pd.DataFrame, comparison=COMPARED, tuned=()) -> list[dict]:
    complete = [
        sweep.assign(correct_first_line=sweep["correct"], correct_full=sweep["correct"])
        if (sweep["correct_first_line"] == sweep["correct_full"]).all()
        else sweep
        for sweep in sweeps
    ]
    rows = list(condition_difference_rows(read_grids(complete), [comparison] if comparison else [], tuned))
    for row in rows:
        assert_plain(row)
    TABLE.frame(rows)
    return rows


def of_two(a: np.ndarray, b: np.ndarray) -> list[dict]:
    """The rows of two conditions with these answers, each (questions, places)."""
    return difference_rows(of_matrix(a, PLACES, experiment="other"), of_matrix(b, PLACES, experiment="plain"))


def two_conditions(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    both = random_matrix([0.8, 0.5, 0.7, 0.6, 0.5, 0.6], n)
    return both[:, :3], both[:, 3:]


def test_equal_positions_are_compared_question_by_question():
    a, b = two_conditions()
    rows = of_two(a, b)
    assert [(row["quantity"], row["place"]) for row in rows] == [
        ("accuracy", "1st"), ("accuracy", "5th"), ("accuracy", "9th"), ("mean accuracy", "mean of 3 places"),
        ("primacy", ""), ("recency", ""), ("pbi", ""),
    ]  # fmt: skip
    for column, row in enumerate(rows[:3]):
        only_a, only_b = int((a[:, column] > b[:, column]).sum()), int((b[:, column] > a[:, column]).sum())
        expected = paired_difference(only_a, only_b, len(a))
        assert (row["difference"], row["p_value"]) == (pytest.approx(expected.value), mcnemar_p(only_a, only_b))
        assert (row["difference_ci_low"], row["difference_ci_high"]) == pytest.approx(expected.limits)
        assert (row["value_a"], row["value_b"]) == pytest.approx((a[:, column].mean(), b[:, column].mean()))
        assert (row["setting_a"], row["setting_b"]) == ("aware", "usual")
    bias = contrast_interval(np.hstack([a, b]), [0.5, -1, 0.5, -0.5, 1, -0.5])
    assert (rows[-1]["difference"], rows[-1]["difference_ci_low"]) == pytest.approx((bias.value, bias.low))


def test_clusters_of_one_side_are_those_of_both():
    a, b = two_conditions()
    one, two = of_matrix(a, PLACES, experiment="other"), of_matrix(b, PLACES, experiment="plain")
    by_ten = one["id"].str[1:].astype(int).floordiv(10).map("article {}".format)
    for sides in ((one.assign(cluster=by_ten), two), (one, two.assign(cluster=by_ten))):
        assert {row["n_clusters"] for row in difference_rows(*sides)} == {20}
    assert {row["n_clusters"] for row in difference_rows(one, two)} == {None}


def test_p_is_corrected_over_all_accuracies_of_a_comparison_and_over_all_contrasts_apart():
    rows = of_two(*two_conditions())
    for part, family in ((rows[:4], "4 of accuracy"), (rows[4:], "3 of position bias")):
        assert [row["p_holm"] for row in part] == holm([row["p_value"] for row in part])
        assert {row["family"].split(",")[0] for row in part} == {family}


@pytest.mark.long
def test_p_of_a_contrast_is_below_5_per_cent_where_the_interval_leaves_0_out():
    rng = np.random.default_rng(1)
    for _ in range(40):
        a, b = (rng.random((60, 3)) < rng.random(3)).astype(int), (rng.random((60, 3)) < 0.5).astype(int)
        for row in of_two(a, b):
            if row["quantity"] != "accuracy":
                assert (row["p_value"] < 0.05) == (row["difference_ci_low"] * row["difference_ci_high"] > 0)


def test_sizes_are_compared_at_start_middle_and_end():
    a, b = two_conditions()
    small, large = of_matrix(b, (0, 2, 4), size=5, experiment="plain"), of_matrix(a, PLACES, experiment="plain")
    rows = difference_rows(pd.concat([small, large]), comparison=Comparison("size", "plain", "plain"))
    assert [row["place"] for row in rows[:3]] == ["start", "middle", "end"]
    assert [(row["position_a"], row["position_b"]) for row in rows[:3]] == [(0, 0), (4, 2), (8, 4)]
    assert {(row["setting_a"], row["setting_b"]) for row in rows} == {("9", "5")}


def test_questions_of_one_side_only_are_left_out_and_counted_in_the_words():
    a, b = two_conditions(60)
    names = [f"q{index}" for index in range(100)]
    one = of_matrix(a, PLACES, ids=names[:60], experiment="other")
    two = of_matrix(b, PLACES, ids=names[20:80], experiment="plain")
    rows = difference_rows(one, two.iloc[::-1])[:3]
    for column, row in enumerate(rows):
        first, second = a[20:, column], b[:40, column]
        assert (row["n"], row["n_scored_only_a"], row["n_scored_only_b"]) == (40, 20, 20)
        assert (row["value_a"], row["value_b"]) == pytest.approx((first.mean(), second.mean()))
        assert row["p_value"] == mcnemar_p(int((first > second).sum()), int((second > first).sum()))
        assert "40 questions of one side alone left out" in row["in_words"]
    (row,) = difference_rows(one, of_matrix(b, PLACES, ids=[f"x{index}" for index in range(60)], experiment="plain"))
    assert (row["n"], row["n_scored_only_a"], row["n_scored_only_b"]) == (0, 60, 60)
    assert row["in_words"] == "no question in common, not compared"


def test_the_comparison_of_the_best_position_with_the_oracle_is_corrected_for_the_choice():
    a, b = two_conditions()
    oracle = score_rows({0: [bool(value) for value in b[:, 0]]}, size=2, experiment="plain")
    comparison = Comparison("oracle", "other", "plain")
    *each, best = difference_rows(of_matrix(a, PLACES, experiment="other"), oracle, comparison=comparison)
    assert [row["place"] for row in [*each, best]] == ["1st", "5th", "9th", "best: 1st"]
    assert (best["difference"], best["p_value"]) == (each[0]["difference"], each[0]["p_value"])
    assert best["p_holm"] == pytest.approx(min(1, 3 * best["p_value"])) and best["chosen_of"] == 3
    assert best["difference_ci_low"] < each[0]["difference_ci_low"]
    assert best["difference_ci_high"] > each[0]["difference_ci_high"]


@pytest.mark.parametrize("clustered", [False, True])
def test_a_tuned_model_is_compared_with_its_base_and_its_gap_too(clustered):
    a, b = random_matrix([0.62, 0.55, 0.6], 600, 1), random_matrix([0.75, 0.45, 0.6], 600, 2)
    more = {"cluster": [f"article {one // 4}" for one in range(600)] * 3} if clustered else {}
    sweeps = [of_matrix(of, PLACES, model=model).assign(**more) for of, model in ((a, "tuned"), (b, "base"))]
    rows = difference_rows(*sweeps, comparison=None, tuned=[("tuned", "base")])
    assert {(row["condition"], row["setting_a"], row["setting_b"]) for row in rows} == {("model", "tuned", "base")}
    (row,) = [row for row in rows if row["quantity"] == "best-worst gap"]
    gaps = [np.ptp(of.mean(axis=0)) for of in (a, b)]
    assert (row["place"], row["n"]) == ("of 3 places", 600)
    assert [row["value_a"], row["value_b"], row["difference"]] == pytest.approx([*gaps, gaps[0] - gaps[1]])
    assert row["difference_ci_high"] < 0 < row["p_holm"] < 0.05
    assert row["family"].startswith("4 of position bias") and row["in_words"].endswith("lower")


def test_a_sign_that_depends_on_the_reading_is_flagged_in_column_and_words():
    n = 400
    right = np.arange(n) < 200
    first = right & (np.arange(n) >= 20)
    sweep = score_rows({0: first.tolist()}, experiment="other")
    sweep = sweep.assign(correct_first_line=first, correct_full=np.arange(n) < 230)
    (row,) = difference_rows(sweep, score_rows({0: right.tolist()}, experiment="plain"))
    assert row["difference"] == row["difference_first_line"] == pytest.approx(-0.05)
    assert row["difference_full"] == pytest.approx(0.075)
    assert row["changes_with_reading"] and "depends on how much of the answer is read" in row["in_words"]


def judged(truth: np.ndarray, agreement: float, seed: int, **more) -> pd.DataFrame:
    """Score rows of a judge that agrees so often with the truth, each answer with its label."""
    rng = np.random.default_rng(seed)
    verdicts = np.where(rng.random(truth.shape) < agreement, truth, 1 - truth)
    strict = (truth & (rng.random(truth.shape) < 0.6)).astype(int)
    frame = of_matrix(verdicts, PLACES, metric="judged", **more)
    # The rows are position by position.
    return frame.assign(label=truth.T.ravel().astype(bool), correct_strict=strict.T.ravel().astype(bool))


def test_differences_of_judged_answers_with_labels_are_those_of_the_labels_and_wider():
    a, b = two_conditions()
    sides = judged(a, 0.7, 1, experiment="other"), judged(b, 0.9, 2, experiment="plain")
    rows = difference_rows(*sides)
    for column, row in enumerate(rows[:3]):
        assert row["difference"] == pytest.approx((a - b)[:, column].mean())
        assert (row["value_a"], row["value_b"]) == pytest.approx((a[:, column].mean(), b[:, column].mean()))
    assert rows[3]["difference"] == pytest.approx((a - b).mean())
    without = difference_rows(*(side.drop(columns="label").assign(label=None) for side in sides))
    assert without[3]["difference"] != pytest.approx((a - b).mean(), abs=0.02)


def test_without_labels_of_one_side_the_difference_is_that_of_the_judge():
    a, b = two_conditions()
    other, plain = judged(a, 0.7, 1, experiment="other"), judged(b, 0.9, 2, experiment="plain")
    rows = difference_rows(other, plain.assign(label=None))
    said = (read_grids([other, plain])["m", "other", 9].matrix, read_grids([plain])["m", "plain", 9].matrix)
    assert rows[3]["difference"] == pytest.approx((said[0] - said[1]).mean())
