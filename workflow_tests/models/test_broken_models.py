"""Broken model files: one line that names the file, before anything is asked."""

import json
from pathlib import Path

import pytest
from engine_settings import changed_settings
from local_engines import SETTINGS, answers
from model_folders import change
from programs import refused, run_program

from litm.base.loading import loading
from litm.base.messages import UserError
from litm.models.configuration import load_config
from litm.models.locations import check_generation_config, check_model_folder
from litm.prompting.prompt_format import load_tokenizer

CONFIG, GENERATION, TOKENIZER = "config.json", "generation_config.json", "tokenizer_config.json"


def ask(folder: str, template: str = "raw") -> None:
    answers(changed_settings(SETTINGS, location=folder, prompt_template=template, max_new_tokens=1), ["x"])


#: What reads a model's folder.
LOADS = {
    "config": lambda folder: load_config(folder, None),
    "settings": lambda folder: check_generation_config(folder, None),
    "tokenizer": load_tokenizer,
    "folder": lambda folder: check_model_folder(Path(folder)),
    "ask": ask,
    "chat": lambda folder: ask(folder, "chat"),
}
NO_TOKEN = "'eos_token_id' must be a token's number or a list of them, found"
NO_TEMPLATE = "the tokenizer's chat template cannot be used ("


@pytest.mark.parametrize(
    ("load", "file", "content", "said"),
    [
        *(
            ("config", CONFIG, content, f"configuration of FOLDER: {said}")
            for content, said in (
                ({"num_hidden_layers": -1}, "'num_hidden_layers' must be at least 1, found -1"),
                ({"hidden_size": 0}, "'hidden_size' must be at least 1, found 0"),
                ({"num_hidden_layers": "two"}, "Validation error for field 'num_hidden_layers': TypeError: Field"),
                ({"eos_token_id": "abc"}, "Validation error for field 'eos_token_id': TypeError: Field"),
                ({"dtype": "nonsense"}, "AttributeError: module 'torch' has no attribute 'nonsense'"),
                ({"model_type": [1]}, "TypeError: unhashable type: 'list'"),
                ("[" * 100_000, "RecursionError"),
                *(("{", ""), ("{}", ""), ('{"model_type": "nonesuch"}', "")),
                ('{"model_type": "llama", "vocab_size": "x"}', ""),
            )
        ),
        ("config", CONFIG, {"transformers_weights": "sub/w.safetensors"}, "names 'sub/w.safetensors'"),
        ("config", CONFIG, {"transformers_weights": "sub/w.safetensors"}, "name it model.safetensors"),
        # It would be applied only where peft is installed.
        ("folder", "adapter_config.json", "{}", "has an adapter (adapter_config.json), which is not applied"),
        *(("tokenizer", TOKENIZER, text, "tokenizer of FOLDER: ") for text in ("[]", "{")),
        ("tokenizer", "tokenizer.json", "[]", "tokenizer of FOLDER: "),
        *(
            ("settings", GENERATION, text, f"model FOLDER, {GENERATION}: {said}")
            for text, said in (
                ("{", "not valid JSON"),
                ("[]", "expected a JSON object, found list"),
                ('{"eos_token_id": "abc"}', f'{NO_TOKEN} "abc"'),
                ('{"eos_token_id": [2, true]}', f"{NO_TOKEN} [2, true]"),
            )
        ),
        *(
            ("chat", TOKENIZER, {"chat_template": template}, f"{NO_TEMPLATE}{said}")
            for template, said in (
                ("{% for i in range(10**30) %}{% endfor %}", "OverflowError: "),
                ("{% for i in range(10**6) %}{% endfor %}", "OverflowError: Range too big"),
                ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError: "),
                ("{{ 1 / 0 }}", "ZeroDivisionError: division by zero"),
                ("{{ raise_exception('roles must alternate') }}", "roles must alternate)"),
            )
        ),
        (
            "ask",
            CONFIG,
            {"rope_parameters": {"rope_type": "nope", "rope_theta": 1.0}},
            "model FOLDER: KeyError: 'nope'",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_broken_file_of_a_model_is_one_line(model_folder, load, file, content, said):
    if isinstance(content, str):
        (model_folder / file).write_text(content)
    else:
        change(model_folder / file, **content)
    assert said.replace("FOLDER", str(model_folder)) in refused(LOADS[load], str(model_folder))


@pytest.mark.parametrize("text", ["{}", '{"eos_token_id": [2, 3]}', '{"eos_token_id": null}', None])
def test_a_model_may_have_no_generation_settings_and_no_end_tokens_there(model_folder, text):
    (model_folder / GENERATION).unlink() if text is None else (model_folder / GENERATION).write_text(text)
    check_generation_config(str(model_folder), None)


def test_identify_model_refuses_generation_settings_that_cannot_be_read(model_folder):
    (model_folder / GENERATION).write_text("{")
    location = json.dumps({"path": str(model_folder), "hub": None, "revision": None})
    done = run_program("identify_model", "--location", location, "--output", model_folder / "out.json")
    assert done.returncode == 1 and f"error: model {model_folder}, {GENERATION}: not valid JSON" in done.stderr


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
