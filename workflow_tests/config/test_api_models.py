"""Entries of models on a server: their keys, and the keys that change answers."""

from conftest import ROOT
from programs import load_program

from litm.base.formats import read_json, write_json
from litm.config.models import ApiModel
from litm.config.study import load_study
from litm.models.identity import api_identity

TOKENIZER = "resources/reference_model/tokenizer.json"


def study_with(**entry):
    config = {"models": ["m"], "experiments": ["closed_book_qa"], "seed": 0, "define": {"models": {"m": entry}}}
    return load_study(config, ROOT)


def api_model(**entry) -> ApiModel:
    model = study_with(**{"engine": "openai", "api_model": "gpt", **entry}).models["m"]
    assert isinstance(model, ApiModel)
    return model


def test_a_chat_gets_messages_by_default_and_a_completion_gets_a_text():
    assert api_model().prompt_template == "chat"
    assert api_model(prompt_template="raw").prompt_template == "raw"
    assert api_model(endpoint="completions").prompt_template == "raw"
    assert api_model(endpoint="completions", prompt_template="vicuna_v1_1").prompt_template == "vicuna_v1_1"
    chat = api_model(endpoint="completions", prompt_template="chat", tokenizer="resources/reference_model")
    assert chat.prompt_template == "chat"
    assert api_model(engine="anthropic").prompt_template == "chat"


def test_the_content_of_a_request_changes_answers_and_its_transport_does_not():
    settings = api_model().answer_settings()
    assert api_model(request={"seed": 1}).answer_settings() != settings
    assert api_model(endpoint="completions").answer_settings() != settings
    for entry in (
        {"concurrency": 3},
        {"request_timeout": 5},
        {"request_attempts": 2},
        {"api_key_variable": "KEY"},
        {"prices": {"input": 1, "output": 2}},
    ):
        assert api_model(**entry).answer_settings() == settings
    assert api_model(tokenizer=TOKENIZER).answer_settings() == settings


def test_another_address_is_another_model_unless_the_entry_has_a_revision():
    here, there = "http://localhost:8000/v1", "http://node7:9000/v1"
    assert api_identity("m", here, None) != api_identity("m", there, None) != api_identity("m", None, None)
    assert api_identity("m", here, "commit 1") == api_identity("m", there, "commit 1")
    assert api_identity("m", here, "commit 1") != api_identity("m", here, "commit 2")


def test_no_key_is_written_down(tmp_path, monkeypatch):

    monkeypatch.setenv("SECRET_KEY", "hunter2")
    output = tmp_path / "m.json"
    location = api_model(api_key_variable="SECRET_KEY", base_url="http://localhost:1/v1").location()
    write_json(output, load_program("identify_model").identify_served(location))
    assert "hunter2" not in output.read_text()
    assert read_json(output)["identity"] == {"api_model": "gpt", "base_url": "http://localhost:1/v1"}
