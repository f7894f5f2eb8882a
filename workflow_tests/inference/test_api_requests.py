"""Requests of both API engines: destination, content, time limits, and keys, which only their provider gets."""

import json
import os
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from api_engines import HASTE, SETTINGS, answers, make_engine
from canaries import CANARY
from engine_settings import changed_settings
from fault_server import FAULTS, FaultServer, answer_to
from programs import refused

from litm.base.download import host_of
from litm.servers.api_engine import is_of_provider
from litm.servers.retrying import Patience, masked


def test_the_total_timeout_of_a_request_is_an_hour_the_entrys_or_the_timeout_without_data():
    assert Patience.from_settings(SETTINGS).total == 3600
    assert Patience.from_settings(changed_settings(SETTINGS, request_timeout=5000)).total == 5000
    assert Patience.from_settings(changed_settings(SETTINGS, request_total_timeout=20)).total == 20


def test_a_redirect_is_refused_and_nothing_is_sent_to_where_it_leads(protocol):
    with FaultServer() as other, FaultServer(lambda prompt, attempt: "elsewhere 307", elsewhere=other.url) as server:
        said = refused(answers, make_engine(protocol, server, concurrency=1), ["a", "b"])
    assert re.search(rf"redirects requests to {other.url}/.* \(status 307\).*'base_url'", said)
    assert len(server.asked) == 1 and not other.asked


#: Of each SDK the environment variables that would add something to requests.
ADDING = {
    "openai": {
        "OPENAI_ORG_ID": "org-canary",
        "OPENAI_PROJECT_ID": "proj-canary",
        "OPENAI_CUSTOM_HEADERS": "X-Mine: canary\nAuthorization: Bearer canary",
        "OPENAI_ADMIN_KEY": "sk-admin-canary",
    },
    "anthropic": {
        "ANTHROPIC_CUSTOM_HEADERS": "X-Mine: canary\nAuthorization: Bearer canary",
        "ANTHROPIC_AUTH_TOKEN": "canary",
    },
}


@pytest.fixture
def adding(protocol, monkeypatch) -> dict[str, str]:
    """The variables of the protocol's SDK, which are set, and an address."""
    for name, value in {**ADDING[protocol], f"{protocol.upper()}_BASE_URL": "http://127.0.0.1:9"}.items():
        monkeypatch.setenv(name, value)
    return ADDING[protocol]


def test_settings_of_the_environment_for_a_provider_go_to_no_other_server(protocol, adding, capsys):
    with FaultServer() as server:
        for _ in range(2):
            answers(make_engine(protocol, server), ["a"])
    assert len(server.headers) == 2 and "canary" not in str(server.headers)
    said = capsys.readouterr().err
    assert all(name in said for name in adding) and "canary" not in said
    # They are there for the provider's own server, and for whatever else is run.
    assert {name: os.environ[name] for name in adding} == adding


def test_settings_of_the_environment_go_to_the_providers_server_and_the_address_comes_from_the_config(
    protocol, adding, monkeypatch, capsys
):
    monkeypatch.setenv(f"{protocol.upper()}_API_KEY", CANARY)
    engine = of_provider(protocol)
    client = engine.connect()
    assert client.default_headers["X-Mine"] == "canary"
    assert str(client.base_url).startswith(engine.provider.url)
    assert f"{protocol.upper()}_BASE_URL" in capsys.readouterr().err
    assert is_of_provider(f"https://eu.{engine.provider.url[8:]}", engine.provider)
    assert not is_of_provider(f"https://{host_of(engine.provider.url)}.evil.org/v1", engine.provider)


def test_every_environment_variable_that_an_sdk_reads_for_a_client_begins_as_the_provider_says(protocol):
    sdk = import_module(protocol)
    folder = Path(sdk.__file__).parent
    modules = [folder / "_client.py", folder / "_base_client.py", folder / "lib" / "_client_auth.py"]
    text = "".join(module.read_text() for module in modules if module.exists())
    names = set(re.findall(r"environ(?:\.get\(|\[)\s*\"(\w+)\"", text))
    provider = import_module(f"litm.engines.modules.{protocol}").PROVIDER
    assert f"{provider.variables}CUSTOM_HEADERS" in names
    assert not [name for name in names if not name.startswith(provider.variables)]


def test_a_server_on_this_machine_is_asked_without_a_proxy(protocol, monkeypatch):
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with FaultServer() as server:
        assert answers(make_engine(protocol, server), ["a"])[0].text == answer_to("a")


def of_provider(protocol: str, *_: object):
    return import_module(f"litm.engines.modules.{protocol}").Engine(SETTINGS)


