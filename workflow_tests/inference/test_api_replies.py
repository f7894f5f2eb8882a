"""Replies of APIs: fields, token counts, charsets and malformed JSON."""

import json
from importlib import import_module

import pytest
from api_engines import answers, make_engine
from fault_server import FAULTS, FaultServer, answer_to

from litm.base.download import public_url
from litm.inference.api_engine import Reply, read_reply
from litm.inference.engine import Prepared
from litm.inference.engines import openai
from litm.inference.retrying import Unanswered
from litm.records import Usage


def test_a_response_names_the_software_server_and_model_that_made_it(protocol):
    with FaultServer() as server:
        engine = make_engine(protocol, server)
        (response,) = answers(engine, ["a"]).values()
    assert response.made_with == f"{engine.software}, {engine.url}, some-model-0613"
    assert engine.software.startswith(f"{protocol} ")
    assert public_url("https://me:secret@example.org:8000/v1/?key=secret#x") == "https://example.org:8000/v1"


def test_prompts_with_the_same_beginning_are_asked_one_after_the_other(protocol):
    with FaultServer() as server:
        answers(make_engine(protocol, server, concurrency=1), ["b 1", "a 2", "b 2", "a 1"])
    assert [prompt for _, prompt, _ in server.asked] == ["a 1", "a 2", "b 1", "b 2"]


@pytest.mark.parametrize("fault", ["no usage", "usage 12.5"])
def test_without_a_tokenizer_the_servers_token_count_is_used_and_a_bad_one_is_reported_once(protocol, fault, capsys):
    with FaultServer(lambda prompt, attempt: fault if len(prompt) < 3 else None) as server:
        engine = make_engine(protocol, server)
        assert engine.prepare(["abcd"]) == [Prepared("abcd", None)]
        found = answers(engine, ["a", "bb", "abcd"])
    assert [found[index].prompt_tokens for index in range(3)] == [0, 0, 4]
    assert capsys.readouterr().err.count("does not report tokens") == 1


@pytest.mark.parametrize(
    ("said", "fault", "kept"), [("half \ud83d", None, "half \ufffd"), ("caf\u00e9", "latin-1", "caf\ufffd")], ids=ascii
)
def test_an_answer_that_is_cut_or_no_utf8_is_kept_as_utf8_and_counted(protocol, said, fault, kept, capsys):
    texts = {"a": said, "b": "whole \U0001f600"}
    with FaultServer(lambda prompt, attempt: fault if prompt == "a" else None, answer=texts.__getitem__) as server:
        found = answers(make_engine(protocol, server), ["a", "b"])
    assert [found[index].text for index in range(2)] == [kept, texts["b"]]
    assert "1 answers had lone surrogates or bytes that are not UTF-8" in capsys.readouterr().err


def test_replies_are_utf8_whatever_their_header_says(protocol, capsys):
    # Encodings that no text has, that Python raises errors of many kinds for, or that read UTF-8 as another text.
    faults = [*(name for name in FAULTS[protocol] if name.startswith("charset=")), "a mark of the byte order"]
    assert len(faults) > 10
    with FaultServer(lambda prompt, attempt: faults[int(prompt)], answer=lambda prompt: "café") as server:
        found = answers(make_engine(protocol, server), [str(number) for number in range(len(faults))])
    assert [found[number].text for number in range(len(faults))] == ["café"] * len(faults)
    assert "U+FFFD" not in capsys.readouterr().err


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
        *(("openai", where) for where in ("model", "choices", "choices.0", "choices.0.message", "choices.0.text")),
        *(("openai", f"choices.0.{name}") for name in ("finish_reason", "message.content", "message.refusal")),
        *(("anthropic", where) for where in ("model", "content", "content.0", "content.0.text", "stop_reason")),
    ],
)
def test_a_response_with_a_field_of_another_type_is_no_answer(protocol, where, value):
    read = import_module(f"litm.inference.engines.{protocol}").read
    body = json.loads(json.dumps(WHOLE[protocol]))
    if where == "choices.0.text":
        del body["choices"][0]["message"]
    with pytest.raises(Unanswered):
        read_reply(with_value(body, where, value), read)


@pytest.mark.parametrize("value", ["12", 12.5, 12.0, -1, True, 1e30, 10**30, float("nan"), [1], {"a": 1}], ids=str)
def test_tokens_that_are_no_numbers_of_tokens_are_not_known_and_the_answer_is_kept(protocol, value):
    read = import_module(f"litm.inference.engines.{protocol}").read
    whole = read_reply(json.dumps(WHOLE[protocol]).encode(), read)
    assert whole == Reply("Ann", "stop", 7, 1, "m") and whole.billed == Usage(7, 0, 0, 1)
    of_prompt, of_answer = (f"usage.{name}" for name in WHOLE[protocol]["usage"])
    for place, bad, tokens in (
        *((of_prompt, value, (None, 1)), (of_answer, value, (7, None))),
        *(("usage", value, (None, None)), ("usage", None, (None, None))),
    ):
        assert read_reply(with_value(WHOLE[protocol], place, bad), read) == Reply("Ann", "stop", *tokens, "m")


def test_refused_and_cut_answers_have_reasons_of_their_own(protocol):
    with FaultServer(lambda prompt, attempt: {"r": "refused", "l": "length"}.get(prompt)) as server:
        found = answers(make_engine(protocol, server), ["r", "l", "s"])
    assert [found[index].finish_reason for index in range(3)] == ["refused", "length", "stop"]
    assert found[0].text == "" and found[1].text == answer_to("l")


def test_the_first_of_several_choices_is_read_whatever_their_order_and_an_error_with_choices_is_no_answer():
    second, first = ({"index": index, "message": {"content": str(index)}, "finish_reason": "stop"} for index in (1, 0))
    body = {"choices": [second, first], "usage": {}}
    assert read_reply(json.dumps(body).encode(), openai.read).text == "0"
    with pytest.raises(Unanswered, match="an error instead of a reply"):
        read_reply(json.dumps({**body, "object": "error", "message": "out of memory"}).encode(), openai.read)
