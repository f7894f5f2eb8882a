"""The engine for Anthropic's API: requests and replies."""

from dataclasses import replace

import pytest
from api_engines import HASTE, SETTINGS, answers
from conftest import ROOT
from fault_server import FaultServer

from litm.base.messages import UserError
from litm.inference.engines.anthropic import Engine, read, request_fields
from litm.inference.retrying import Unanswered

CONVERSATION = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "I am Ann."},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "Who am I?"},
]


def engine_for(server: FaultServer, **changes: object) -> Engine:
    return Engine(replace(SETTINGS, base_url=server.url, **changes), HASTE)


def test_what_the_system_says_is_a_field_of_its_own():
    with FaultServer() as server:
        engine = engine_for(server, concurrency=1)
        list(engine.generate(engine.prepare(["Why?", CONVERSATION])))
    usual = {"model": "some-model", "temperature": 0, "max_tokens": 50}
    assert server.bodies == [
        {**usual, "messages": [{"role": "user", "content": "Why?"}]},
        {**usual, "messages": CONVERSATION[1:], "system": "Be brief."},
    ]


def test_fields_of_the_request_are_added_replaced_and_left_out():
    request = {"temperature": None, "top_k": 1, "max_tokens": 900}
    fields = request_fields(replace(SETTINGS, request=request), "Why?")
    assert fields == {"messages": [{"role": "user", "content": "Why?"}], "top_k": 1, "max_tokens": 900}


def test_tokens_from_a_cache_are_tokens_of_the_prompt_and_thoughts_no_part_of_the_answer():
    thought, text = {"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Ann"}
    usage = {"input_tokens": 5, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 400, "output_tokens": 9}
    reply = read({"content": [thought, text], "stop_reason": "end_turn", "usage": usage, "model": "m"})
    assert (reply.text, reply.prompt_tokens, reply.response_tokens) == ("Ann", 435, 9)
    assert read({"content": [], "stop_reason": "end_turn", "usage": {}, "model": "m"}).prompt_tokens is None


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        *(("end_turn", "stop"), ("stop_sequence", "stop"), ("max_tokens", "length"), ("refusal", "refused")),
        ("model_context_window_exceeded", "length"),
    ],
)
def test_the_reason_of_an_end_is_told_in_our_words(given, ours):
    assert read({"content": [], "stop_reason": given}).finish_reason == ours


def test_an_answer_that_is_not_whole_is_none():
    with pytest.raises(Unanswered, match="pause_turn"):
        read({"content": [], "stop_reason": "pause_turn"})


def test_fewer_prompt_tokens_than_the_text_has_end_the_run():
    tokenizer = str(ROOT / "resources" / "reference_model")
    with FaultServer(tokens=lambda prompt: 400) as server:
        assert answers(engine_for(server, tokenizer=tokenizer), ["a prompt"])[0].prompt_tokens == 400
    with FaultServer(tokens=lambda prompt: 3) as server:
        engine = engine_for(server, tokenizer=tokenizer)
        with pytest.raises(UserError, match="read 3 tokens of a prompt that has at least"):
            answers(engine, ["a prompt that has more words than three"])
