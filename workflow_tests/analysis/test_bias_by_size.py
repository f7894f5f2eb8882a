"""How the position bias changes with the size: paired and unpaired differences, and what they say."""

import pandas as pd
import pytest
from score_frames import assert_plain, of_matrix, of_shares, score_rows, sized_scores

from litm.analysis.differences import bias_by_size_rows
from litm.analysis.grid import read_grids
from litm.tables.table import tables

TABLE = tables()["bias_by_size"]

N = 200


def rows_of(*sweeps: pd.DataFrame) -> list[dict]:
    return list(bias_by_size_rows(read_grids(sweeps)))


@pytest.mark.parametrize("own_questions", [False, True])
def test_each_size_is_compared_with_the_smallest(own_questions):
    accuracies = {10: (0.9, 0.8, 0.9), 20: (0.9, 0.5, 0.8), 40: (0.9, 0.8, 0.9)}
    rows = rows_of(sized_scores(accuracies, own_questions=own_questions))
    assert [(row["size"], row["size_smallest"]) for row in rows] == [(20, 10), (40, 10)]
    first, second = rows
    assert (first["is_paired"], first["n"], first["n_smallest"]) == (not own_questions, N, N)
    assert first["pbi"] == pytest.approx(0.35) and first["pbi_smallest"] == pytest.approx(0.1)
    assert first["difference_pbi"] == pytest.approx(0.25)
    assert 0 < first["difference_pbi_ci_low"] < 0.25 < first["difference_pbi_ci_high"]
    assert first["difference_primacy"] == pytest.approx(0.3) and first["difference_recency"] == pytest.approx(0.2)
    assert first["in_words"] == "PBI 25.0 points higher than at the smallest size"
    assert second["in_words"] == "not shown to differ"
    for row in rows:
        assert_plain(row)
        assert set(row) == set(TABLE.columns)


def test_less_bias_is_said_and_few_questions_show_nothing():
    shares = {10: (0.9, 0.4, 0.9), 20: (0.9, 0.9, 0.9)}
    (shown,) = rows_of(sized_scores(shares, own_questions=True))
    assert shown["in_words"] == "PBI 50.0 points lower than at the smallest size"
    (few,) = rows_of(sized_scores({10: (0.8, 0.6, 0.8), 20: (0.8, 0.8, 0.8)}, own_questions=True, n=10))
    assert few["in_words"] == "not shown to differ"


def test_the_words_count_the_models_and_sizes_of_the_experiment():
    small = sized_scores({10: (0.8, 0.7, 0.8), 20: (0.82, 0.63, 0.82)}, own_questions=True)
    (alone,) = rows_of(small)
    among = rows_of(*(small.assign(model=f"m{number}") for number in range(18)))
    assert alone["in_words"].startswith("PBI 9.0 points higher") and {row["in_words"] for row in among} == {
        "not shown to differ"
    }
    assert {row["difference_pbi_ci_low"] for row in among} == {alone["difference_pbi_ci_low"]}


def test_places_at_other_depths_are_told():
    thirds = of_matrix(of_shares((0.9, 0.5, 0.5, 0.9)), (0, 30, 70, 99), size=100)
    (row,) = rows_of(thirds, sized_scores({200: (0.9, 0.5, 0.9)}))
    depths = "0.00, 0.50, 1.00 of the context at one size, and 0.00, 0.30 and 0.71, 1.00 at the other"
    assert row["in_words"] == f"not shown to differ; start, middle and end are at depths {depths}"


def test_questions_of_both_sizes_are_paired_and_others_are_not_counted():
    scores = sized_scores({10: (0.9, 0.5, 0.9), 20: (0.9, 0.5, 0.9)})
    dropped = (scores["size"] == 20) & scores["id"].isin(scores["id"].unique()[:50])
    (row,) = rows_of(scores[~dropped])
    assert (row["is_paired"], row["n"], row["n_smallest"]) == (True, N - 50, N - 50)


def test_a_size_without_a_scored_question_is_not_compared():
    scores = sized_scores({10: (0.9, 0.5, 0.9), 20: (0.9, 0.5, 0.9)}, own_questions=True)
    scores["excluded"] = scores["size"] == 20
    (row,) = rows_of(scores)
    assert row["n"] == 0 and "not compared" in row["in_words"] and "difference_pbi" not in row


def test_curves_without_a_middle_have_no_row():
    scores = score_rows({0: [True], 9: [False]}, size=10)
    assert rows_of(pd.concat([scores, scores.assign(size=20)])) == []


def test_sizes_of_judged_answers_with_labels_are_compared_by_the_labels():
    sizes = {10: (0.9, 0.4, 0.9), 20: (0.9, 0.7, 0.9)}
    judged = sized_scores(sizes, metric="judged")
    # The judge calls all wrong answers of the larger contexts right, and those of the smaller ones by turns.
    right = judged["correct"].astype(bool)
    number = judged["id"].str.removeprefix("q").astype(int)
    said = right | (judged["size"] == 20) & (number % 4 > 0) | (number % 2 == 0)
    frame = judged.assign(correct=said, label=right, correct_strict=right & (number % 3 == 0))
    (row,) = rows_of(frame)
    assert row["difference_pbi"] == pytest.approx(0.2 - 0.5) and row["pbi"] == pytest.approx(0.2)
    (alone,) = rows_of(frame.assign(label=None))
    assert alone["difference_pbi"] != pytest.approx(-0.3, abs=0.02)
