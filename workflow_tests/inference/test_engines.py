"""The registry of engines: their facts, readable without their packages, and declared nowhere else."""

import ast
import json
from types import SimpleNamespace

import pytest
from conftest import ROOT
from programs import loaded_by, refused

from litm.base.extensions import VARIABLE
from litm.checks import doctor_models
from litm.config.catalogue import read_catalogue_entry
from litm.engines.interface import EngineFacts
from litm.engines.registry import engine_facts, engine_names, settings_class
from litm.inference.answer_identity import equal_form


@pytest.mark.parametrize("name", engine_names())
def test_an_engine_declares_what_others_ask_about_it(name):
    facts = engine_facts(name)
    assert isinstance(facts, EngineFacts) and facts.about
    assert facts.audited_with is None or facts.audited_with in engine_names()
    # A server answers in its own way, and nothing that is said of models that are run here is true of it.
    assert facts.provider is None or not (facts.shares_prefixes or facts.audited_with)


def test_engines_are_found_by_what_they_declare():
    assert set(engine_names()) >= {"anthropic", "openai", "transformers", "vllm"}
    assert {"anthropic", "openai"} <= set(engine_names(lambda facts: facts.provider is not None)) < set(engine_names())


def test_declarations_of_engines_are_read_without_their_packages():
    heavy = {"torch", "transformers", "tokenizers", "openai", "anthropic", "vllm"}
    assert not heavy & loaded_by("from litm.engines.registry import engine_names; engine_names(bool)")


def test_no_engine_is_named_by_code_outside_its_own_module():
    """But for packages of the same name, and for the engines that `litm check` takes for a model's name."""
    packages = {("doctor.py", "transformers"), ("gguf.py", "transformers"), ("messages.py", "transformers")}
    packages |= {("messages.py", "vllm"), ("first_check.py", "fake"), ("serving_check.py", "fake")}
    packages |= {("first_study.py", engine) for engine in ("transformers", "openai", "anthropic")}
    named = set()
    for path in sorted((ROOT / "scripts").rglob("*.py")):
        if path.parent.name != "modules":
            constants = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
            named |= {(path.name, one.value) for one in constants if one.value in engine_names()}
    assert named <= packages


#: An engine without an SDK: it needs no key, takes no conversations, and lists its models in its own way.
BRIEF = """
from typing import Annotated
from litm.base.schema import Answer, Made
from litm.engines.served_models import ServedModel
from litm.engines.interface import COMPLETIONS_ENDPOINT, EngineFacts, Provider
PROVIDER = Provider(
    url="http://brief:1",
    sent_fields=lambda url, endpoint, limit, request: {"limit": limit, **request},
    models_path="/tags",
    model_names=lambda body: [model["name"] for model in body["models"]],
)
ENGINE = EngineFacts(about="brief", provider=PROVIDER)
class Settings(ServedModel):
    endpoint: Made[Annotated[str, Answer("as written")]] = COMPLETIONS_ENDPOINT
class Engine: ...
"""


def test_an_engine_that_is_one_added_file_is_read_checked_and_refused_by_what_it_declares(tmp_path, monkeypatch):
    (tmp_path / "engines").mkdir()
    (tmp_path / "engines" / "brief.py").write_text(BRIEF)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    answer = SimpleNamespace(status_code=200, text='{"models": [{"name": "a"}]}')
    monkeypatch.setattr(doctor_models.httpx2, "get", lambda url, **more: answer)
    entry = {"engine": "brief", "api_model": "a"}
    model = read_catalogue_entry("models", "m", entry)
    settings = model.answer_settings()
    assert settings == {"engine": "brief", "endpoint": "completions", "prompt_template": "raw", "request": {}}
    # No key is asked for.
    (check,) = doctor_models.server_checks(model)
    assert (check.what, check.status, check.message) == ("m: server", "ok", "http://brief:1/tags has a")
    form = equal_form({"source": {"base_url": None}, "model": settings, "decoding": {"max_new_tokens": 5}})
    assert form["model"]["request"] == [{"limit": 5}]
    said = refused(read_catalogue_entry, "models", "m", {**entry, "endpoint": "chat"})
    assert "'endpoint' is not for 'engine: brief', only for 'engine: openai'" in said
    said = refused(read_catalogue_entry, "models", "m", {**entry, "prompt_template": "chat"})
    assert "'prompt_template: chat' with 'endpoint: completions' needs 'tokenizer'" in said


#: An engine with a key whose type JSON lacks.
PAIRED = """
from typing import Annotated
from litm.base.schema import Names, Run
from litm.engines.interface import EngineFacts
from litm.engines.local_models import LocalModel
ENGINE = EngineFacts(about="paired", version=1)
class Settings(LocalModel):
    names: Annotated[Names, Run("nothing")] = ("a",)
    pace: Annotated[float, Run("nothing")] = 0.5
class Engine: ...
"""


def test_an_engine_reads_its_keys_in_their_types_with_the_defaults_of_its_class(tmp_path, monkeypatch):
    (tmp_path / "engines").mkdir()
    (tmp_path / "engines" / "paired.py").write_text(PAIRED)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    entry = {"engine": "paired", "prompt_template": "raw", "names": ["b", "c"], "gpus": 2}
    model = read_catalogue_entry("models", "m", entry)
    settings = json.loads(json.dumps({**model.answer_settings(), **model.run_settings()}))
    keys = settings_class("paired").from_settings(settings)
    assert (keys.names, keys.pace, keys.device, keys.batch_tokens) == (("b", "c"), 0.5, "cpu", 16384)
    # No engine sees a key of the workflow.
    assert keys.gpus == 1
    assert settings_class("paired").from_settings({}).names == ("a",)


def test_the_keys_of_one_engine_are_read_by_another_as_far_as_it_has_them():
    entry = {"engine": "vllm", "hub": "a/b", "prompt_template": "raw", "dtype": "float16", "reasoning": "strip"}
    model = read_catalogue_entry("models", "m", {**entry, "engine_options": {"enforce_eager": True}})
    settings = {**model.answer_settings(), **model.run_settings(), "engine": "transformers"}
    assert settings["attention"] == "sdpa" and settings["reasoning"]["policy"] == "strip"
    keys = settings_class("transformers").from_settings(settings)
    assert (type(keys), keys.engine, keys.dtype) == (settings_class("transformers"), "transformers", "float16")
    assert keys.model_fields_set == {"engine", "prompt_template", "dtype", "attention", "device", "batch_tokens"}
    # An entry says how its reasoning is treated in words of its own, and its settings in those of `Reasoning`.
    assert keys.policy is None
