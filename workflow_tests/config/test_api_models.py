"""Entries of models on a server: their prompt format, identity and secrets."""

from configs import define, study
from programs import load_program

from litm.base.formats import read_json, write_json
from litm.config.models import ApiModel
from litm.models.identity import api_identity


def api_model(**entry) -> ApiModel:
    entries = {"m": {"engine": "openai", "api_model": "gpt", **entry}}
    model = study(models=["m"], **define("models", **entries)).models["m"]
    assert isinstance(model, ApiModel)
    return model


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
