"""Replies of APIs: fields, token counts, charsets and malformed JSON."""

import asyncio
import json
import re
import tomllib
from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace

import pytest
from api_engines import answers, make_engine
from fault_server import FAULTS, FaultServer, place_in
from other_errors import OTHER_ERRORS

from litm.base.download import public_url
from litm.base.messages import UserError
from litm.engines.interface import Prepared
from litm.engines.modules import anthropic, openai
from litm.records.bills import Usage
from litm.records.responses import OVERFLOW
from litm.servers.api_engine import ApiEngine
from litm.servers.replies import WORDS, Reply, read_reply, refused_for
from litm.servers.retrying import Unanswered


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


def test_a_count_of_no_tokens_is_none_and_no_sign_of_a_cut(protocol, capsys):
    with FaultServer() as server:
        engine = make_engine(protocol, server)
        engine.counts_exactly = True
        assert engine.response(50, Reply("Ann", "stop", 0, 0, "m")).prompt_tokens == 50
        with pytest.raises(UserError, match="read 49 tokens of a prompt that has 50"):
            engine.response(50, Reply("Ann", "stop", 49, 0, "m"))
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


#: A whole response of each endpoint.
WHOLE: dict[str, dict] = {
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
WHOLE["completions"] = {**WHOLE["openai"], "choices": [{"text": "Ann", "finish_reason": "stop"}]}


def read(endpoint: str, changes: dict) -> Reply:
    """The reply in a whole response that has other values at places such as choices.0.message."""
    body = deepcopy(WHOLE[endpoint])
    for where, value in changes.items():
        holder, key = place_in(body, where)
        holder[key] = value
    return read_reply(json.dumps(body).encode(), (anthropic if endpoint == "anthropic" else openai).read)


CONTENT, REASON = "choices.0.message.content", "choices.0.finish_reason"
PARTS = [{"type": "text", "text": "An"}, {"type": "text", "text": "n"}]
THOUGHT = {"type": "thinking", "thinking": "Hm."}
#: The words of each protocol for the end of an answer, and ours.
OF_OPENAI = {
    "eos": "stop", "eos_token": "stop", "tool_calls": "stop", "function_call": "stop", "length": "length",
    "model_length": "length", "max_tokens": "length", "content_filter": "refused", "of_another_server": "unknown",
    None: "unknown",
}  # fmt: skip
OF_ANTHROPIC = {
    "stop_sequence": "stop", "tool_use": "stop", "max_tokens": "length", "model_context_window_exceeded": "length",
    "pause_turn": "length", "refusal": "refused", None: "unknown",
}  # fmt: skip
WITHHELD = {"text": "", "finish_reason": "refused", "prompt_tokens": None, "response_tokens": None}
CACHED = {"input_tokens": 5, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 400, "output_tokens": 9}
OF_CACHED = {"prompt_tokens": 435, "response_tokens": 9, "cache_write": 30, "cache_read": 400}


@pytest.mark.parametrize(
    ("endpoint", "changes", "expected"),
    [
        *((endpoint, {}, {}) for endpoint in WHOLE),
        ("openai", {CONTENT: None, "choices.0.message.refusal": "No."}, {"text": "No.", "finish_reason": "refused"}),
        ("openai", {CONTENT: "yes", "choices.0.message.refusal": None}, {"text": "yes"}),
        *(("openai", {CONTENT: content}, {"text": ""}) for content in (None, [])),
        ("openai", {"choices.0.message": {"role": "assistant"}}, {"text": ""}),
        ("openai", {"choices": []}, {"text": "", "finish_reason": "refused"}),
        ("openai", {"choices": [], "usage": None, "prompt_filter_results": [{}]}, WITHHELD),
        ("openai", {"choices": [], "usage": None}, "IndexError"),
        ("openai", {CONTENT: None, REASON: "tool_calls"}, {"text": ""}),
        *(("openai", {REASON: reason}, reason) for reason in ("abort", "network_error", "ERROR")),
        ("openai", {REASON: None, "choices.0.error": {"code": 502}}, "did not complete"),
        ("anthropic", {"stop_reason": "abort"}, "abort"),
        ("openai", {CONTENT: "", REASON: "of_another_server"}, "of_another_server"),
        ("openai", {"usage.total_tokens": 50}, {"response_tokens": 43}),
        ("openai", {"usage": {"prompt_tokens": 7, "total_tokens": 50}}, {"response_tokens": 43}),
        ("openai", {"usage.total_tokens": 3}, {}),
        ("openai", {CONTENT: [THOUGHT, *PARTS]}, {}),
        ("openai", {CONTENT: [*PARTS, {"type": "image_url"}]}, "image_url"),
        ("openai", {"object": "error", "message": "out of memory"}, "an error instead of a reply"),
        *(("openai", {REASON: given}, {"finish_reason": ours}) for given, ours in OF_OPENAI.items()),
        ("anthropic", {"content": [THOUGHT, *PARTS], "usage": CACHED}, OF_CACHED),
        ("anthropic", {"content": [], "usage": {}}, {"text": "", "prompt_tokens": None, "response_tokens": None}),
        *(("anthropic", {"stop_reason": given}, {"finish_reason": ours}) for given, ours in OF_ANTHROPIC.items()),
    ],
)
def test_a_reply_is_its_text_its_end_in_our_words_and_its_tokens_or_not_whole(endpoint, changes, expected):
    if isinstance(expected, str):
        with pytest.raises(Unanswered, match=expected):
            read(endpoint, changes)
    else:
        assert read(endpoint, changes) == replace(Reply("Ann", "stop", 7, 1, "m"), **expected)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ({"code": "context_length_exceeded"}, "overflow"),
        ({"type": "exceed_context_size_error", "n_ctx": 5}, "overflow"),
        ({"message": "prompt is too long: 6 tokens > 5 maximum"}, "overflow"),
        ({"object": "error", "message": "This model's maximum context length is 5 tokens."}, "overflow"),
        ([{"error": {"message": "The token count (6) exceeds the maximum number of tokens allowed (5)."}}], "overflow"),
        ({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096"}, "overflow"),
        ("context length exceeded by 20 tokens", "overflow"),
        # xAI: OpenAI's SDK gives the text of 'error' alone.
        ("This model's maximum prompt length is 5 but the request contains 6 tokens.", "overflow"),
        ({"type": None, "code": "content_filter"}, "refused"),
        ({"code": "content_policy_violation"}, "refused"),
        ({"code": "400", "message": "litellm.ContentPolicyViolationError: filtered"}, "refused"),
        ({"code": None, "innererror": {"code": "ResponsibleAIPolicyViolation"}}, "refused"),
        # OpenAI, Anthropic, DashScope, DeepSeek and Zhipu.
        ({"code": "invalid_prompt", "message": "flagged as potentially violating our usage policy"}, "refused"),
        ({"type": "invalid_request_error", "message": "Output blocked by content filtering policy"}, "refused"),
        ({"code": "data_inspection_failed", "message": "Input data may contain inappropriate content."}, "refused"),
        ({"code": "DataInspectionFailed"}, "refused"),
        ({"message": "Content Exists Risk", "type": "invalid_request_error"}, "refused"),
        ({"code": "1301", "message": "sensitive"}, "refused"),
        ({"code": "1302", "message": "busy"}, None),
        *((error, None) for error in ({"message": "no field 'content_filter'"}, {"code": 400}, None, "busy")),
        ({"message": "'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens"}, None),
    ],
)
def test_an_error_may_refuse_one_prompt_alone(error, reason):
    reply = refused_for(error)
    assert reason == (reply and reply.finish_reason)
    # Nothing is billed for a prompt that is too long.
    assert reason != "overflow" or reply.billed == Usage(0, 0, 0, 0)


def test_the_first_of_several_choices_is_read_whatever_their_order():
    second, first = ({"index": index, "message": {"content": str(index)}, "finish_reason": "stop"} for index in (1, 0))
    assert read("openai", {"choices": [second, first]}).text == "0"


#: What a field may have been made of, whatever it should be.
WRONG = (5, 1.5, True, {"a": 1}, [5], [[]], [{}], [{"type": "text"}], [{"type": "text", "text": 5}])


@pytest.mark.parametrize("value", WRONG, ids=str)
@pytest.mark.parametrize(
    ("endpoint", "where"),
    [
        *(("openai", where) for where in ("model", "choices", "choices.0", "choices.0.message")),
        *(("openai", f"choices.0.{name}") for name in ("finish_reason", "message.content", "message.refusal")),
        ("completions", "choices.0.text"),
        *(("anthropic", where) for where in ("model", "content", "content.0", "content.0.text", "stop_reason")),
    ],
)
def test_a_response_with_a_field_of_another_type_is_no_answer(endpoint, where, value):
    with pytest.raises(Unanswered):
        read(endpoint, {where: value})


@pytest.mark.parametrize("value", ["12", 12.5, 12.0, -1, True, 1e30, 10**30, float("nan"), [1], {"a": 1}], ids=str)
def test_tokens_that_are_no_numbers_of_tokens_are_not_known_and_the_answer_is_kept(protocol, value):
    assert read(protocol, {}).billed == Usage(7, 0, 0, 1)
    of_prompt, of_answer = (f"usage.{name}" for name in WHOLE[protocol]["usage"])
    assert read(protocol, {of_prompt: value}) == Reply("Ann", "stop", None, 1, "m")
    assert read(protocol, {of_answer: value}) == Reply("Ann", "stop", 7, None, "m")
    for usage in (value, None):
        assert read(protocol, {"usage": usage}) == Reply("Ann", "stop", None, None, "m")


SERVERS = tomllib.loads(WORDS.read_text(encoding="utf-8"))["server"]


@pytest.mark.parametrize("server", SERVERS, ids=[server["name"] for server in SERVERS])
def test_a_servers_own_words_for_a_prompt_that_is_too_long_are_known(server):
    assert server["source"] and re.search(server["words"], server["says"], re.IGNORECASE)
    for error in (server["says"], {"message": server["says"]}, {"error": {"message": server["says"], "code": 400}}):
        assert refused_for(error).finish_reason == OVERFLOW


@pytest.mark.parametrize("says", OTHER_ERRORS)
def test_other_errors_are_not_taken_for_a_prompt_that_is_too_long(says):
    assert refused_for({"error": {"message": says}}) is None


@pytest.mark.parametrize(
    "body",
    [
        {"error": "The number of tokens to keep from the initial prompt is greater than the context length"},
        {"object": "error", "message": "This model's maximum context length is 5 tokens.", "code": 400},
        {"choices": [{"index": 0, "error": {"code": 400, "message": "maximum context length is 5"}, "message": None}]},
    ],
)
def test_an_error_in_a_reply_of_status_200_says_too_long_as_one_of_another_status_does(body):
    async def send(*_, **__):
        return json.dumps(body).encode()

    reply = asyncio.run(ApiEngine.post(SimpleNamespace(send=send), None, "/chat/completions", {}, openai.read))
    assert reply.finish_reason == OVERFLOW
