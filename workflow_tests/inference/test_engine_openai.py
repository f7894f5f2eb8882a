"""The engine for OpenAI-compatible servers: requests, and an end of the run for truncated prompts."""

from dataclasses import replace

import pytest
from api_engines import HASTE, SETTINGS, answers
from conftest import ROOT
from fault_server import FaultServer, answer_to
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from litm.base.messages import UserError
from litm.inference.engine import CHAT_ENDPOINT, COMPLETIONS_ENDPOINT
from litm.inference.engines.openai import Engine, read, request_fields
from litm.prompting.prompt_format import CHAT

REFERENCE = str(ROOT / "resources" / "reference_model")
TURNS = [{"role": role, "content": text} for role, text in (("system", "Be brief."), ("user", "Why?"))]
TEMPLATE = "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}[assistant]"


@pytest.fixture(scope="module")
def chat_tokenizer(tmp_path_factory) -> str:
    """The reference model's tokenizer with a chat template, and a token that it puts before every text."""
    folder = tmp_path_factory.mktemp("tokenizer")
    tokenizer = AutoTokenizer.from_pretrained(REFERENCE, bos_token="<|endoftext|>")
    tokenizer.chat_template = TEMPLATE
    tokenizer.add_bos_token = True
    tokenizer.save_pretrained(folder)
    return str(folder)


def engine_for(server: FaultServer, **changes: object) -> Engine:
    return Engine(replace(SETTINGS, base_url=f"{server.url}/v1", **changes), HASTE)


def tokens_by(location: str, endpoint: str):
    """How many tokens a server with this tokenizer reads."""
    tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(location)

    def count(prompt: str) -> int:
        if endpoint == COMPLETIONS_ENDPOINT:
            return len(tokenizer(prompt)["input_ids"])
        chat = [{"role": "user", "content": prompt}]
        return len(tokenizer.apply_chat_template(chat, add_generation_prompt=True)["input_ids"])

    return count


def test_a_chat_is_sent_as_messages_and_a_text_as_one_of_the_user():
    with FaultServer() as server:
        list(engine_for(server, concurrency=1).generate(engine_for(server).prepare(["Why?", TURNS])))
    assert [body["messages"] for body in server.bodies] == [TURNS[1:], TURNS]
    assert server.bodies[0] == {"model": "some-model", "messages": TURNS[1:], "temperature": 0, "max_tokens": 50}


def test_completions_are_sent_the_text_in_the_models_template():
    with FaultServer() as server:
        raw = engine_for(server, endpoint=COMPLETIONS_ENDPOINT)
        named = replace(raw.settings, prompt_template="named", template="Q: {prompt}\nA:")
        for engine in (raw, Engine(named, HASTE)):
            answers(engine, ["Why?"])
    assert [body["prompt"] for body in server.bodies] == ["Why?", "Q: Why?\nA:"]


def test_fields_of_the_request_are_added_replaced_and_left_out():
    def fields(request: dict, **changes: object) -> dict:
        return request_fields(replace(SETTINGS, base_url="http://x", request=request, **changes))

    assert fields({"seed": 1}) == {"temperature": 0, "max_tokens": 50, "seed": 1}
    assert fields({"temperature": None, "top_k": 1}) == {"max_tokens": 50, "top_k": 1}
    assert fields({"max_completion_tokens": 900}) == {"temperature": 0, "max_completion_tokens": 900}
    own = replace(SETTINGS, base_url=None)
    assert request_fields(own) == {"temperature": 0, "max_completion_tokens": 50}
    assert "max_tokens" in request_fields(replace(own, endpoint=COMPLETIONS_ENDPOINT))


@pytest.mark.parametrize(
    ("endpoint", "has_template", "short", "long"),
    [
        (COMPLETIONS_ENDPOINT, False, UserError, UserError),
        (CHAT_ENDPOINT, True, UserError, UserError),
        (CHAT_ENDPOINT, False, UserError, None),
    ],
)
def test_another_number_of_prompt_tokens_than_ours_ends_the_run(endpoint, has_template, short, long, chat_tokenizer):
    tokenizer = chat_tokenizer if has_template else REFERENCE
    ours = tokens_by(chat_tokenizer if has_template else REFERENCE, endpoint if has_template else COMPLETIONS_ENDPOINT)
    for more, error in ((0, None), (-1, short), (1, long)):
        kept = []
        with FaultServer(tokens=lambda prompt, more=more: ours(prompt) + more) as server:
            engine = engine_for(server, endpoint=endpoint, tokenizer=tokenizer, concurrency=1)
            prepared = engine.prepare(["why is it so", "and how"])
            assert [prompt.tokens for prompt in prepared] == [ours(prompt.content) for prompt in prepared]
            if error is None:
                kept += [pair for batch in engine.generate(prepared) for pair in batch]
                assert {index: response.prompt_tokens for index, response in kept} == {
                    index: ours(prompt.content) + more for index, prompt in enumerate(prepared)
                }
                continue
            least = "" if long else "at least "
            counted = ours("and how")
            with pytest.raises(error, match=f"read {counted + more} tokens of a prompt that has {least}{counted} by"):
                kept += [pair for batch in engine.generate(prepared) for pair in batch]
            assert kept == []


