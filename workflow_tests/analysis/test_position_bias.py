"""Rows of the tables on positions and models, from score rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score_frames import assert_plain, of_matrix, of_shares, random_matrix, score_rows

from litm.analysis.differences import BIAS, model_difference_rows
from litm.analysis.grid import curves
from litm.analysis.pbi import area_weights, class_words, middle_indices, pbi_class
from litm.analysis.positions import pairwise_rows, position_bias_row
from litm.analysis.power import detectable_effect, observed
from litm.analysis.significance import cochrans_q
from litm.analysis.statistics import contrast_interval, gap_interval
from litm.base.messages import UserError
from litm.claims.curve_words import words_of_scores
from litm.tables.table import tables

TABLE = tables()["position_bias"]

U = random_matrix([0.9, 0.7, 0.4, 0.5, 0.8], 120)
U_POSITIONS = (0, 2, 4, 6, 8)


def bias_row(scores: pd.DataFrame, **options: int) -> dict:
    """The row of one curve, with None for missing values."""
    return dict.fromkeys(TABLE.columns) | position_bias_row(scores, **options)


def test_the_row_is_worked_out_by_hand():
    right = {0: [1, 1, 1, 1, 0] * 8, 4: [1, 0, 0, 0, 0] * 8, 8: [1, 1, 1, 0, 0] * 8}
    row = bias_row(score_rows({position: [bool(x) for x in xs] for position, xs in right.items()}))
    assert list(row) == list(TABLE.columns)
    expected = {
        **{"model": "m", "experiment": "e", "task": "t", "metric": "best_subspan_em", "size": 9, "target": "gold"},
        **{"n": 40, "n_left_out": 0, "n_positions": 3, "verdict": "measured", "reason": None},
        **{"position_start": 0, "position_middle": 4, "position_end": 8},
        **{"accuracy_start": 0.8, "accuracy_middle": 0.2, "accuracy_end": 0.6, "accuracy_edge": 0.7},
        **{"primacy": 0.6, "recency": 0.4, "tilt": -0.2, "pbi": 0.5, "pbi_area": 0.5},
        **{"pbi_class": "strong", "position_best": 0, "position_worst": 4, "gap": 0.6, "cochran_df": 2},
        # 2·(3·(32² + 8² + 24²) - 64²) / (3·64 - 8·(9 + 4 + 4 + 1)); a question always right adds nothing
        "cochran_q": 2 * (3 * (32**2 + 8**2 + 24**2) - 64**2) / (3 * 64 - 8 * (9 + 4 + 4 + 1)),
    }
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    for name in ("primacy", "recency", "tilt", "pbi", "pbi_area"):
        assert row[f"{name}_ci_low"] < row[name] < row[f"{name}_ci_high"]
    assert row["class_certain"] is True and row["pbi_ci_low"] > 0.3
    assert 0 < row["gap_null_mean"] < row["gap_null_95"] < 0.6
    assert row["gap_p_value"] < 0.001 and row["cochran_p_value"] < 1e-6


@pytest.mark.parametrize(
    ("pbi", "low", "high", "words"),
    [
        (0.35, 0.31, 0.39, "strong"),
        (0.12, 0.06, 0.14, "weak"),
        (0.12, -0.02, 0.26, "weak, by its interval anything from flat to moderate, which contains 0"),
        (0.02, -0.02, 0.04, "flat"),
        (0.02, 0.01, 0.04, "flat, but above 0"),
        (-0.02, -0.04, -0.01, "flat, but below 0, which the suite calls inverted"),
        (-0.02, -0.08, 0.04, "flat, by its interval anything from inverted to flat"),
        (-0.2, -0.3, -0.1, "inverted"),
    ],
)
def test_the_class_in_words_names_the_classes_of_its_interval(pbi, low, high, words):
    assert class_words(pbi, low, high) == words


def test_the_row_holds_the_paired_statistics_of_the_questions():
    row = bias_row(of_matrix(U, U_POSITIONS))
    pbi, area = contrast_interval(U, (0.5, 0, -1, 0, 0.5)), contrast_interval(U, (0.25, 0.25, -1, 0.25, 0.25))
    assert (row["pbi"], row["pbi_ci_low"], row["pbi_ci_high"]) == pytest.approx((pbi.value, pbi.low, pbi.high))
    assert (row["pbi_area"], row["pbi_area_ci_low"]) == pytest.approx((area.value, area.low))
    assert row["pbi"] == pytest.approx((row["primacy"] + row["recency"]) / 2)
    assert row["pbi_mde"] == detectable_effect("pbi", len(U), observed(U[:, [0, 2, 4]]))
    gap = gap_interval(U)
    assert (row["gap_ci_low"], row["gap_ci_high"]) == pytest.approx((gap.low, gap.high))
    assert row["cochran_p_value"] == cochrans_q(U).p_value
    assert row["gap"] == pytest.approx(np.ptp(U.mean(axis=0)))


def test_the_same_rows_in_another_order_and_the_same_seed_give_the_same_row():
    scores = of_matrix(U, U_POSITIONS)
    row = bias_row(scores)
    assert bias_row(scores.sample(frac=1, random_state=1)) == row
    other = bias_row(scores, seed=1)
    assert other["gap_null_mean"] != row["gap_null_mean"]
    assert other["gap_null_mean"] == pytest.approx(row["gap_null_mean"], rel=0.05)


def test_only_questions_scored_at_every_position_count_and_the_others_are_counted():
    scores = of_matrix(U, U_POSITIONS)
    complete = of_matrix(U[4:], U_POSITIONS, ids=[f"q{index}" for index in range(4, len(U))])
    missing = (scores["id"] == "q0") & (scores["position"] == 2)
    failed = (scores["id"] == "q1") & (scores["position"] == 8)
    scores.loc[failed, "correct"] = pd.NA
    scores.loc[scores["id"].isin(["q2", "q3"]), "excluded"] = True
    row = bias_row(scores[~missing])
    assert (row["n"], row["n_left_out"]) == (len(U) - 4, 4)
    assert {**row, "n_left_out": 0} == bias_row(complete)
    assert pairwise_rows(scores[~missing]) == pairwise_rows(complete)


def test_a_question_that_occurs_twice_is_an_error_with_its_name():
    scores = of_matrix(U, U_POSITIONS)
    twice = pd.concat([scores, scores[(scores["id"] == "q7") & (scores["position"] == 4)]])
    for function in (position_bias_row, pairwise_rows, model_difference_rows):
        with pytest.raises(UserError, match="e, size 9.*: question q7 occurs twice at"):
            function(twice)


def test_rows_of_several_sweeps_or_without_positions_are_errors_with_the_reason():
    scores = of_matrix(U, U_POSITIONS)
    for column, value in {"model": "other", "experiment": "other", "size": 20}.items():
        with pytest.raises(UserError, match=f"more than one {column}"):
            bias_row(pd.concat([scores, scores.assign(**{column: value})]))
    with pytest.raises(UserError, match="no score rows with a position"):
        bias_row(scores[:0])
    # Closed-book rows of the same sweep are no position.
    closed_book = score_rows({None: [False] * len(U)})
    assert not [*curves(closed_book)]
    (curve,) = curves(pd.concat([closed_book, scores]))
    assert bias_row(curve) == bias_row(scores)


def test_targets_with_positions_of_their_own_are_compared_by_question():
    scores = of_matrix(U[:, [0, 2, 4]], (0, 4, 8))
    scores["target"] = scores["position"].map({0: "first", 4: "second", 8: "third"}).astype("string")
    row = bias_row(scores)
    assert row["target"] == "first, second, third"
    assert row["pbi"] == bias_row(of_matrix(U[:, [0, 2, 4]], (0, 4, 8)))["pbi"]


#: Accuracies at start, middle and end, and of how many questions (100 without a number); the reason why they tell
#: nothing, None if they do. The first questions are right at every position.
REASONS = [
    ((0, 0, 0), "floor"), ((0, 0.02, 0.01), "floor"), ((0.04, 0.02, 0.04), "floor"), ((1, 0.99, 1), "ceiling"),
    # 6 of 100: the interval begins at 2.5 %.
    ((0.06, 0, 0.01), None), ((0.94, 1, 0.99), None), ((1, 0.9, 1), None), ((0, 1, 0), None), ((0.5, 0.5, 0.5), None),
    ((0.02, 0, 0, 50), "floor"), ((0, 0, 0, 23), "floor"), ((0.04, 0, 0, 1000), None),
    # Few questions reach the ceiling or the floor with their intervals, and two both: 0 of 5 may be 52 %.
    *(((*[right] * 3, n), "too few questions") for right in (0, 1) for n in (5, 22)),
    *(((*right, 1), "too few questions") for right in ((1, 0, 1), (1, 1, 1), (0, 0, 0))),
    ((1, 5 / 6, 1, 6), "too few questions"), ((0.5, 0.5, 0.5, 2), "too few questions"),
]  # fmt: skip


@pytest.mark.parametrize(("accuracies", "reason"), REASONS, ids=str)
def test_a_curve_that_tells_nothing_has_a_reason_and_no_class(accuracies, reason):
    row = bias_row(of_matrix(of_shares(accuracies[:3], [*accuracies, 100][3]), (0, 4, 8)))
    assert (row["reason"], row["verdict"]) == (reason, "no_information" if reason else "measured")
    assert (row["pbi_class"] is None) == bool(reason)
    assert_plain(row)


def test_what_two_positions_and_one_question_tell_nevertheless():
    two = bias_row(of_matrix(U[:, [0, 2]], (0, 8)))
    missing = ("position_middle", "primacy", "recency", "pbi", "pbi_area", "pbi_mde", "pbi_class", "class_certain")
    assert two["verdict"] == "measured" and {two[name] for name in missing} == {None}
    assert two["tilt"] < 0 and two["tilt_ci_high"] < 0 and two["gap_p_value"] < 0.01
    for question in ([1, 0, 1], [1, 1, 1], [0, 0, 0]):
        row = bias_row(of_matrix(np.array([question]), (0, 4, 8)))
        assert row["pbi_ci_low"] < 0 and row["pbi_ci_high"] > 0.5
        assert row["gap_p_value"] > 0.3 and row["cochran_p_value"] > 0.3


def test_no_complete_question_leaves_the_counts():
    row = bias_row(score_rows({0: [True, None], 4: [None, True], 8: [True, True]}))
    assert (row["n"], row["n_left_out"], row["n_positions"]) == (0, 2, 3)
    assert (row["verdict"], row["reason"]) == ("no_information", "no question was scored at every position")
    assert row["accuracy_start"] is None and row["pbi"] is None
    assert pairwise_rows(score_rows({0: [True, None], 4: [None, True]})) == []
    assert_plain(row)
    too_long = bias_row(score_rows({0: [None, None], 4: [None, None], 8: [None, None]}, excluded=True))
    assert (too_long["verdict"], too_long["reason"]) == ("no_information", "no question fits the context")


def test_an_index_made_of_three_positions_at_the_floor_has_no_class_though_other_positions_differ():
    matrix = of_shares((0, 0, 0, 0.4, 0), 100)
    row, ceiling = bias_row(of_matrix(matrix, U_POSITIONS)), bias_row(of_matrix(1 - matrix, U_POSITIONS))
    assert (row["verdict"], row["pbi_class"], row["class_certain"]) == ("measured", None, None)
    assert row["reason"] == "floor at start, middle and end"
    assert ceiling["reason"] == "ceiling at start, middle and end"
    assert row["cochran_p_value"] < 0.001 and row["position_best"] == 6


def test_empty_answers_are_wrong_and_give_no_information():
    row = bias_row(of_matrix(np.zeros((50, 3), int), (0, 4, 8), empty=True))
    assert (row["verdict"], row["reason"]) == ("no_information", "all answers are empty")
    assert row["accuracy_start"] == 0 and row["pbi"] == 0 and row["pbi_class"] is None
    assert row["pbi_ci_low"] < 0 < row["pbi_ci_high"]
    assert (row["gap"], row["gap_p_value"], row["cochran_p_value"]) == (0, 1, 1)
    assert row["position_best"] is None and row["position_worst"] is None
    assert_plain(row)


@settings(max_examples=40)
@given(st.data())
def test_no_row_ever_has_a_nan_and_every_value_lies_in_its_interval(data):
    positions = data.draw(st.lists(st.integers(0, 8), min_size=2, max_size=5, unique=True))
    n = data.draw(st.integers(1, 6))
    answers = st.lists(st.sampled_from([True, False, None]), min_size=n, max_size=n)
    scores = score_rows({position: data.draw(answers) for position in positions})
    row = bias_row(scores, permutations=20)
    assert list(row) == list(TABLE.columns)
    for name in ("primacy", "recency", "tilt", "pbi", "pbi_area"):
        if row[name] is not None:
            assert row[f"{name}_ci_low"] <= row[name] <= row[f"{name}_ci_high"]
    for each in (row, *pairwise_rows(scores)):
        assert_plain(each)
    table = TABLE.frame([row])
    assert "nan" not in table.to_csv().lower()


def test_the_largest_possible_index_lies_in_its_interval_though_weights_are_rounded():
    row = bias_row(of_matrix(np.array([[1, 0, 0, 0, 1]]), (0, 3, 4, 5, 6)))
    assert row["pbi_area"] == 1 and row["pbi_area_ci_high"] >= 1


def test_classes_and_their_bounds():
    classes = {0.31: "strong", 0.3: "moderate", (0.8 + 1.0) / 2 - 0.6: "moderate", 0.16: "moderate", 0.15: "weak"}
    classes |= {0.06: "weak", 0.05: "flat", 0.0: "flat", -0.05: "flat", -0.051: "inverted"}
    assert {pbi: pbi_class(pbi) for pbi in classes} == classes


def test_a_class_is_certain_only_if_the_whole_interval_lies_inside_it():
    def row_of(counts: tuple[int, int, int]) -> dict:
        return bias_row(of_matrix(np.repeat([[1, 0, 1], [1, 1, 1], [0, 0, 0]], counts, axis=0), (0, 4, 8)))

    few, many, weak = (row_of(counts) for counts in [(20, 15, 15), (400, 300, 300), (14, 43, 43)])
    assert few["pbi"] == many["pbi"] == 0.4
    assert [row["pbi_class"] for row in (few, many, weak)] == ["strong", "strong", "weak"]
    assert few["pbi_ci_low"] < 0.3 < many["pbi_ci_low"] and 0.05 < weak["pbi_ci_low"] < 0.15 < weak["pbi_ci_high"]
    assert [row["class_certain"] for row in (few, many, weak)] == [False, True, False]


def test_the_middle_is_the_inner_position_nearest_to_the_half_or_two_that_are_equally_near():
    middles = {(0, 0.25, 0.5, 1): (2,), (0, 0.4, 0.6, 1): (1, 2), (0, 24 / 74, 49 / 74, 1): (1, 2), (0.4, 0.9, 1): (1,)}
    middles |= {(0, 0.49, 0.5, 0.51, 1): (2,), (0, 0.48, 0.49, 0.52, 1): (2, 3), (0, 0.3, 0.67, 1): (2,)}
    middles |= {(0, 0.5): (), (0,): (), (0, 1 / 3, 2 / 3, 1): (1, 2)}  # in floating point 2/3 is the nearer one
    assert {depths: middle_indices(depths) for depths in middles} == middles


@pytest.mark.parametrize(
    ("positions", "missing"),
    [
        ((0, 1, 8), "middle (1st, 2nd, 9th)"), ((0, 1, 2), "middle or the end (1st, 2nd, 3rd)"),
        ((0, 1, 7, 8), "middle (1st, 2nd, 8th, 9th)"), ((3, 4, 5), "start or the end (4th, 5th, 6th)"),
        ((0, 2, 8), "middle (1st, 3rd, 9th)"), ((3, 8), "start (4th, 9th)"),
        ((2, 3, 6), None), ((2, 5, 6), None), ((2, 6), None),
    ],
)  # fmt: skip
def test_a_curve_without_a_position_near_start_middle_or_end_has_a_reason_instead_of_an_index(positions, missing):
    scores = of_matrix(of_shares([0.2, *[0.6] * (len(positions) - 2), 0.8]), positions)
    row = bias_row(scores)
    assert (row["verdict"], row["reason"]) == ("measured", missing and f"no position is near the {missing}")
    has_index = len(positions) > 2 and not missing
    assert [bool(found) for found in (row["pbi"], row["pbi_class"], words_of_scores([scores], []))] == [has_index] * 3
    for place, at in (("start", 0), ("end", -1)):
        assert row[f"position_{place}"] == (None if missing and place in missing else positions[at])
    has_ends = "start" not in f"{missing}" and "end" not in f"{missing}"
    assert (row["accuracy_edge"] is not None) == (row["tilt"] is not None) == has_ends


def test_mirrored_curves_of_four_positions_have_the_same_index():
    answers = np.repeat([[1, 0, 1, 1], [1, 1, 0, 1], [0, 0, 0, 1], [1, 0, 1, 0]], (12, 5, 3, 4), axis=0)
    row, mirrored = (bias_row(of_matrix(of, (0, 3, 5, 8))) for of in (answers, answers[:, ::-1]))
    assert row["accuracy_middle"] == mirrored["accuracy_middle"] == (5 + 16) / 48
    assert row["position_middle"] is mirrored["position_middle"] is None
    assert [row[name] for name in BIAS] == [mirrored[name] for name in ("recency", "primacy", "pbi")]
    assert row["pbi"] == pytest.approx((21 / 24 + 20 / 24) / 2 - 21 / 48) and row["pbi_class"] == "strong"


def test_the_area_version_weighs_each_outer_third_the_same():
    assert area_weights([0, 0.5, 1]) == [0.5, -1, 0.5]
    assert area_weights([0, 3 / 9, 4 / 9, 5 / 9, 6 / 9, 1]) == [0.25, 0.25, -0.5, -0.5, 0.25, 0.25]
    assert area_weights([0, 0.1, 0.2, 0.5, 1]) == pytest.approx([1 / 6, 1 / 6, 1 / 6, -1, 0.5])
    assert area_weights([0, 0.2, 1]) is None
    assert area_weights([0.5]) is None


def test_the_markdown_has_index_limits_class_edge_and_middle_of_each_curve_or_a_reason():
    curve = {"model": "m", "experiment": "e", "size": 10, "items": 10, "n_positions": 3, "n": 100}
    measured = {
        "pbi": 0.123456, "pbi_ci_low": 0.05, "pbi_ci_high": 0.2, "accuracy_edge": 0.9, "accuracy_middle": 0.776544,
        "pbi_class": "weak", "class_certain": False,
    }  # fmt: skip
    rows = [curve | measured, curve | {"pbi": 0.0, "reason": "floor"}]
    heading, _, *lines = TABLE.markdown(TABLE.frame(rows)).splitlines()
    names, first, second = ([cell.strip() for cell in line.split("|")[1:-1]] for line in (heading, *lines))
    assert [*zip(names, first, strict=True)] == [
        ("Model", "m"), ("Experiment", "e"), ("Size", "10"), ("Items", "10"), ("Placement", ""), ("n", "100"),
        ("PBI", "12.3 [5.0, 20.0]"), ("Primacy", ""), ("Recency", ""), ("Edge", "90.0"), ("Middle", "77.7"),
        ("Class", "weak"), ("Certain", "no"), ("No information", ""),
    ]  # fmt: skip
    assert second[6:] == ["0.0", *[""] * 6, "floor"]
