"""Broken model files: one line that names the file, before anything is asked."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import ROOT

from litm.base.loading import loading
from litm.base.messages import UserError
from litm.inference.engine import EngineSettings, load_engine
from litm.models.configuration import load_config
from litm.models.files import check_generation_config, check_model_folder
from litm.prompting.prompt_format import load_tokenizer

CONFIG, SETTINGS, TOKENIZER = "config.json", "generation_config.json", "tokenizer_config.json"


@pytest.fixture
def folder(tmp_path) -> Path:
    return Path(shutil.copytree(ROOT / "resources" / "reference_model", tmp_path / "model"))


def change(path: Path, **values) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def refused(work, *arguments) -> str:
    with pytest.raises(UserError) as caught:
        work(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"num_hidden_layers": -1}, "'num_hidden_layers' must be at least 1, found -1"),
        ({"hidden_size": 0}, "'hidden_size' must be at least 1, found 0"),
        ({"num_hidden_layers": "two"}, "Validation error for field 'num_hidden_layers': TypeError: Field"),
        ({"eos_token_id": "abc"}, "Validation error for field 'eos_token_id': TypeError: Field"),
        ({"dtype": "nonsense"}, "AttributeError: module 'torch' has no attribute 'nonsense'"),
        ({"model_type": [1]}, "TypeError: unhashable type: 'list'"),
    ],
)
def test_an_impossible_configuration_is_one_line(folder, values, said):
    change(folder / CONFIG, **values)
    assert refused(load_config, str(folder), None).startswith(f"configuration of {folder}: {said}")


def test_a_configuration_that_names_another_file_of_weights_is_refused(folder):
    change(folder / CONFIG, transformers_weights="sub/w.safetensors")
    said = refused(load_config, str(folder), None)
    assert "'transformers_weights' names 'sub/w.safetensors'" in said and "name it model.safetensors" in said


def test_an_adapter_is_refused_because_it_would_be_applied_only_where_peft_is_installed(folder):
    check_model_folder(folder)
    (folder / "adapter_config.json").write_text("{}")
    said = refused(check_model_folder, folder)
    assert "has an adapter (adapter_config.json), which is not applied here: merge it into the weights" in said


def test_a_configuration_nested_beyond_reading_is_one_line(folder):
    (folder / CONFIG).write_text("[" * 100_000)
    assert "RecursionError" in refused(load_config, str(folder), None)


@pytest.mark.parametrize(("file", "text"), [(TOKENIZER, "[]"), (TOKENIZER, "{"), ("tokenizer.json", "[]")])
def test_a_broken_tokenizer_is_one_line(folder, file, text):
    (folder / file).write_text(text)
    assert refused(load_tokenizer, str(folder)).startswith(f"tokenizer of {folder}: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not valid JSON"),
        ("[]", "expected a JSON object, found list"),
        ('{"eos_token_id": "abc"}', "'eos_token_id' must be a token's number or a list of them, found \"abc\""),
        ('{"eos_token_id": [2, true]}', "'eos_token_id' must be a token's number or a list of them, found [2, true]"),
    ],
)
def test_generation_settings_that_cannot_be_read_are_refused_and_not_passed_over(folder, text, said):
    (folder / SETTINGS).write_text(text)
    assert refused(check_generation_config, str(folder), None).startswith(f"model {folder}, {SETTINGS}: {said}")


@pytest.mark.parametrize("text", ["{}", '{"eos_token_id": [2, 3]}', '{"eos_token_id": null}', None])
def test_a_model_may_have_no_generation_settings_and_no_end_tokens_there(folder, text):
    (folder / SETTINGS).unlink() if text is None else (folder / SETTINGS).write_text(text)
    check_generation_config(str(folder), None)


def test_identify_model_refuses_generation_settings_that_cannot_be_read(folder):
    from programs import run_program

    (folder / SETTINGS).write_text("{")
    location = json.dumps({"path": str(folder), "hub": None, "revision": None})
    done = run_program("identify_model", "--location", location, "--output", folder / "out.json")
    assert done.returncode == 1 and f"error: model {folder}, {SETTINGS}: not valid JSON" in done.stderr


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{% for i in range(10**30) %}{% endfor %}", "OverflowError: "),
        ("{% for i in range(10**6) %}{% endfor %}", "OverflowError: Range too big"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError: "),
        ("{{ 1 / 0 }}", "ZeroDivisionError: division by zero"),
        ("{{ raise_exception('roles must alternate') }}", "roles must alternate)"),
    ],
)
def test_a_chat_template_that_fails_is_one_line(folder, template, said):
    change(folder / TOKENIZER, chat_template=template)
    engine = load_engine("transformers", EngineSettings(str(folder), None, None, "chat", None, 1, "end_token"))
    assert f"the tokenizer's chat template cannot be used ({said}" in refused(engine.prepare, ["x"])


def test_a_network_that_cannot_be_built_is_one_line(folder):
    change(folder / CONFIG, rope_parameters={"rope_type": "nope", "rope_theta": 1.0})
    engine = load_engine("transformers", EngineSettings(str(folder), None, None, "raw", None, 1, "end_token"))
    assert refused(next, engine.generate(engine.prepare(["x"]))) == f"model {folder}: KeyError: 'nope'"


def test_a_reason_is_one_line_of_some_length_and_an_interruption_is_no_reason():
    def fail(error):
        with loading("model m"):
            raise error

    assert refused(fail, ValueError("heading:\n\n  detail\nmore")) == "model m: heading: detail"
    assert refused(fail, MemoryError()) == "model m: MemoryError"
    assert len(refused(fail, ValueError("x" * 10_000))) < 400
    assert refused(fail, UserError("mine")) == "mine"
    for error in (KeyboardInterrupt, SystemExit):
        with pytest.raises(error):
            fail(error)
