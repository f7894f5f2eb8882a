"""Paired differences of positions and of models, and utilisation."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from score_frames import assert_plain, of_matrix, random_matrix, score_rows

from litm.analysis.cells import utilisation_rows
from litm.analysis.differences import model_difference_rows, model_differences_table
from litm.analysis.grid import Files
from litm.analysis.positions import pairwise_rows
from litm.analysis.significance import holm, mcnemar_p
from litm.analysis.statistics import paired_difference
from litm.base.messages import UserError

U = random_matrix([0.9, 0.7, 0.4, 0.5, 0.8], 120)
U_POSITIONS = (0, 2, 4, 6, 8)


def test_a_row_for_each_pair_of_positions_with_its_test():
    rows = pairwise_rows(of_matrix(U, U_POSITIONS))
    assert [(row["position_a"], row["position_b"]) for row in rows] == list(combinations(U_POSITIONS, 2))
    assert [row["p_holm"] for row in rows] == holm([row["p_value"] for row in rows])
    for row in rows:
        first, second = U_POSITIONS.index(row["position_a"]), U_POSITIONS.index(row["position_b"])
        only_a, only_b = ((U[:, one] > U[:, other]).sum() for one, other in ((first, second), (second, first)))
        assert (row["n_right_only_a"], row["n_right_only_b"], row["n"]) == (only_a, only_b, 120)
        assert row["p_value"] == mcnemar_p(only_a, only_b)
        assert row["accuracy_a"] - row["accuracy_b"] == pytest.approx(row["difference"])
        assert row["accuracy_a"] == pytest.approx(U[:, first].mean())
        assert row["ci_low"] < row["difference"] < row["ci_high"]


def three_models() -> tuple[pd.DataFrame, dict[str, dict[str, bool]]]:
    """Scores at position 4: a and b share 60 questions, c has others."""
    matrix = random_matrix([0.8, 0.5, 0.6], 80, 3)
    parts, answers = [], {}
    for column, (model, ids) in enumerate({"a": range(70), "b": range(10, 80), "c": range(500, 580)}.items()):
        names = [f"q{index}" for index in ids]
        right = [bool(matrix[index % 500, column]) for index in ids]
        parts += [score_rows({4: right}, ids=names, model=model), score_rows({8: right}, ids=names, model=model)]
        answers[model] = dict(zip(names, right, strict=True))
    return pd.concat(parts), answers


def test_models_are_compared_within_their_experiment_for_any_order_of_files(tmp_path):
    sweeps = {
        (model, experiment): of_matrix(random_matrix([0.7, 0.5], 40, seed), (0, 8), model=model, experiment=experiment)
        for seed, (model, experiment) in enumerate(product("abc", ("one", "two")), start=1)
    }
    del sweeps["a", "two"]
    paths = [str(tmp_path / f"{model}_{experiment}.parquet") for model, experiment in sweeps]
    for path, scores in zip(paths, sweeps.values(), strict=True):
        scores.to_parquet(path, index=False)
    rows = list(model_differences_table(Files(paths)))
    expected = model_difference_rows(pd.concat(sweeps.values()))
    corrected = holm([row["p_value"] for row in expected])
    assert rows == [row | {"p_holm_all": p} for row, p in zip(expected, corrected, strict=True)]
    assert len(rows) == 2 * (3 + 1)


def test_models_are_compared_on_the_questions_both_have_and_the_others_are_counted():
    scores, answers = three_models()
    rows = model_difference_rows(scores)
    assert [(row["position"], row["model_a"], row["model_b"]) for row in rows] == [
        (position, *pair) for position in (4, 8) for pair in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    shared = [id for id in answers["a"] if id in answers["b"]]
    a, b = (np.array([answers[model][id] for id in shared]) for model in "ab")
    only_a, only_b = int((a > b).sum()), int((b > a).sum())
    expected, row = paired_difference(only_a, only_b, 60), rows[0]
    assert (row["n"], row["n_scored_only_a"], row["n_scored_only_b"]) == (60, 10, 10)
    assert (row["accuracy_a"], row["accuracy_b"]) == (sum(a) / 60, sum(b) / 60)
    assert (row["difference"], row["ci_low"]) == (expected.value, expected.low)
    assert row["p_value"] == row["p_holm"] == mcnemar_p(only_a, only_b) < 0.05


def test_models_with_different_questions_have_counts_and_no_difference():
    rows = [row for row in model_difference_rows(three_models()[0]) if row["model_b"] == "c"]
    for row in rows:
        assert (row["n"], row["n_scored_only_a"], row["n_scored_only_b"]) == (0, 70, 80)
        assert all(row.get(name) is None for name in ("accuracy_a", "accuracy_b", "difference", "p_value", "p_holm"))
        assert_plain(row)


def test_different_experiments_sizes_and_placements_are_not_compared():
    scores = of_matrix(U, U_POSITIONS)
    others = [scores.assign(model="n", experiment="other"), scores.assign(model="n", size=20)]
    assert model_difference_rows(pd.concat([scores, *others])) == []
    assert model_difference_rows(scores) == []


def test_closed_book_answers_of_models_are_compared_too_and_unscored_ones_are_not():
    first = score_rows({None: [True, True, False, None]}, model="a")
    second = score_rows({None: [False, True, False, True]}, model="b")
    second.loc[second["id"] == "q1", "excluded"] = True
    (row,) = model_difference_rows(pd.concat([first, second]))
    assert (row["position"], row["depth"], row["difference"]) == (None, None, 0.5)
    assert (row["n"], row["n_scored_only_a"], row["n_scored_only_b"]) == (2, 1, 1)
    assert_plain(row)


def test_holm_is_over_the_pairs_of_models_of_a_cell():
    truths = ([0.9, 0.5], [0.7, 0.6], [0.5, 0.7])
    scores = (of_matrix(random_matrix(truth, 100, 5), (4, 8), model=f"{truth}") for truth in truths)
    rows = model_difference_rows(pd.concat(scores))
    for position in (4, 8):
        cell = [row for row in rows if row["position"] == position]
        assert [row["p_holm"] for row in cell] == holm([row["p_value"] for row in cell]) and len(cell) == 3


def test_utilisation_is_over_the_questions_with_all_three_answers():
    matrix = random_matrix([0.2, 0.5, 0.8], 200, 6)
    ids = [f"q{index}" for index in range(200)]
    closed, middle, oracle = ([bool(value) for value in column] for column in matrix.T)
    scores = score_rows({4: middle[20:]}, ids=ids[20:])
    book, best = score_rows({None: closed}, ids=ids), score_rows({None: oracle[:150]}, ids=ids[:150])
    (row,) = utilisation_rows(scores, book, best)
    accuracies = matrix[20:150].mean(axis=0)
    assert row["n"] == 130 and row["position"] == 4 and row["model"] == "m"
    assert (row["accuracy_closed_book"], row["accuracy"], row["accuracy_oracle"]) == pytest.approx(tuple(accuracies))
    assert row["utilisation"] == pytest.approx((accuracies[1] - accuracies[0]) / (accuracies[2] - accuracies[0]))
    assert row["utilisation_ci_low"] < row["utilisation"] < row["utilisation_ci_high"]
    # Accuracies beside it count the same clusters, also those of references that have none.
    topics = [f"topic {number // 40}" for number in range(20, 200)]
    (clustered,) = utilisation_rows(scores.assign(cluster=topics), book, best)
    for name in ("accuracy", "accuracy_closed_book", "accuracy_oracle"):
        assert clustered[name] == row[name] and clustered[f"{name}_ci_low"] < row[f"{name}_ci_low"] - 0.01
    with pytest.raises(UserError, match="question q0 occurs twice at model m"):
        list(utilisation_rows(scores, pd.concat([book, book]), best))


def test_without_a_shared_question_or_a_use_of_the_context_there_is_no_utilisation():
    scores = score_rows({4: [True, False] * 50})
    same = score_rows({None: [True, False] * 50})
    for book, best, n in [(same, same, 100), (same.assign(model="other"), same, 0), (same[:0], same, 0)]:
        (row,) = utilisation_rows(scores, book, best)
        assert (row["n"], row["utilisation"], row["utilisation_ci_low"]) == (n, None, None)
        assert (row["accuracy"] is None) == (n == 0)
        assert_plain(row)
