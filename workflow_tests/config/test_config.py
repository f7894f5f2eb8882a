"""The configuration: the catalogues, and the selection of a config."""

import pytest
import yaml
from configs import KV, define, study
from conftest import ROOT
from programs import load_program

from litm.base.json_files import read_json, write_json
from litm.checks.doctor import examine
from litm.config.catalogue import CATALOGUES
from litm.config.study import load_study
from litm.engines.served_models import ServedModel
from litm.models.identity import api_identity
from litm.planning.downloads import WARNING, look_remote

HUB = {"engine": "transformers", "hub": "a/b", "prompt_template": "raw"}


def test_the_default_config_selects_a_real_model_and_the_toy_config_the_reference_model():
    default = load_study(yaml.safe_load((ROOT / "config" / "config.yaml").read_text()), ROOT)
    curves = ["mini_gazetteer_qa", "three_needles_small"]
    assert list(default.models) == ["smollm2-135m-instruct-q4_1"]
    assert list(default.figures) == [*curves, *(f"{name}_wrong_answers" for name in curves)]
    assert list(default.experiments) == ["mini_gazetteer_closed_book", "mini_gazetteer_oracle", *curves]
    assert default.short_limits == []
    toy = study()
    curves = ["kv_retrieval_small", "needle_in_haystack_small", "mini_encyclopedia_qa"]
    assert list(toy.models) == ["reference"]
    assert list(toy.experiments) == [*curves, "mini_encyclopedia_closed_book", "mini_encyclopedia_oracle"]
    shown = [f"{name}{end}" for name in curves for end in ("", "_heatmap", "_by_size")]
    assert list(toy.figures) == [*shown, *(f"{name}_wrong_answers" for name in curves)]


def test_every_entry_of_the_catalogues_is_valid():
    names = {kind: list(yaml.safe_load((ROOT / "config" / f"{kind}.yaml").read_text())) for kind in CATALOGUES}
    supplied = define("datasets", unambiguous_questions={"path": "LICENSE"})
    every = study(models=names["models"], experiments=names["experiments"], **supplied)
    made = {name for name, entry in every.experiments.items() if entry.made_of}
    assert [name for name in every.experiments if name not in made] == names["experiments"]
    # Of models that are no longer offered the responses are the user's to supply.
    assert set(names["figures"]) - set(every.figures) == {"figure1"}
    assert every.short_limits == []


def test_a_defined_entry_of_a_known_name_replaces_single_keys_and_an_empty_define_is_none():
    reference = study(**define("models", reference={"dtype": "bfloat16"})).models["reference"]
    assert reference.dtype == "bfloat16" and reference.path.endswith("resources/reference_model")
    assert study(define=None) == study(define={"models": None}) == study()


def test_a_dataset_may_be_given_for_each_size():
    by_size = study(experiments=["kv_retrieval"]).experiments["kv_retrieval"].datasets
    assert by_size == {75: "kv_75_keys", 140: "kv_140_keys", 300: "kv_300_keys"}


def test_sizes_in_tokens_are_counted_by_a_model_that_need_not_be_selected():
    entry = {"positions": None, "tokens_of": "mpt-30b-instruct", "depths": {500: [1, 0]}}
    name = "suite_needle_in_haystack"
    one = study(experiments={name: entry})
    assert list(one.models) == ["reference"] and list(one.token_models) == ["mpt-30b-instruct"]
    assert one.figures[name].panel_title == "{size} tokens"


def test_model_defaults_fill_in_what_an_entry_leaves_out_and_four_bits_are_part_of_the_identity():
    one = study(models={"reference": {}, "m": HUB}, model_defaults={"quantization": "nf4"})
    assert one.models["m"].answer_settings()["quantization"] == "nf4"
    assert "quantization" not in one.models["reference"].answer_settings()


def test_changed_configuration_values_are_part_of_the_identity_and_absent_without_changes():
    changes = {"rope_parameters": {"rope_type": "linear", "factor": 8.0}}
    plain, changed = study(models={"plain": HUB, "changed": {**HUB, "config": changes}}).models.values()
    assert plain.answer_settings() == {
        "engine": "transformers", "dtype": "auto", "attention": "sdpa", "prompt_template": "raw"
    }  # fmt: skip
    assert plain.location() == {"path": None, "hub": "a/b", "revision": None}
    assert changed.answer_settings()["config"] == changed.location()["config"] == changes


@pytest.mark.parametrize("model", ["qwen2.5-1.5b-instruct", "llama-3.2-1b-instruct"])
def test_the_suite_s_own_models_are_in_the_catalogue_and_loaded_in_four_bits_there(model):
    suite = yaml.safe_load((ROOT / "config" / "suite.yaml").read_text())
    assert suite["models"] == ["qwen2.5-1.5b-instruct"]
    one = study(**{**suite, "models": [model]})
    assert one.models[model].quantization == "nf4" and len(one.pairs()) == 7


SHORT = "a, c: max_new_tokens is 24, and 100 if left out, so right answers may be cut and count as wrong"


def test_a_limit_of_new_tokens_below_a_quarter_of_the_tasks_own_is_a_note_of_a_run_and_a_warning_of_the_doctor():
    limits = {"a": {"max_new_tokens": 24}, "b": {"max_new_tokens": 25}, "c": {"max_new_tokens": 24}, "d": {}}
    short = study(models=["dummy"], experiments={name: {**KV, **limit} for name, limit in limits.items()})
    assert short.notes == [SHORT]
    checks = examine(short, [], ROOT / "results", look_remote(short, ROOT / "results"))
    assert [(one.status, one.message) for one in checks if one.what == "limit of new tokens"] == [(WARNING, SHORT)]


def test_a_dry_run_says_that_a_limit_is_short_before_its_summary(new_bench):
    done = new_bench.snakemake("--dry-run", "--config", "define={experiments: {kv: {max_new_tokens: 1}}}")
    assert "kv: max_new_tokens is 1, and 100 if left out, so right answers may be cut" in done.stderr
    assert done.returncode == 0 and "asks dummy at most" in done.stdout


# Models on a server


def api_model(**entry) -> ServedModel:
    return study(models={"m": {"engine": "openai", "api_model": "gpt", **entry}}).models["m"]


def test_a_chat_gets_messages_by_default_and_a_completion_gets_a_text():
    assert [api_model(engine=engine).prompt_template for engine in ("openai", "anthropic")] == ["chat", "chat"]
    assert api_model(prompt_template="raw").prompt_template == "raw"
    assert api_model(endpoint="completions").prompt_template == "raw"
    for one in ("vicuna_v1_1", "chat"):
        entry = {"endpoint": "completions", "prompt_template": one, "tokenizer": "resources/reference_model"}
        assert api_model(**entry).prompt_template == one


def test_another_address_is_another_model_unless_the_entry_has_a_revision():
    here, there = "http://localhost:8000/v1", "http://node7:9000/v1"
    assert api_identity("m", here, None) != api_identity("m", there, None) != api_identity("m", None, None)
    assert api_identity("m", here, "commit 1") == api_identity("m", there, "commit 1")
    assert api_identity("m", here, "commit 1") != api_identity("m", here, "commit 2")


def test_no_key_is_written_down(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "hunter2")
    location = api_model(api_key_variable="SECRET_KEY", base_url="http://localhost:1/v1").location()
    write_json(tmp_path / "m.json", load_program("identify_model").identify_served(location))
    assert "hunter2" not in (tmp_path / "m.json").read_text()
    assert read_json(tmp_path / "m.json")["identity"] == {"api_model": "gpt", "base_url": "http://localhost:1/v1"}