def test_a_silently_truncated_prompt_ends_the_run_and_answers_to_whole_prompts_are_kept():
    ours = tokens_by(REFERENCE, COMPLETIONS_ENDPOINT)
    cut = "and a long one, longer than all of the others"
    kept = []
    with FaultServer(lambda prompt, attempt: "truncated" if prompt == cut else None, tokens=ours) as server:
        engine = engine_for(server, endpoint=COMPLETIONS_ENDPOINT, tokenizer=REFERENCE, concurrency=1)
        with pytest.raises(UserError, match="it cuts prompts without saying so"):
            for batch in engine.generate(engine.prepare(["a short one", cut, "why"])):
                kept += batch
    assert [index for index, _ in kept] == [0]


def test_arguments_of_the_servers_chat_template_make_our_count_the_least(chat_tokenizer):
    with FaultServer(tokens=lambda prompt: 500) as server:
        request = {"chat_template_kwargs": {"enable_thinking": False}}
        engine = engine_for(server, tokenizer=chat_tokenizer, request=request)
        assert answers(engine, ["why"])[0].prompt_tokens == 500
    assert server.bodies[0]["chat_template_kwargs"] == {"enable_thinking": False}


def test_a_chat_template_can_be_ours_on_completions_and_the_text_begins_once(chat_tokenizer):
    ours = tokens_by(chat_tokenizer, COMPLETIONS_ENDPOINT)
    with FaultServer(tokens=ours) as server:
        engine = engine_for(
            server, endpoint=COMPLETIONS_ENDPOINT, tokenizer=chat_tokenizer, prompt_template=CHAT, concurrency=1
        )
        list(engine.generate(engine.prepare([TURNS])))
    assert server.bodies[0]["prompt"] == "[system] Be brief.\n[user] Why?\n[assistant]"
    with FaultServer() as server, pytest.raises(UserError, match="set the model's 'tokenizer'"):
        answers(engine_for(server, endpoint=COMPLETIONS_ENDPOINT, prompt_template=CHAT), ["a"])


def test_a_prompt_that_a_filter_holds_back_is_refused_and_not_a_failure():
    with FaultServer(lambda prompt, attempt: "filtered prompt" if prompt == "bad" else None) as server:
        found = answers(engine_for(server), ["good", "bad"])
    assert [(found[index].text, found[index].finish_reason) for index in (0, 1)] == [
        (answer_to("good"), "stop"),
        ("", "refused"),
    ]


def test_a_message_that_refuses_and_one_without_content_are_read():
    def of(**message: object) -> tuple[str, str]:
        reply = read({"choices": [{"message": message, "finish_reason": "stop"}], "model": "m"})
        return reply.text, reply.finish_reason

    assert of(content=None, refusal="I will not.") == ("I will not.", "refused")
    assert of(content=None) == ("", "stop")
    assert of(content="yes", refusal=None) == ("yes", "stop")


def test_the_text_of_a_message_in_parts_is_joined_without_thoughts():
    def of(*parts: dict) -> str:
        return read({"choices": [{"message": {"content": list(parts)}, "finish_reason": "stop"}]}).text

    one, two = {"type": "text", "text": "An"}, {"type": "text", "text": "n"}
    assert (of(one, two), of()) == ("Ann", "")
    assert of({"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, one, two) == "Ann"
    with pytest.raises(TypeError, match="image_url"):
        of(one, {"type": "image_url"})


def test_the_sdks_are_imported_by_their_engines_alone():
    for path in sorted((ROOT / "scripts").rglob("*.py")):
        lines = path.read_text().splitlines()
        names = {line.split()[1].split(".")[0] for line in lines if line.startswith(("import ", "from "))}
        assert not names & {"openai", "anthropic"} or path.parent.name == "engines", path
