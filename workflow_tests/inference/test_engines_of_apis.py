"""The engines of APIs: their requests and replies, and an end of the run for truncated prompts."""

import pytest
from api_engines import answers, make_engine
from conftest import ROOT
from fault_server import FaultServer, answer_to
from programs import refused
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from litm.engines.interface import CHAT_ENDPOINT, COMPLETIONS_ENDPOINT
from litm.engines.modules import anthropic, openai
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


def tokens_by(location: str, endpoint: str = COMPLETIONS_ENDPOINT):
    """How many tokens a server with this tokenizer reads."""
    tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(location)

    def count(prompt: str) -> int:
        if endpoint == COMPLETIONS_ENDPOINT:
            return len(tokenizer(prompt)["input_ids"])
        chat = [{"role": "user", "content": prompt}]
        return len(tokenizer.apply_chat_template(chat, add_generation_prompt=True)["input_ids"])

    return count


NEW_LIMIT = "max_completion_tokens"


def test_a_chat_is_sent_as_messages_and_a_text_as_one_of_the_user(protocol):
    with FaultServer() as server:
        engine = make_engine(protocol, server, concurrency=1)
        list(engine.generate(engine.prepare(["Why?", TURNS])))
    usual = {"model": "some-model", "temperature": 0, "max_tokens": 50, "messages": TURNS[1:]}
    # What the system says is a field of its own in one of the protocols.
    chat = {**usual, "messages": TURNS} if protocol == "openai" else {**usual, "system": "Be brief."}
    assert sorted(server.bodies, key=len) == [usual, chat]


def test_completions_are_sent_the_text_in_the_models_template():
    with FaultServer() as server:
        for template in ({}, {"prompt_template": "named", "template": "Q: {prompt}\nA:"}):
            answers(make_engine("openai", server, endpoint=COMPLETIONS_ENDPOINT, **template), ["Why?"])
    assert [body["prompt"] for body in server.bodies] == ["Why?", "Q: Why?\nA:"]


@pytest.mark.parametrize(
    ("protocol", "url", "endpoint", "request_", "sent"),
    [
        (openai, "http://x", CHAT_ENDPOINT, {"seed": 1}, {"temperature": 0, "max_tokens": 50, "seed": 1}),
        (openai, "http://x", CHAT_ENDPOINT, {"temperature": None, "top_k": 1}, {"max_tokens": 50, "top_k": 1}),
        (openai, "http://x", CHAT_ENDPOINT, {NEW_LIMIT: 9}, {"temperature": 0, NEW_LIMIT: 9}),
        (openai, None, CHAT_ENDPOINT, {}, {"temperature": 0, NEW_LIMIT: 50}),
        (openai, None, COMPLETIONS_ENDPOINT, {}, {"temperature": 0, "max_tokens": 50}),
        (anthropic, None, CHAT_ENDPOINT, {"seed": 1, "max_tokens": 9}, {"temperature": 0, "max_tokens": 9, "seed": 1}),
        (anthropic, None, CHAT_ENDPOINT, {"temperature": None, "top_k": 1}, {"max_tokens": 50, "top_k": 1}),
    ],
)
def test_fields_of_the_request_are_added_replaced_and_left_out(protocol, url, endpoint, request_, sent):
    assert protocol.PROVIDER.sent_fields(url, endpoint, 50, request_) == sent


@pytest.mark.parametrize(
    ("endpoint", "has_template", "is_least"),
    [(COMPLETIONS_ENDPOINT, False, False), (CHAT_ENDPOINT, True, False), (CHAT_ENDPOINT, False, True)],
)
def test_another_number_of_prompt_tokens_than_ours_ends_the_run(endpoint, has_template, is_least, chat_tokenizer):
    tokenizer = chat_tokenizer if has_template else REFERENCE
    ours = tokens_by(tokenizer, endpoint if has_template else COMPLETIONS_ENDPOINT)
    for more in (0, -1, 1):
        with FaultServer(tokens=lambda prompt, more=more: ours(prompt) + more) as server:
            engine = make_engine("openai", server, endpoint=endpoint, tokenizer=tokenizer, concurrency=1)
            prepared = engine.prepare(["why is it so", "and how"])
            assert [prompt.tokens for prompt in prepared] == [ours(prompt.content) for prompt in prepared]
            if more == 0 or (more == 1 and is_least):
                found = dict(pair for batch in engine.generate(prepared) for pair in batch)
                assert [found[n].prompt_tokens - more for n in (0, 1)] == [prompt.tokens for prompt in prepared]
                continue
            least, counted = "at least " if is_least else "", ours("and how")
            said = refused(next, engine.generate(prepared))
            assert f"read {counted + more} tokens of a prompt that has {least}{counted} by" in said


def test_a_silently_truncated_prompt_ends_the_run_and_answers_to_whole_prompts_are_kept(protocol):
    cut, kept = "and a long one, longer than all of the others", []
    faulty = FaultServer(lambda prompt, _: "truncated" if prompt == cut else None, tokens=tokens_by(REFERENCE))
    with faulty as server:
        engine = make_engine(protocol, server, endpoint=COMPLETIONS_ENDPOINT, tokenizer=REFERENCE, concurrency=1)
        batches = engine.generate(engine.prepare(["a short one", cut, "why"]))
        assert "it cuts prompts without saying so" in refused(lambda: [kept.extend(batch) for batch in batches])
    assert [index for index, _ in kept] == [0]


def test_arguments_of_the_servers_chat_template_make_our_count_the_least(chat_tokenizer):
    with FaultServer(tokens=lambda prompt: 500) as server:
        request = {"chat_template_kwargs": {"enable_thinking": False}}
        engine = make_engine("openai", server, tokenizer=chat_tokenizer, request=request)
        assert answers(engine, ["why"])[0].prompt_tokens == 500
    assert server.bodies[0]["chat_template_kwargs"] == {"enable_thinking": False}


def test_a_chat_template_can_be_ours_on_completions_and_the_text_begins_once(chat_tokenizer):
    ours = {"endpoint": COMPLETIONS_ENDPOINT, "prompt_template": CHAT}
    with FaultServer(tokens=tokens_by(chat_tokenizer)) as server:
        engine = make_engine("openai", server, tokenizer=chat_tokenizer, **ours)
        list(engine.generate(engine.prepare([TURNS])))
        assert "set the model's 'tokenizer'" in refused(answers, make_engine("openai", server, **ours), ["a"])
    assert [body["prompt"] for body in server.bodies] == ["[system] Be brief.\n[user] Why?\n[assistant]"]


def test_a_prompt_that_a_filter_holds_back_is_refused_and_not_a_failure():
    with FaultServer(lambda prompt, attempt: "filtered prompt" if prompt == "bad" else None) as server:
        found = answers(make_engine("openai", server), ["good", "bad"])
    assert [(found[n].text, found[n].finish_reason) for n in (0, 1)] == [(answer_to("good"), "stop"), ("", "refused")]


def test_the_sdks_are_imported_by_their_engines_alone():
    for path in sorted((ROOT / "scripts").rglob("*.py")):
        lines = path.read_text().splitlines()
        names = {line.split()[1].split(".")[0] for line in lines if line.startswith(("import ", "from "))}
        assert not names & {"openai", "anthropic"} or path.parent.name == "engines", path
