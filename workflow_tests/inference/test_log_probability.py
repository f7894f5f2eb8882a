"""The log-probability of accepted answers: equal in any batch, and to an independent computation."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
import torch
from api_engines import make_engine
from engine_settings import changed_settings
from families import FAMILIES, WORDS, random_prompts
from fault_server import FAULTS, FaultServer
from local_engines import SETTINGS, kv_prompts, measured, nats
from programs import refused
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

from litm.engines.interface import COMPLETIONS_ENDPOINT, EngineSettings, Prepared
from litm.engines.registry import load_engine
from litm.local import prefix_sharing
from litm.records.responses import MEASURED

#: Nats: the largest difference between two computations in float32, or a fraction of sums of hundreds of nats.
TOLERANCE, RELATIVE = 1e-4, 1e-5
#: Batches of one answer, of a few, and of all.
BUDGETS = (1, 300, 10**6)


@torch.inference_mode()
def independent(settings: EngineSettings, prompts: Sequence[Prepared]) -> list[list[float]]:
    """What is measured, by one reading of each prompt with each answer, without a batch, a cache or the engine."""
    is_seq2seq = load_engine("transformers", settings).config.is_encoder_decoder
    kind = AutoModelForSeq2SeqLM if is_seq2seq else AutoModelForCausalLM
    model = kind.from_pretrained(settings.location, attn_implementation=settings.keys.attention, dtype=torch.float32)
    found: list[list[float]] = []
    for prompt in prompts:
        found.append([])
        for answer in prompt.answers:
            inputs = {"input_ids": torch.tensor([prompt.ids]), "decoder_input_ids": torch.tensor([[0, *answer]])}
            if not is_seq2seq:
                inputs = {"input_ids": torch.tensor([[*(prompt.ids or []), *answer]])}
            logits = model(**inputs, use_cache=False).logits[0, -len(answer) - 1 :].double()
            logs = torch.log_softmax(logits, dim=-1)
            found[-1].append(sum(float(logs[place, token]) for place, token in enumerate(answer)))
    return found


def assert_close(one: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> None:
    assert list(one) == [pytest.approx(own, rel=RELATIVE, abs=TOLERANCE) for own in other]


def with_answers(prompts: Sequence[Sequence[int]]) -> list[Prepared]:
    """Each prompt with one to four answers of one to nine tokens, some of which begin alike."""
    random, found = Random(7), []
    for prompt in prompts:
        answers = [random.choices(range(2, len(WORDS)), k=random.randint(1, 9)) for _ in range(random.randint(1, 4))]
        found.append(Prepared("", prompt, [*answers, answers[0][:1]]))
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_that_of_an_independent_computation_in_any_batch(settings_of, family, monkeypatch):
    # Prompts of any length are read in the order of the prefix tree.
    monkeypatch.setattr(prefix_sharing, "SHORT", 4)
    monkeypatch.setattr(prefix_sharing, "SHORT_TO_JOIN", 4)
    common = random_prompts(1)[0]
    prompts = with_answers([*random_prompts(8), *([*common, *prompt] for prompt in random_prompts(6))])
    expected = independent(settings_of(family), prompts)
    for shares in (True, False):
        for budget in BUDGETS:
            settings = changed_settings(settings_of(family), batch_tokens=budget, share_prefixes=shares)
            found = measured(load_engine("transformers", settings), prompts)
            assert_close(nats(found), expected)
    assert {response.finish_reason for response in found} == {MEASURED}
    assert [response.prompt_tokens for response in found] == [prompt.tokens for prompt in prompts]
    assert [response.response_tokens for response in found] == [sum(map(len, one.answers)) for one in prompts]


#: The reference model behind a server.
SERVED = {"endpoint": COMPLETIONS_ENDPOINT, "tokenizer": SETTINGS.location}
CONTENTS, ANSWERS = ["Ann is", "Bo was a"], [["a cat", "one"], ["dog"]]


def test_a_server_measures_what_the_engine_transformers_does():
    prompts = [prompt for prompt, _ in kv_prompts(2, 3)]
    accepted = [[value, "one more"] for _, value in kv_prompts(2, 3)]
    engine = load_engine("transformers", SETTINGS)
    expected = measured(engine, engine.prepare(prompts, accepted))

    model = AutoModelForCausalLM.from_pretrained(SETTINGS.location, dtype=torch.float32)

    @torch.inference_mode()
    def nats_of(ids: list[int]) -> list[float | None]:
        """Nothing for the first token, and the most probable token after the last."""
        logs = torch.log_softmax(model(torch.tensor([ids])).logits[0], dim=-1)
        return [None, *(float(logs[place, token]) for place, token in enumerate(ids[1:])), float(logs[-1].max())]

    with FaultServer(nats=nats_of) as server:
        served = make_engine("openai", server, request={"top_k": 1}, **SERVED)
        found = measured(served, served.prepare(prompts, accepted))
    assert_close(nats(found), nats(expected))
    same = {"text": "", "made_with": ""}
    assert [replace(one, **same) for one in found] == [replace(one, **same) for one in expected]
    # A request for each prompt, with the fields of the entry, that generates one token.
    assert len(server.bodies) == len(prompts)
    assert all((body["top_k"], body["max_tokens"], body["echo"]) == (1, 1, True) for body in server.bodies)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"choices.0.logprobs": None}, "gave log-probabilities of 0 tokens for a text of"),
        ({"choices.1.logprobs.token_logprobs": [-1.0]}, "gave log-probabilities of 1 tokens for a text of"),
        ({"choices.0.logprobs.token_logprobs": [-9999.0] * 100}, "gave log-probabilities of 100 tokens"),
    ],
)
def test_a_server_that_gives_no_log_probabilities_of_a_text_ends_the_run(change, message, monkeypatch):
    monkeypatch.setitem(FAULTS["openai"], "changed", {"set": change})
    with FaultServer(lambda prompt, attempt: "changed") as server:
        engine = make_engine("openai", server, **SERVED)
        assert f"the server {message}" in refused(measured, engine, engine.prepare(CONTENTS, ANSWERS))


@pytest.mark.parametrize("value", [True, "-1", [1]])
def test_a_reply_of_another_form_is_asked_again(value, monkeypatch):
    monkeypatch.setitem(FAULTS["openai"], "changed", {"set": {"choices.0.logprobs.token_logprobs": [value] * 4}})
    monkeypatch.setitem(FAULTS["openai"], "one less", {"drop": "choices.0.index"})
    with FaultServer(lambda prompt, attempt: {1: "changed", 2: "one less"}.get(attempt)) as server:
        found = measured(make_engine("openai", server, **SERVED), [Prepared("", [3, 4], [[5, 6]])])
    assert nats(found) == [[-2.0]] and len(server.asked) == 3


@pytest.mark.parametrize(
    ("value", "message"), [(-9999.0, "a log-probability is not a finite number"), (None, "of 4 tokens (1 are null)")]
)
def test_a_probability_of_0_or_null_is_an_error(value, message):
    with FaultServer(nats=lambda ids: [None, *[value] * len(ids)]) as server:
        assert message in refused(measured, make_engine("openai", server, **SERVED), [Prepared("", [3, 4], [[5]])])
