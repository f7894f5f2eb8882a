"""Comparisons of experiments that differ in one condition, found from their keys."""

import pytest
from conftest import ROOT

from litm.base.messages import UserError
from litm.config.conditions import find_comparisons
from litm.config.study import load_study
from litm.records import Comparison

QA = {"task": "multi_document_qa", "dataset": "mini_encyclopedia_bm25", "positions": {3: [0, 1, 2], 5: [0, 2, 4]}}


def comparisons(**experiments):
    """Comparisons of these experiments, each given by its differences from `QA`, without those of sizes."""
    define = {"experiments": {name: {**QA, "examples": 20, **keys} for name, keys in experiments.items()}}
    config = {"models": ["reference"], "experiments": list(experiments), "seed": 0, "define": define}
    found = find_comparisons(load_study(config, ROOT).experiments)
    return [one for one in found if one.condition != "size"]


def test_experiments_that_differ_in_one_key_are_compared_the_later_one_minus_the_earlier():
    assert comparisons(ranked={}, shuffled={"distractor_order": "random"}) == [
        Comparison("distractor_order", "shuffled", "ranked", "random", "ranked", (3, 5))
    ]
    assert comparisons(plain={}, aware={"prompt": "multi_document_qa_query_aware", "positions": {5: [0, 4]}}) == [
        Comparison("prompt", "aware", "plain", "multi_document_qa_query_aware", "multi_document_qa", (5,))
    ]


def test_datasets_are_compared_size_by_size():
    by_size = {"3": "mini_encyclopedia_bm25", "5": "nq_open_20_documents"}
    assert comparisons(one={}, two={"dataset": by_size}) == [
        Comparison("dataset", "two", "one", "nq_open_20_documents", "mini_encyclopedia_bm25", (5,))
    ]


def test_experiments_that_differ_in_two_keys_or_in_their_questions_are_not_compared():
    aware = {"prompt": "multi_document_qa_query_aware", "distractor_order": "random"}
    assert comparisons(one={}, two=aware) == []
    assert comparisons(one={}, two={"prompt": "multi_document_qa_query_aware", "examples": 10}) == []
    assert comparisons(one={}, two={}) == []


def test_a_declared_pair_is_compared_for_any_differences_as_the_declaring_side_minus_the_other():
    aware = {"prompt": "multi_document_qa_query_aware", "distractor_order": "random", "compared_with": ["two"]}
    assert comparisons(one=aware, two={}) == [
        Comparison(
            "distractor_order + prompt", "one", "two", "random, multi_document_qa_query_aware",
            "ranked, multi_document_qa", (3, 5),
        )
    ]  # fmt: skip


def test_an_experiment_is_compared_with_the_references_that_it_names():
    config = {"models": ["reference"], "seed": 0}
    config["experiments"] = ["mini_encyclopedia_qa", "mini_encyclopedia_closed_book", "mini_encyclopedia_oracle"]
    found = find_comparisons(load_study(config, ROOT).experiments)
    assert [(one.condition, one.experiment_b) for one in found] == [
        ("size", "mini_encyclopedia_qa"),
        ("oracle", "mini_encyclopedia_oracle"),
        ("closed_book", "mini_encyclopedia_closed_book"),
    ]


def test_generated_sizes_are_not_compared_because_their_questions_are_others():
    config = {"models": ["reference"], "experiments": ["kv_retrieval_small"], "seed": 0}
    assert find_comparisons(load_study(config, ROOT).experiments) == []


@pytest.mark.parametrize(("named", "why"), [("nobody", "unknown"), ("one", "itself")])
def test_a_comparison_with_no_experiment_or_with_itself_is_refused(named, why):
    with pytest.raises(UserError, match=rf"experiments.one.compared_with.*{why}"):
        comparisons(one={"compared_with": [named]})


# --- Figures of differences, and clusters -----------------------------------------------------------------------


def study(experiments, **more):
    return load_study({"models": ["reference"], "experiments": experiments, "seed": 0, **more}, ROOT)


SHUFFLED = {"shuffled": {**QA, "distractor_order": "random", "examples": 20}, "ranked": {**QA, "examples": 20}}
FIGURE = {"differences": {"kind": "condition_differences", "experiments": ["shuffled", "ranked"]}}


def test_a_figure_of_differences_is_drawn_where_its_experiments_are_compared_and_leaves_the_curves_to_others():
    figures = study(["ranked", "shuffled"], define={"experiments": SHUFFLED, "figures": FIGURE}).figures
    assert {"differences", "ranked", "shuffled"} <= set(figures)
    other = {**SHUFFLED, "shuffled": {**SHUFFLED["shuffled"], "prompt": "multi_document_qa_query_aware"}}
    figures = study(["ranked", "shuffled"], define={"experiments": other, "figures": FIGURE}).figures
    assert "differences" not in figures


def test_tuned_models_are_drawn_only_beside_their_base():
    both = {"models": ["mpt-30b", "mpt-30b-instruct"], "experiments": ["multi_document_qa"], "seed": 0}
    assert "differences_tuning" in load_study(both, ROOT).figures
    assert "differences_tuning" not in load_study({**both, "models": ["mpt-30b-instruct"]}, ROOT).figures


def test_a_cluster_changes_the_examples_and_no_cluster_leaves_their_settings_as_they_were():
    plain, clustered = (
        study(["one"], define={"experiments": {"one": {**QA, "examples": 20, **keys}}}).experiments["one"]
        for keys in ({}, {"cluster": "title"})
    )
    assert "cluster" not in plain.example_settings() and "cluster" not in plain.settings()
    assert clustered.example_settings() == {**plain.example_settings(), "cluster": "title"}


def test_generated_questions_take_no_cluster():
    define = {"experiments": {"kv_retrieval_small": {"cluster": "title"}}}
    with pytest.raises(UserError, match="kv_retrieval_small.*'cluster' is for questions from a file"):
        study(["kv_retrieval_small"], define=define)
