"""The configuration: the catalogues, and the selection of a config."""

import pytest
import yaml
from configs import DEFAULT, config, define
from conftest import ROOT

from litm.config.catalogue import CATALOGUES
from litm.config.study import load_study


def test_the_default_config_selects_a_real_model_and_the_toy_config_the_reference_model():
    study = load_study(yaml.safe_load((ROOT / "config" / "config.yaml").read_text()), ROOT)
    curves = ["mini_gazetteer_qa", "three_needles_small"]
    assert list(study.models) == ["smollm2-135m-instruct-q4_1"]
    assert list(study.figures) == [*curves, *(f"{name}_wrong_answers" for name in curves)]
    assert list(study.experiments) == ["mini_gazetteer_closed_book", "mini_gazetteer_oracle", *curves]
    toy = load_study(DEFAULT, ROOT)
    curves = ["kv_retrieval_small", "needle_in_haystack_small", "mini_encyclopedia_qa"]
    assert list(toy.models) == ["reference"]
    assert list(toy.experiments) == [*curves, "mini_encyclopedia_closed_book", "mini_encyclopedia_oracle"]
    shown = [f"{name}{end}" for name in curves for end in ("", "_heatmap", "_by_size")]
    assert list(toy.figures) == [*shown, *(f"{name}_wrong_answers" for name in curves)]


def test_every_entry_of_the_catalogues_is_valid():
    names = {kind: list(yaml.safe_load((ROOT / "config" / f"{kind}.yaml").read_text())) for kind in CATALOGUES}
    selected = {kind: names[kind] for kind in ("models", "experiments")}
    supplied = define("datasets", unambiguous_questions={"path": "LICENSE"})
    study = load_study(config(**selected, **supplied), ROOT)
    of_remedies = {name for name, condition in study.conditions.items() if not condition.is_plain}
    assert [name for name in study.experiments if name not in of_remedies] == names["experiments"]
    # Of models that are no longer offered the responses are the user's to supply.
    assert set(names["figures"]) - set(study.figures) == {"figure1"}


def test_a_defined_entry_of_a_known_name_replaces_single_keys_and_an_empty_define_is_none():
    study = load_study(config(**define("models", reference={"dtype": "bfloat16"})), ROOT)
    assert study.models["reference"].dtype == "bfloat16"
    assert study.models["reference"].path.endswith("resources/reference_model")
    assert load_study(config(define=None), ROOT) == load_study(config(define={"models": None}), ROOT)


def test_a_dataset_may_be_given_for_each_size():
    by_size = load_study(config(experiments=["kv_retrieval"]), ROOT).experiments["kv_retrieval"].datasets
    assert by_size == {75: "kv_75_keys", 140: "kv_140_keys", 300: "kv_300_keys"}


def test_sizes_in_tokens_are_counted_by_a_model_that_need_not_be_selected():
    entry = {"positions": None, "tokens_of": "mpt-30b-instruct", "depths": {500: [1, 0]}}
    name = "suite_needle_in_haystack"
    study = load_study(config(experiments=[name], **define("experiments", **{name: entry})), ROOT)
    assert list(study.models) == ["reference"] and list(study.token_models) == ["mpt-30b-instruct"]
    assert study.figures[name].panel_title == "{size} tokens"


def test_model_defaults_fill_in_what_an_entry_leaves_out_and_four_bits_are_part_of_the_identity():
    entries = {"m": {"engine": "transformers", "hub": "a/b", "prompt_template": "raw"}}
    defaults = {"model_defaults": {"quantization": "nf4"}, **define("models", **entries)}
    study = load_study(config(models=["reference", "m"], **defaults), ROOT)
    assert study.models["m"].answer_settings()["quantization"] == "nf4"
    assert "quantization" not in study.models["reference"].answer_settings()


def test_changed_configuration_values_are_part_of_the_identity_and_absent_without_changes():
    entry = {"engine": "transformers", "hub": "a/b", "prompt_template": "raw"}
    changes = {"rope_parameters": {"rope_type": "linear", "factor": 8.0}}
    plain, changed = (
        load_study(config(models=["m"], **define("models", m={**entry, **more})), ROOT).models["m"]
        for more in ({}, {"config": changes})
    )
    assert plain.answer_settings() == {
        "engine": "transformers", "dtype": "auto", "attention": "sdpa", "prompt_template": "raw"
    }  # fmt: skip
    assert plain.location() == {"path": None, "hub": "a/b", "revision": None}
    assert changed.answer_settings()["config"] == changed.location()["config"] == changes


@pytest.mark.parametrize("model", ["qwen2.5-1.5b-instruct", "llama-3.2-1b-instruct"])
def test_the_suite_s_own_models_are_in_the_catalogue_and_loaded_in_four_bits_there(model):
    suite = yaml.safe_load((ROOT / "config" / "suite.yaml").read_text())
    assert suite["models"] == ["qwen2.5-1.5b-instruct"]
    study = load_study(config(**{**suite, "models": [model]}), ROOT)
    assert study.models[model].quantization == "nf4" and len(study.run) == 7
