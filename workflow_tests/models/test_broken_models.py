"""Broken model files: one line that names the file, before anything is asked."""

import json

import pytest
from model_folders import change
from programs import run_program

from litm.base.loading import loading
from litm.base.messages import UserError
from litm.inference.engine import EngineSettings, load_engine
from litm.models.configuration import load_config
from litm.models.locations import check_generation_config, check_model_folder
from litm.prompting.prompt_format import load_tokenizer

CONFIG, SETTINGS, TOKENIZER = "config.json", "generation_config.json", "tokenizer_config.json"


def refused(work, *arguments) -> str:
    with pytest.raises(UserError) as caught:
        work(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"num_hidden_layers": -1}, "'num_hidden_layers' must be at least 1, found -1"),
        ({"hidden_size": 0}, "'hidden_size' must be at least 1, found 0"),
        ({"num_hidden_layers": "two"}, "Validation error for field 'num_hidden_layers': TypeError: Field"),
        ({"eos_token_id": "abc"}, "Validation error for field 'eos_token_id': TypeError: Field"),
        ({"dtype": "nonsense"}, "AttributeError: module 'torch' has no attribute 'nonsense'"),
        ({"model_type": [1]}, "TypeError: unhashable type: 'list'"),
        ("[" * 100_000, "RecursionError"),
        *(
            (text, "")
            for text in ("{", "{}", '{"model_type": "nonesuch"}', '{"model_type": "llama", "vocab_size": "x"}')
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_impossible_configuration_is_one_line(model_folder, config, said):
    if isinstance(config, str):
        (model_folder / CONFIG).write_text(config)
    else:
        change(model_folder / CONFIG, **config)
    assert refused(load_config, str(model_folder), None).startswith(f"configuration of {model_folder}: {said}")


def test_a_configuration_that_names_another_file_of_weights_is_refused(model_folder):
    change(model_folder / CONFIG, transformers_weights="sub/w.safetensors")
    said = refused(load_config, str(model_folder), None)
    assert "'transformers_weights' names 'sub/w.safetensors'" in said and "name it model.safetensors" in said


def test_an_adapter_is_refused_because_it_would_be_applied_only_where_peft_is_installed(model_folder):
    check_model_folder(model_folder)
    (model_folder / "adapter_config.json").write_text("{}")
    said = refused(check_model_folder, model_folder)
    assert "has an adapter (adapter_config.json), which is not applied here: merge it into the weights" in said


@pytest.mark.parametrize(("file", "text"), [(TOKENIZER, "[]"), (TOKENIZER, "{"), ("tokenizer.json", "[]")])
def test_a_broken_tokenizer_is_one_line(model_folder, file, text):
    (model_folder / file).write_text(text)
    assert refused(load_tokenizer, str(model_folder)).startswith(f"tokenizer of {model_folder}: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not valid JSON"),
        ("[]", "expected a JSON object, found list"),
        ('{"eos_token_id": "abc"}', "'eos_token_id' must be a token's number or a list of them, found \"abc\""),
        ('{"eos_token_id": [2, true]}', "'eos_token_id' must be a token's number or a list of them, found [2, true]"),
    ],
)
def test_generation_settings_that_cannot_be_read_are_refused_and_not_passed_over(model_folder, text, said):
    (model_folder / SETTINGS).write_text(text)
    assert refused(check_generation_config, str(model_folder), None).startswith(
        f"model {model_folder}, {SETTINGS}: {said}"
    )


@pytest.mark.parametrize("text", ["{}", '{"eos_token_id": [2, 3]}', '{"eos_token_id": null}', None])
def test_a_model_may_have_no_generation_settings_and_no_end_tokens_there(model_folder, text):
    (model_folder / SETTINGS).unlink() if text is None else (model_folder / SETTINGS).write_text(text)
    check_generation_config(str(model_folder), None)


def test_identify_model_refuses_generation_settings_that_cannot_be_read(model_folder):
    (model_folder / SETTINGS).write_text("{")
    location = json.dumps({"path": str(model_folder), "hub": None, "revision": None})
    done = run_program("identify_model", "--location", location, "--output", model_folder / "out.json")
    assert done.returncode == 1 and f"error: model {model_folder}, {SETTINGS}: not valid JSON" in done.stderr


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
def test_a_chat_template_that_fails_is_one_line(model_folder, template, said):
    change(model_folder / TOKENIZER, chat_template=template)
    engine = load_engine("transformers", EngineSettings(str(model_folder), None, None, "chat", None, 1, "end_token"))
    assert f"the tokenizer's chat template cannot be used ({said}" in refused(engine.prepare, ["x"])


def test_a_network_that_cannot_be_built_is_one_line(model_folder):
    change(model_folder / CONFIG, rope_parameters={"rope_type": "nope", "rope_theta": 1.0})
    engine = load_engine("transformers", EngineSettings(str(model_folder), None, None, "raw", None, 1, "end_token"))
    assert refused(next, engine.generate(engine.prepare(["x"]))) == f"model {model_folder}: KeyError: 'nope'"


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
