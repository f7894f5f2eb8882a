"""Keys of APIs: required, sent only to their provider, and masked wherever a server repeats them."""

import json
from dataclasses import replace
from importlib import import_module

import pytest
from api_engines import HASTE, SETTINGS, answers, make_engine
from canaries import CANARY
from fault_server import FaultServer, answer_to

from litm.base.messages import UserError
from litm.inference.retrying import masked


def test_a_missing_key_is_reported_before_anything_is_asked(protocol, monkeypatch):
    variable = f"{protocol.upper()}_API_KEY"
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(UserError, match=f"{variable} has no key; nothing was asked"):
        import_module(f"litm.inference.engines.{protocol}").Engine(SETTINGS)
    with FaultServer() as server, pytest.raises(UserError, match="MY_KEY has no key"):
        make_engine(protocol, server, api_key_variable="MY_KEY")


def test_a_users_own_server_never_gets_the_providers_key(protocol, monkeypatch):
    monkeypatch.setenv(f"{protocol.upper()}_API_KEY", "sk-of-the-provider")
    monkeypatch.setenv("MY_KEY", " sk-mine\n")
    with FaultServer() as server:
        answers(make_engine(protocol, server), ["a"])
        answers(make_engine(protocol, server, api_key_variable="MY_KEY"), ["b"])
    assert server.keys == ["no-key", "sk-mine"]


def test_a_provider_gets_the_models_key_and_not_an_administrators(monkeypatch):
    monkeypatch.setenv("MY_KEY", CANARY)
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-of-an-administrator")
    with FaultServer() as server:
        engine = make_engine("openai", server, api_key_variable="MY_KEY")
        monkeypatch.setattr(engine, "provider", replace(engine.provider, url=server.url))
        answers(engine, ["a"])
    assert server.keys == [CANARY]


def test_a_key_that_a_provider_repeats_is_not_printed(protocol, monkeypatch):
    monkeypatch.setenv("MY_KEY", "401")
    with FaultServer(lambda prompt, attempt: "401") as server:
        engine = make_engine(protocol, server, api_key_variable="MY_KEY")
        with pytest.raises(UserError) as refusal:
            answers(engine, ["a"])
    assert "***, says the server" in str(refusal.value) and "401" not in str(refusal.value)


@pytest.mark.parametrize("fault", ["key in an error", "key as the reason"])
def test_a_key_that_is_repeated_in_a_whole_response_is_not_printed(protocol, fault, monkeypatch, capsys):
    monkeypatch.setenv("MY_KEY", CANARY)
    with FaultServer(lambda prompt, attempt: fault) as server:
        engine = make_engine(protocol, server, replace(HASTE, attempts=2, prompts=2), api_key_variable="MY_KEY")
        with pytest.raises(UserError, match=r"the API gave no answer to 2 prompts .*\*\*\*") as refusal:
            answers(engine, ["a", "b"])
    said = capsys.readouterr()
    assert "***" in said.err and "sk-" not in said.err + said.out + str(refusal.value)


def test_a_key_repeated_as_the_models_name_is_not_recorded_and_the_answer_is_unchanged(protocol, monkeypatch):
    monkeypatch.setenv("MY_KEY", CANARY)
    with FaultServer(lambda prompt, attempt: "key as the model", answer=lambda prompt: f"{prompt} no-key") as server:
        (response,) = answers(make_engine(protocol, server, api_key_variable="MY_KEY"), ["a"]).values()
        (other,) = answers(make_engine(protocol, server), ["a"]).values()
    assert response.made_with.endswith(", model of ***") and response.text == "a no-key"
    # What stands for a key that is not needed is no secret.
    assert other.made_with.endswith(", model of no-key")


def test_a_key_in_an_answer_is_masked_with_a_message_unless_it_is_a_plain_word(protocol, monkeypatch, capsys):
    with FaultServer(lambda prompt, attempt: "key in the answer") as server:
        for key, text in ((CANARY, f"{answer_to('a')} ***"), ("EMPTY", f"{answer_to('a')} EMPTY")):
            monkeypatch.setenv("MY_KEY", key)
            assert answers(make_engine(protocol, server, api_key_variable="MY_KEY"), ["a"])[0].text == text
    assert capsys.readouterr().err.count("1 answers repeat your key, where they now have ***") == 1


def test_a_key_is_masked_in_every_way_that_it_may_be_quoted():
    for key in (CANARY, 'sk-"quoted"', "sk-back\\slash", "sk-two\nlines"):
        for said in (key, json.dumps({"error": key}), repr(f"Bearer {key}"), str({"error": key})):
            assert "sk-" not in masked(said, key) and "***" in masked(said, key)
    assert masked("as it is", "") == "as it is"
