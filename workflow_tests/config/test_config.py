"""The configuration: the catalogues, and the selection of a config."""

import pytest
import yaml
from configs import DEFAULT, KV, config, define
from conftest import ROOT

from litm.config.catalogue import CATALOGUES, merge_catalogue
from litm.config.study import load_study
from litm.records import Cell


def test_the_default_config_selects_a_real_model_and_experiments_without_downloads():
    study = load_study(yaml.safe_load((ROOT / "config" / "config.yaml").read_text()), ROOT)
    assert list(study.models) == ["smollm2-135m-instruct-q4_1"]
    references = ["mini_gazetteer_closed_book", "mini_gazetteer_oracle"]
    assert list(study.experiments) == [*references, "mini_gazetteer_qa", "three_needles_small"]
    assert list(study.figures) == ["mini_gazetteer_qa", "three_needles_small"]


def test_the_toy_config_selects_the_reference_model_and_tasks_of_its_size():
    study = load_study(DEFAULT, ROOT)
    assert list(study.models) == ["reference"]
    assert list(study.experiments) == [
        "kv_retrieval_small", "needle_in_haystack_small", "mini_encyclopedia_qa", "mini_encyclopedia_closed_book",
        "mini_encyclopedia_oracle",
    ]  # fmt: skip
    curves = ["kv_retrieval_small", "needle_in_haystack_small", "mini_encyclopedia_qa"]
    assert list(study.figures) == [f"{name}{end}" for name in curves for end in ("", "_heatmap", "_by_size")]


def test_every_entry_of_the_catalogues_is_valid():
    names = {kind: list(yaml.safe_load((ROOT / "config" / f"{kind}.yaml").read_text())) for kind in CATALOGUES}
    selected = {kind: names[kind] for kind in ("models", "experiments")}
    supplied = define("datasets", unambiguous_questions={"path": "LICENSE"})
    study = load_study(config(**selected, **supplied), ROOT)
    of_remedies = {name for name, condition in study.conditions.items() if not condition.is_plain}
    assert [name for name in study.experiments if name not in of_remedies] == names["experiments"]
    # Of models that are no longer offered the responses are the user's to supply.
    assert set(names["figures"]) - set(study.figures) == {"figure1"}


def test_an_empty_define_is_none():
    assert load_study(config(define=None), ROOT) == load_study(config(define={"models": None}), ROOT)


def test_cells_are_in_the_order_of_sizes_and_positions():
    study = load_study(
        config(experiments=["x"], **define("experiments", x={**KV, "positions": {"10": [9, 0], 4: [3]}})), ROOT
    )
    assert study.experiments["x"].cells == (Cell(4, "gold_at_3"), Cell(10, "gold_at_0"), Cell(10, "gold_at_9"))


def test_a_defined_entry_of_a_known_name_replaces_single_keys():
    study = load_study(config(**define("models", reference={"dtype": "bfloat16"})), ROOT)
    assert study.models["reference"].dtype == "bfloat16"
    assert study.models["reference"].path.endswith("resources/reference_model")
    assert merge_catalogue({"a": {"x": 1, "y": 2}}, {"a": {"y": 3}, "b": {}}) == {"a": {"x": 1, "y": 3}, "b": {}}


def test_depths_in_tokens_replace_the_positions_of_a_catalogue_entry():
    entry = {"positions": None, "tokens_of": "mpt-30b-instruct", "depths": {500: [1, 0], 1000: [0.5]}}
    study = load_study(
        config(experiments=["suite_needle_in_haystack"], **define("experiments", suite_needle_in_haystack=entry)), ROOT
    )
    assert study.experiments["suite_needle_in_haystack"].cells == (
        Cell(500, "gold_at_depth_0"), Cell(500, "gold_at_depth_1"), Cell(1000, "gold_at_depth_0.5")
    )  # fmt: skip
    assert list(study.models) == ["reference"] and list(study.token_models) == ["mpt-30b-instruct"]
    assert study.figures["suite_needle_in_haystack"].panel_title == "{size} tokens"


def test_model_defaults_fill_in_what_an_entry_leaves_out_and_four_bits_are_part_of_the_identity():
    entries = {"m": {"engine": "transformers", "hub": "a/b", "prompt_template": "raw"}}
    study = load_study(
        config(models=["reference", "m"], model_defaults={"quantization": "nf4"}, **define("models", **entries)), ROOT
    )
    assert study.models["m"].answer_settings()["quantization"] == "nf4"
    assert "quantization" not in study.models["reference"].answer_settings()


def test_changed_configuration_values_are_part_of_the_identity_and_absent_without_changes():
    changes = {"rope_parameters": {"rope_type": "linear", "factor": 8.0}}
    plain, changed = (
        load_study(
            config(
                models=["m"],
                **define("models", m={"engine": "transformers", "hub": "a/b", "prompt_template": "raw", **more}),
            ),
            ROOT,
        )
        for more in ({}, {"config": changes})
    )
    assert plain.models["m"].answer_settings() == {
        "engine": "transformers", "dtype": "auto", "attention": "sdpa", "prompt_template": "raw"
    }  # fmt: skip
    assert plain.models["m"].location() == {"path": None, "hub": "a/b", "revision": None}
    assert changed.models["m"].answer_settings()["config"] == changed.models["m"].location()["config"] == changes


@pytest.mark.parametrize("model", ["qwen2.5-1.5b-instruct", "llama-3.2-1b-instruct"])
def test_the_suite_s_own_models_are_in_the_catalogue_and_loaded_in_four_bits_there(model):
    suite = yaml.safe_load((ROOT / "config" / "suite.yaml").read_text())
    study = load_study(config(**{**suite, "models": [model]}), ROOT)
    assert study.models[model].quantization == "nf4" and len(study.sweeps) == 7


def test_100_pairs_of_the_suite_can_be_run_alone():
    for chosen in (
        define("experiments", suite_kv_retrieval={"sizes": [100]}),
        {"only": {"reference": [{"suite_kv_retrieval": [100]}]}},
    ):
        study = load_study(config(models=["reference"], experiments=["suite_kv_retrieval"], **chosen), ROOT)
        assert {cell.size for cell in study.experiments["suite_kv_retrieval"].cells} == {100}


def test_the_suite_selects_its_default_model():
    assert yaml.safe_load((ROOT / "config" / "suite.yaml").read_text())["models"] == ["qwen2.5-1.5b-instruct"]


def test_the_suite_loads_models_in_four_bits():
    suite = yaml.safe_load((ROOT / "config" / "suite.yaml").read_text())
    assert suite["model_defaults"] == {"quantization": "nf4"}


def test_on_overflow_is_not_part_of_the_identity():
    kv, fails = (
        load_study(config(experiments=["x"], **define("experiments", x={**KV, **more})), ROOT).experiments["x"]
        for more in ({}, {"on_overflow": "fail"})
    )
    assert (kv.on_overflow, fails.on_overflow) == ("leave_out", "fail")
    assert (kv.decoding(), kv.example_settings()) == (fails.decoding(), fails.example_settings())


def test_a_dataset_may_be_given_for_each_size():
    study = load_study(config(experiments=["kv_retrieval"]), ROOT)
    assert study.experiments["kv_retrieval"].datasets == {75: "kv_75_keys", 140: "kv_140_keys", 300: "kv_300_keys"}
