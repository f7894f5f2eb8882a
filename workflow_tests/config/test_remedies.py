"""Experiments with remedies: their conditions, and mistakes in them."""

import configs
from plans import inputs_of, of

OPEN = {"task": "open_domain_qa", "dataset": "mini_encyclopedia_as_retrieved", "sizes": [1, 3, 4], "examples": 20}


def study(remedies=None, experiments=("open",), only=None, **keys):
    entry = {**OPEN, **keys, **({"remedies": remedies} if remedies is not None else {})}
    selected = {"models": ["reference", "dummy"], "experiments": list(experiments), "only": only or {}}
    return configs.study(**selected, **configs.define("experiments", open=entry))


def test_each_remedy_is_an_experiment_at_the_sizes_where_its_prompts_are_others():
    remedies = {
        "order": ["reversed", "ends", "ends_langchain"],
        "rerank": ["bm25_fusion"],
        "cut": [{"margin": 2.5}],
        "prompt": ["multi_document_qa_query_aware"],
    }
    assert {name: [cell.size for cell in one.cells] for name, one in study(remedies).experiments.items()} == {
        "open": [1, 3, 4],
        # One document has no order.
        "open-reversed": [3, 4],
        "open-ends": [3, 4],
        # Of three documents it is the order `ends`.
        "open-ends_langchain": [4],
        "open-bm25_fusion": [1, 3, 4],
        # The best document is always shown.
        "open-margin_2_5": [3, 4],
        "open-multi_document_qa_query_aware": [1, 3, 4],
    }


def test_any_two_remedies_of_different_keys_are_tried_together_where_that_is_asked_for():
    # But for a reranker and a cut: the scores of a reranker have another scale.
    remedies = {"order": ["reversed", "random"], "rerank": ["bm25_fusion"], "cut": [{"score": 3}], "together": 2}
    found = study(remedies).experiments
    together = [name for name in found if name.count("-") == 2]
    assert together == [
        "open-reversed-bm25_fusion", "open-random-bm25_fusion", "open-reversed-score_3", "open-random-score_3",
    ]  # fmt: skip
    both = found["open-reversed-bm25_fusion"]
    assert (both.order, both.rerank, both.cut) == ("reversed", "bm25_fusion", None)


def test_a_condition_is_named_by_its_differences_from_documents_as_retrieved():
    found = study({"order": ["reversed"], "cut": [{"margin": 2}]}).conditions
    assert [(one.experiment, one.study, one.is_plain, one.differing) for one in found.values()] == [
        ("open", "open", True, ()),
        ("open-reversed", "open", False, ("order",)),
        ("open-margin_2", "open", False, ("cut",)),
    ]


def test_settings_of_examples_without_a_remedy_are_those_of_before():
    plain, clustered = study().experiments["open"], study(cluster="title").experiments["open"]
    assert plain.example_settings().keys() == {"examples", "seed", "distractor_order", "selection", "labels"}
    assert not {"order", "rerank", "cut", "remedies", "cluster"} & plain.settings().keys()
    assert clustered.example_settings() == {**plain.example_settings(), "cluster": "title"}


def test_a_model_that_runs_an_experiment_with_remedies_runs_its_conditions_which_can_be_selected_alone():
    closed = "mini_encyclopedia_closed_book"
    limited = study({"order": ["reversed"]}, ["open", closed], only={"dummy": [closed]})
    own = [("reference", "open"), ("reference", "open-reversed"), ("reference", closed)]
    assert limited.pairs() == [*own, ("dummy", closed)]
    assert list(study({"order": ["reversed"]}, ["open-reversed"]).experiments) == ["open-reversed"]


def test_only_a_random_order_depends_on_the_seed():
    found = study({"order": ["reversed", "random"]}).experiments
    assert found["open-reversed"].example_settings()["seed"] is None
    assert found["open-random"].example_settings()["seed"] == 0


def test_reranked_documents_are_made_of_the_dataset_and_the_paper_s_claims_are_of_the_plain_ones():
    inputs = inputs_of(study({"rerank": ["bm25_fusion"], "order": ["reversed"]}))
    made_of = inputs.sweeps.dataset(of(experiment="open-bm25_fusion", size="3"))
    assert made_of == ["results/reranked/bm25_fusion/mini_encyclopedia_as_retrieved.jsonl.gz"]
    reranked = inputs.data.as_retrieved([inputs.study.experiments["open-bm25_fusion"]])
    assert (list(inputs.tables.claim_recall), reranked) == (["open"], [])


def test_cuts_that_differ_in_the_last_digit_are_two_conditions():
    found = study({"cut": [{"margin": 3}, {"margin": 3.0000001}, {"score": 1234567.5}, {"score": 2.0}]}).conditions
    assert {name: one.cut for name, one in found.items()} == {
        "open": "",
        "open-margin_3": "scores at most 3 below the best",
        "open-margin_3_0000001": "scores at most 3.0000001 below the best",
        "open-score_1234567_5": "scores of at least 1234567.5",
        "open-score_2": "scores of at least 2",
    }