def with_key(protocol: str, server: FaultServer, *patience: Patience):
    return make_engine(protocol, server, *patience, api_key_variable="MY_KEY")


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("sk-schl\u00fcssel", "has a character (number 8)"),
        ("sk-one\nsk-two", "has more than one line"),
        ("", "has no key"),
    ],
)
def test_a_missing_key_or_one_that_cannot_be_sent_is_refused_before_anything_is_asked_without_a_word_of_it(
    protocol, key, said, monkeypatch
):
    for variable, make in (("MY_KEY", with_key), (f"{protocol.upper()}_API_KEY", of_provider)):
        monkeypatch.setenv(variable, key)
        with FaultServer() as server:
            found = refused(make, protocol, server)
        assert f"variable {variable} {said}" in found and "nothing was asked" in found and "sk-" not in found


def test_a_users_own_server_never_gets_the_providers_key(protocol, monkeypatch):
    monkeypatch.setenv(f"{protocol.upper()}_API_KEY", "sk-of-the-provider")
    monkeypatch.setenv("MY_KEY", " sk-mine\n")
    with FaultServer() as server:
        answers(make_engine(protocol, server), ["a"])
        answers(with_key(protocol, server), ["b"])
    assert server.keys == ["no-key", "sk-mine"]


def test_a_provider_gets_the_models_key_and_not_an_administrators(monkeypatch):
    monkeypatch.setenv("MY_KEY", CANARY)
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-of-an-administrator")
    with FaultServer() as server:
        engine = with_key("openai", server)
        monkeypatch.setattr(engine, "provider", replace(engine.provider, url=server.url))
        answers(engine, ["a"])
    assert server.keys == [CANARY]


#: An error whose message is cut within the key.
LONG = {"status": 401, "body": {'{"error": {"message": "': 1, "?": 325, ' {key}"}}': 1}}


@pytest.mark.parametrize("fault", ["key in all of a refusal", "key at the cut", "key in an error", "key as the reason"])
def test_a_key_that_is_repeated_in_an_error_or_a_whole_response_is_not_printed(protocol, fault, monkeypatch, capsys):
    monkeypatch.setenv("MY_KEY", CANARY)
    monkeypatch.setitem(FAULTS[protocol], "key at the cut", LONG)
    with FaultServer(lambda prompt, attempt: fault) as server:
        said = refused(answers, with_key(protocol, server, replace(HASTE, attempts=2, prompts=2)), ["a", "b"])
    shown = capsys.readouterr()
    assert "***" in said and ("***" in shown.err) == (fault in ("key in an error", "key as the reason"))
    assert "sk-" not in shown.err + shown.out + said


def test_a_key_repeated_as_the_models_name_is_not_recorded_and_the_answer_is_unchanged(protocol, monkeypatch):
    monkeypatch.setenv("MY_KEY", CANARY)
    with FaultServer(lambda prompt, attempt: "key as the model", answer=lambda prompt: f"{prompt} no-key") as server:
        (response,) = answers(with_key(protocol, server), ["a"]).values()
        (other,) = answers(make_engine(protocol, server), ["a"]).values()
    assert response.made_with.endswith(", model of ***") and response.text == "a no-key"
    # What stands for a key that is not needed is no secret.
    assert other.made_with.endswith(", model of no-key")


def test_a_reason_that_is_not_known_is_named_once_without_the_key(protocol, monkeypatch, capsys):
    monkeypatch.setenv("MY_KEY", CANARY)
    with FaultServer(lambda prompt, attempt: "key as the end of an answer") as server:
        found = answers(with_key(protocol, server), ["a", "b"])
    assert {response.finish_reason for response in found.values()} == {"unknown"}
    (said,) = capsys.readouterr().err.splitlines()
    assert said.endswith(": it is not known whether answers that end with '***' are cut")


def test_a_key_in_an_answer_is_masked_with_a_message_unless_it_is_a_plain_word(protocol, monkeypatch, capsys):
    with FaultServer(lambda prompt, attempt: "key in the answer") as server:
        for key, text in ((CANARY, f"{answer_to('a')} ***"), ("EMPTY", f"{answer_to('a')} EMPTY")):
            monkeypatch.setenv("MY_KEY", key)
            assert answers(with_key(protocol, server), ["a"])[0].text == text
    assert capsys.readouterr().err.count("1 answers repeat your key, where they now have ***") == 1


def test_a_key_is_masked_in_every_way_that_it_may_be_quoted():
    for key in (CANARY, 'sk-"quoted"', "sk-back\\slash", "sk-two\nlines"):
        for said in (key, json.dumps({"error": key}), repr(f"Bearer {key}"), str({"error": key})):
            assert "sk-" not in masked(said, key) and "***" in masked(said, key)
    assert masked("as it is", "") == "as it is"
