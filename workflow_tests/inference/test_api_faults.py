"""Both API engines and a faulty server: retries, errors that end a run, and kept answers."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from api_engines import CANARY, HASTE, PROTOCOLS, SETTINGS, answers, make_engine
from conftest import ROOT
from fault_server import PASSING, STATUSES, FaultServer, answer_to, seeded_faults
from programs import run_program
from record_makers import example

from litm.base.addresses import public_url
from litm.base.errors import UserError
from litm.base.hashing import canonical_json
from litm.base.json_files import read_json, read_jsonl, write_json
from litm.domain.example import write_examples
from litm.domain.response import Response
from litm.inference.engine import Prepared
from litm.inference.fit import Fit
from litm.inference.journal import Journal
from litm.inference.prompt import sweep_prompts
from litm.inference.remote.failures import Unanswered, asked_wait, masked
from litm.inference.remote.replies import Reply, read_reply
from litm.inference.remote.retrying import Patience, as_they_finish
from litm.inference.sweep import ask_missing
from litm.prompting.formats import RAW


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("count", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_prompts_are_answered_once_each_through_mixed_faults(protocol, count, tmp_path):
    prompts = [f"question {number} of many" for number in range(count)]
    examples = [example(id=p, prompt=p) for p in prompts]
    mixed = seeded_faults(seed=1, share=0.35, kinds=[*PASSING * 2, "hang"], at_most=4)
    planned = sweep_prompts(examples, "0" * 64, RAW)
    started = time.monotonic()
    with FaultServer(mixed) as server, Journal(tmp_path / "j") as journal:
        engine = make_engine(protocol, server, replace(HASTE, timeout=2.0), concurrency=32)
        outcome = ask_missing(planned, journal, {"model": "m"}, Fit(None, 50), lambda: engine, "test")
        assert not outcome.failed
        assert {prompt.key: journal[prompt.key].text for prompt in planned} == {
            prompt.key: answer_to(prompt.content) for prompt in planned
        }
    faults = Counter(fault for _, _, fault in server.asked)
    assert set(faults) == {None, *PASSING, "hang"} and faults[None] == count
    assert server.answered == Counter(prompts)
    lines = [record for _, record in read_jsonl(tmp_path / "j")]
    assert Counter(line["key"] for line in lines if "key" in line) == Counter(prompt.key for prompt in planned)
    assert time.monotonic() - started < 120


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("fault", [*PASSING, "hang"])
def test_a_fault_that_goes_by_is_followed_by_another_try(protocol, fault):
    with FaultServer(lambda prompt, attempt: fault if attempt < 3 else None) as server:
        engine = make_engine(protocol, server, replace(HASTE, timeout=1.0))
        assert answers(engine, ["why?"])[0].text == answer_to("why?")
    assert [fault for _, _, fault in server.asked] == [fault, fault, None]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_prompt_without_an_answer_is_left_out_after_the_last_attempt(protocol, capsys):
    with FaultServer(lambda prompt, attempt: "500" if prompt == "b" else None) as server:
        assert set(answers(make_engine(protocol, server), ["a", "b", "c"])) == {0, 2}
    assert Counter(prompt for _, prompt, _ in server.asked) == {"a": 1, "b": HASTE.attempts, "c": 1}
    assert "got no answer, the last time because: Error code: 500" in capsys.readouterr().err


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("fault", ["401", "403", "404", "too long", "quota", "later"])
def test_what_will_not_go_by_ends_the_run_with_the_providers_words_and_keeps_what_was_answered(protocol, fault):
    prompts = [f"{number:02}" for number in range(20)]
    kept: dict[int, Response] = {}
    with FaultServer(lambda prompt, attempt: fault if prompt == "05" else None) as server:
        engine = make_engine(protocol, server, concurrency=2)
        with pytest.raises(UserError, match=f"{fault}, says the server"):
            for batch in engine.generate(engine.prepare(prompts)):
                kept |= dict(batch)
    assert Counter(prompt for _, prompt, _ in server.asked)["05"] == 1
    assert {prompts[index] for index in kept} == set(server.answered) >= {"00", "01", "02", "03", "04"}


@pytest.mark.parametrize("seed", range(40))
def test_no_request_is_sent_once_it_is_known_that_one_will_not_go_by(seed):
    # How many times the loop turns until each request is answered: which of them come in the same turn is by chance.
    turns = random.Random(seed).choices(range(4), k=30)
    late: list[int] = []
    refused = asyncio.Event()

    async def send(number: int) -> int:
        if refused.is_set():
            late.append(number)
        for _ in range(turns[number]):
            await asyncio.sleep(0)
        if number == 10:
            refused.set()
            raise UserError("no")
        return number

    async def ask_all() -> list[int]:
        return [number async for batch in as_they_finish(send, range(30), 4, HASTE) for number, _ in batch]

    with pytest.raises(UserError, match="no"):
        asyncio.run(ask_all())
    assert not late


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_server_that_answers_nothing_ends_the_run(protocol):
    with FaultServer(lambda prompt, attempt: "503") as server:
        engine = make_engine(protocol, server, replace(HASTE, attempts=2, prompts=4), concurrency=2)
        with pytest.raises(UserError, match="no answer to 4 prompts one after the other.*503"):
            answers(engine, [str(number) for number in range(100)])
    assert len(server.asked) <= 4 * 2 + 2


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_server_that_was_never_there_ends_the_run_at_once(protocol, capsys):
    with FaultServer() as server:
        engine = make_engine(protocol, server)
    with pytest.raises(UserError, match=r"there is no server: http://127.0.0.1:\d+/.* refused .* 'base_url'"):
        answers(engine, list("abcdef"))
    # No word of another try.
    assert capsys.readouterr().err == ""


def test_a_server_that_has_answered_and_is_gone_is_waited_for(capsys):
    sent = []

    async def send(number: int) -> int:
        sent.append(number)
        if number:
            raise Unanswered("refused", no_server=True)
        return number

    async def ask_all() -> list:
        return [batch async for batch in as_they_finish(send, range(6), 1, replace(HASTE, attempts=3, prompts=2))]

    with pytest.raises(UserError, match="no answer to 2 prompts one after the other"):
        asyncio.run(ask_all())
    assert sent == [0, 1, 1, 1, 2, 2, 2]
    said = capsys.readouterr().err
    assert said.count("It is sent again in") == 1 and "a prompt is asked up to 3 times" in said


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_prompts_without_an_answer_among_others_do_not_end_the_run(protocol):
    with FaultServer(lambda prompt, attempt: "500" if prompt.endswith("odd") else None) as server:
        engine = make_engine(protocol, server, replace(HASTE, attempts=2, prompts=3), concurrency=1)
        found = answers(engine, [f"{number:02} {'odd' if number % 2 else 'even'}" for number in range(12)])
    assert set(found) == {0, 2, 4, 6, 8, 10}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_model_says_how_long_a_request_may_take_and_how_often_it_is_sent(protocol):
    with FaultServer(lambda prompt, attempt: "hang" if prompt == "b" else None) as server:
        engine = make_engine(protocol, server, None, request_timeout=0.5, request_attempts=2, concurrency=1)
        found = answers(engine, ["a", "b"])
    assert set(found) == {0}
    assert Counter(prompt for _, prompt, _ in server.asked) == {"a": 1, "b": 2}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_first_request_that_is_sent_again_is_said_with_how_long_will_be_waited(protocol, capsys):
    with FaultServer(lambda prompt, attempt: "500" if attempt < 4 else None) as server:
        answers(make_engine(protocol, server), ["a", "b"])
    (line,) = capsys.readouterr().err.splitlines()
    assert "a request got no answer: Error code: 500" in line
    assert "is asked up to 6 times, with waits that grow to 0.0 minutes in all" in line
    assert Patience(600.0, 10).longest_waits == 1 + 2 + 4 + 8 + 16 + 32 + 60 + 60 + 60


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_all_requests_wait_where_the_server_says_so(protocol, monkeypatch):
    monkeypatch.setitem(STATUSES, "429", (429, {"retry-after-ms": "600"}))

    def slow_answer(prompt: str) -> str:
        time.sleep(0.05)
        return answer_to(prompt)

    told_at = ("10", 1)
    with FaultServer(lambda *asked: "429" if asked == told_at else None, slow_answer) as server:
        found = answers(make_engine(protocol, server, concurrency=4), [f"{number:02}" for number in range(40)])
    assert len(found) == 40
    told = next(when for when, _, fault in server.asked if fault)
    # Those that were on their way may still come.
    assert not [when for when, _, _ in server.asked if told + 0.1 < when < told + 0.58]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_more_requests_are_under_way_than_are_allowed(protocol):
    with FaultServer() as server:
        engine = make_engine(protocol, server, concurrency=3)
        batches = engine.generate(engine.prepare([str(number) for number in range(20)]))
        first = next(batches)
        # While an answer is being written down, at most the others that were allowed can be lost.
        time.sleep(0.2)
        assert len(first) <= len(server.asked) <= 3
        batches.close()


def test_the_wait_is_read_from_every_form_of_the_header():
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    date = format_datetime(now + timedelta(seconds=40), usegmt=True)
    assert asked_wait({"retry-after": "7"}, now) == 7
    assert asked_wait({"retry-after": "0.5"}, now) == 0.5
    assert asked_wait({"retry-after": date}, now) == 40
    assert asked_wait({"retry-after": date}, now + timedelta(minutes=2)) == 0
    assert asked_wait({"retry-after": date.replace(" GMT", " -0000")}, now) == 40
    assert asked_wait({"retry-after-ms": "250", "retry-after": "1"}, now) == 0.25
    for nothing in ({}, {"retry-after": "soon"}, {"retry-after": "nan"}, {"retry-after": ""}):
        assert asked_wait(nothing, now) is None


def test_waits_grow_up_to_the_longest_and_differ():
    patience = Patience(600.0, 10, first_wait=1.0, longest_wait=60.0)
    for attempt, most in ((1, 1), (2, 2), (5, 16), (7, 60), (30, 60)):
        state = SimpleNamespace(attempt_number=attempt)
        waits = [patience.backoff(state) for _ in range(2000)]
        assert 0 <= min(waits) < 0.05 * most and 0.95 * most < max(waits) <= most


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_missing_key_is_said_before_anything_is_asked(protocol, monkeypatch):
    variable = f"{protocol.upper()}_API_KEY"
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(UserError, match=f"{variable} has no key; nothing was asked"):
        import_module(f"litm.inference.engines.{protocol}").Engine(SETTINGS)
    with FaultServer() as server, pytest.raises(UserError, match="MY_KEY has no key"):
        make_engine(protocol, server, api_key_variable="MY_KEY")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_server_of_ones_own_is_never_sent_the_providers_key(protocol, monkeypatch):
    monkeypatch.setenv(f"{protocol.upper()}_API_KEY", "sk-of-the-provider")
    monkeypatch.setenv("MY_KEY", " sk-mine\n")
    with FaultServer() as server:
        answers(make_engine(protocol, server), ["a"])
        answers(make_engine(protocol, server, api_key_variable="MY_KEY"), ["b"])
    assert server.keys == ["no-key", "sk-mine"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_key_that_a_provider_repeats_is_not_printed(protocol, monkeypatch):
    monkeypatch.setenv("MY_KEY", "401")
    with FaultServer(lambda prompt, attempt: "401") as server:
        engine = make_engine(protocol, server, api_key_variable="MY_KEY")
        with pytest.raises(UserError) as refusal:
            answers(engine, ["a"])
    assert "***, says the server" in str(refusal.value) and "401" not in str(refusal.value)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("fault", ["key in an error", "key as the reason"])
def test_a_key_that_is_repeated_in_a_whole_response_is_not_printed(protocol, fault, monkeypatch, capsys):
    monkeypatch.setenv("MY_KEY", CANARY)
    with FaultServer(lambda prompt, attempt: fault) as server:
        engine = make_engine(protocol, server, replace(HASTE, attempts=2, prompts=2), api_key_variable="MY_KEY")
        with pytest.raises(UserError, match=r"the API gave no answer to 2 prompts .*\*\*\*") as refusal:
            answers(engine, ["a", "b"])
    said = capsys.readouterr()
    assert "***" in said.err and "sk-" not in said.err + said.out + str(refusal.value)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_key_that_is_repeated_as_the_models_name_is_not_recorded_and_the_answer_is_as_it_came(protocol, monkeypatch):
    monkeypatch.setenv("MY_KEY", CANARY)
    with FaultServer(lambda prompt, attempt: "key as the model", answer=lambda prompt: f"{prompt} no-key") as server:
        (response,) = answers(make_engine(protocol, server, api_key_variable="MY_KEY"), ["a"]).values()
        (other,) = answers(make_engine(protocol, server), ["a"]).values()
    assert response.made_with.endswith(", model of ***") and response.text == "a no-key"
    # What stands for a key that is not needed is no secret.
    assert other.made_with.endswith(", model of no-key")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_key_that_an_answer_repeats_is_not_recorded_and_that_is_said_but_a_word_may_be_a_key(
    protocol, monkeypatch, capsys
):
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


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_response_says_which_software_server_and_model_made_it(protocol):
    with FaultServer() as server:
        engine = make_engine(protocol, server)
        (response,) = answers(engine, ["a"]).values()
    assert response.made_with == f"{engine.software}, {engine.url}, some-model-0613"
    assert engine.software.startswith(f"{protocol} ")
    assert public_url("https://me:secret@example.org:8000/v1/?key=secret#x") == "https://example.org:8000/v1"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_prompts_with_the_same_beginning_are_asked_one_after_the_other(protocol):
    with FaultServer() as server:
        answers(make_engine(protocol, server, concurrency=1), ["b 1", "a 2", "b 2", "a 1"])
    assert [prompt for _, prompt, _ in server.asked] == ["a 1", "a 2", "b 1", "b 2"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("fault", ["no usage", "wrong usage"])
def test_without_a_tokenizer_the_servers_number_is_taken_and_a_missing_or_wrong_one_said_once(protocol, fault, capsys):
    with FaultServer(lambda prompt, attempt: fault if len(prompt) < 3 else None) as server:
        engine = make_engine(protocol, server)
        assert engine.prepare(["abcd"]) == [Prepared("abcd", None)]
        found = answers(engine, ["a", "bb", "abcd"])
    assert [found[index].prompt_tokens for index in range(3)] == [0, 0, 4]
    assert capsys.readouterr().err.count("does not report tokens") == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_answer_that_was_cut_within_a_character_can_be_written_as_utf8_and_that_is_said(protocol, capsys):
    with FaultServer(answer={"a": "half \ud83d", "b": "whole \U0001f600"}.__getitem__) as server:
        found = answers(make_engine(protocol, server), ["a", "b"])
    assert [found[index].text for index in range(2)] == ["half \ufffd", "whole \U0001f600"]
    assert "1 answers had lone surrogates" in capsys.readouterr().err


#: Encodings that no text has, that Python raises errors of many kinds for, or that UTF-8 read as them is another text.
CHARSETS = (
    "hex",
    "base64",
    "idna",
    "undefined",
    "rot13",
    "punycode",
    "unicode_escape",
    "ISO-8859-1",
    "utf-7",
    "no-such",
)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_replies_are_utf8_whatever_their_header_says(protocol, capsys):
    faults = [*(f"charset={name}" for name in CHARSETS), "a mark of the byte order"]
    with FaultServer(lambda prompt, attempt: faults[int(prompt)], answer=lambda prompt: "café") as server:
        found = answers(make_engine(protocol, server), [str(number) for number in range(len(faults))])
    assert [found[number].text for number in range(len(faults))] == ["café"] * len(faults)
    assert "U+FFFD" not in capsys.readouterr().err


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_answer_with_bytes_that_are_not_utf8_is_kept_and_counted(protocol, capsys):
    with FaultServer(lambda prompt, attempt: "latin-1", answer=lambda prompt: "café") as server:
        found = answers(make_engine(protocol, server), ["a"])
    assert found[0].text == "caf\ufffd"
    assert "1 answers had lone surrogates or bytes that are not UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_error_with_a_charset_of_no_text_is_asked_again(protocol):
    with FaultServer(lambda prompt, attempt: "503 in hex" if attempt == 1 else None) as server:
        found = answers(make_engine(protocol, server), ["a"])
    assert found[0].text == answer_to("a") and len(server.asked) == 2


#: Of each protocol a whole response.
WHOLE = {
    "openai": {
        "model": "m",
        "choices": [{"message": {"content": "Ann"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 1},
    },
    "anthropic": {
        "model": "m",
        "content": [{"type": "text", "text": "Ann"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 7, "output_tokens": 1},
    },
}
#: What a field may have been made of, whatever it should be.
WRONG = (5, 1.5, True, {"a": 1}, [5], [[]], [{}], [{"type": "text"}], [{"type": "text", "text": 5}])


def with_value(body: dict, where: str, value: object) -> bytes:
    """The bytes of a response with another value at a place such as choices.0.message."""
    body = json.loads(json.dumps(body))
    *path, last = [int(word) if word.isdigit() else word for word in where.split(".")]
    place = body
    for word in path:
        place = place[word]
    place[last] = value
    return json.dumps(body).encode()


@pytest.mark.parametrize("value", WRONG, ids=str)
@pytest.mark.parametrize(
    ("protocol", "where"),
    [
        *(("openai", "model"), ("openai", "choices"), ("openai", "choices.0"), ("openai", "choices.0.message")),
        *(("openai", "choices.0.finish_reason"), ("openai", "choices.0.message.content")),
        *(("openai", "choices.0.message.refusal"), ("openai", "choices.0.text")),
        *(("anthropic", "model"), ("anthropic", "content"), ("anthropic", "content.0")),
        *(("anthropic", "content.0.text"), ("anthropic", "stop_reason")),
    ],
)
def test_a_response_with_a_field_of_another_type_is_no_answer(protocol, where, value):
    read = import_module(f"litm.inference.engines.{protocol}").read
    body = json.loads(json.dumps(WHOLE[protocol]))
    if where == "choices.0.text":
        del body["choices"][0]["message"]
    with pytest.raises(Unanswered):
        read_reply(with_value(body, where, value), read)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("value", ["12", 12.5, 12.0, -1, True, 1e30, 10**30, float("nan"), [1], {"a": 1}], ids=str)
def test_tokens_that_are_no_numbers_of_tokens_are_not_known_and_the_answer_is_kept(protocol, value):
    read = import_module(f"litm.inference.engines.{protocol}").read
    whole = read_reply(json.dumps(WHOLE[protocol]).encode(), read)
    assert whole == Reply("Ann", "stop", 7, 1, "m")
    of_prompt, of_answer = WHOLE[protocol]["usage"]
    unknown = replace(whole, prompt_tokens=None)
    assert read_reply(with_value(WHOLE[protocol], f"usage.{of_prompt}", value), read) == unknown
    unknown = replace(whole, response_tokens=None)
    assert read_reply(with_value(WHOLE[protocol], f"usage.{of_answer}", value), read) == unknown
    for usage in (value, None):
        unknown = replace(whole, prompt_tokens=None, response_tokens=None)
        assert read_reply(with_value(WHOLE[protocol], "usage", usage), read) == unknown


def test_json_that_is_nested_too_deep_is_no_answer():
    with pytest.raises(Unanswered, match="not whole JSON"):
        read_reply(b"[" * 100_000 + b"]" * 100_000, lambda body: pytest.fail("was read"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_refused_and_cut_answers_have_reasons_of_their_own(protocol):
    with FaultServer(lambda prompt, attempt: {"r": "refused", "l": "length"}.get(prompt)) as server:
        found = answers(make_engine(protocol, server), ["r", "l", "s"])
    assert [found[index].finish_reason for index in range(3)] == ["refused", "length", "stop"]
    assert found[0].text == "" and found[1].text == answer_to("l")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_answer_is_kept_whole_whatever_the_stop_rule(protocol):
    texts = {"a": " \n\n one\ntwo\n", "b": "one", "c": "\n \n", "d": "one\n\ntwo", "e": ""}
    with FaultServer(lambda prompt, attempt: "length", answer=texts.__getitem__) as server:
        for stop in ("end_token", "first_line"):
            found = answers(make_engine(protocol, server, stop=stop), list(texts))
            assert [found[index].text for index in range(5)] == list(texts.values())
            assert {found[index].finish_reason for index in range(5)} == {"length"}


def command(protocol: str, server: FaultServer, folder: Path) -> list[str]:
    write_examples(folder / "examples.jsonl.gz", [example(id=str(n), prompt=f"prompt {n:02}") for n in range(40)])
    url = f"{server.url}/v1" if protocol == "openai" else server.url
    source = {
        "location": "m",
        "revision": None,
        "context_window": None,
        "base_url": url,
        "identity": {"api_model": "m"},
    }
    write_json(folder / "source.json", source)
    settings = {"engine": protocol, "endpoint": "chat", "prompt_template": "chat", "request": {}}
    options = {
        "model": "m",
        "experiment": "e",
        "source": folder / "source.json",
        "settings": canonical_json(settings),
        "decoding": canonical_json({"max_new_tokens": 30, "stop": "end_token"}),
        "run": canonical_json({"concurrency": 4}),
        "examples": folder / "examples.jsonl.gz",
        "journal": folder / "journal.jsonl",
        "responses": folder / "responses.jsonl.gz",
        "manifest": folder / "manifest.json",
    }
    words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
    return [sys.executable, str(ROOT / "scripts" / "inference" / "generate.py"), *words]


def hear_signals() -> None:
    """What a shell starts in the background ignores SIGINT, and by `nohup` SIGHUP, and with it all that this starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("protocol", "number", "said"),
    [
        ("openai", signal.SIGTERM, "stopped by SIGTERM: what was"),
        ("openai", signal.SIGHUP, "stopped by SIGHUP: what was"),
        ("anthropic", signal.SIGINT, "interrupted: what was"),
    ],
)
def test_a_run_that_is_stopped_says_so_on_one_line_keeps_its_answers_and_the_next_asks_the_others(
    protocol, number, said, tmp_path
):
    hangs = {f"prompt {n:02}" for n in range(20, 24)}
    with FaultServer(lambda prompt, attempt: "hang" if prompt in hangs and attempt == 1 else None) as server:
        process = subprocess.Popen(
            command(protocol, server, tmp_path), stderr=subprocess.PIPE, text=True, preexec_fn=hear_signals
        )
        deadline = time.monotonic() + 60
        while server.asked[-1:] == [] or sum(fault == "hang" for *_, fault in server.asked) < 4:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(process.pid, number)
        errors = process.communicate(timeout=20)[1]
        assert process.returncode == 1
        assert (
            errors.splitlines()[-1].startswith(said) and "Traceback" not in errors and "never retrieved" not in errors
        )
        assert len((tmp_path / "journal.jsonl").read_text().splitlines()) == 1 + 20

        done = run_program("generate", *command(protocol, server, tmp_path)[2:])
        assert done.returncode == 0, done.stderr
    assert "20 prompts asked, 20 reused" in done.stderr
    assert server.answered == Counter(f"prompt {n:02}" for n in range(40))
    texts = [record["response"] for _, record in read_jsonl(tmp_path / "responses.jsonl.gz")]
    assert texts == [answer_to(f"prompt {n:02}") for n in range(40)]
    assert sum(read_json(tmp_path / "manifest.json")["made_with"].values()) == 40
