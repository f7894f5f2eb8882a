"""The log-probability of accepted answers: equal in any batch, and to an independent computation."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
import torch
from families import FAMILIES, WORDS, random_prompts
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

from litm.inference import prefix_sharing
from litm.inference.engine import EngineSettings, Prepared, load_engine
from litm.records import MEASURED, Response, measured_answers

#: Nats: the largest difference between two computations in float32, or a fraction of sums of hundreds of nats.
TOLERANCE, RELATIVE = 1e-4, 1e-5
#: Batches of one answer, of a few, and of all.
BUDGETS = (1, 300, 10**6)


def measured(settings: EngineSettings, prompts: Sequence[Prepared]) -> list[Response]:
    """The response to each prompt, exactly one each."""
    pairs = [pair for batch in load_engine("transformers", settings).measure(prompts) for pair in batch]
    assert sorted(index for index, _ in pairs) == list(range(len(prompts)))
    return [response for _, response in sorted(pairs, key=lambda pair: pair[0])]


def nats(responses: Sequence[Response]) -> list[list[float]]:
    return [[one for one, _ in measured_answers(response.text)] for response in responses]


@torch.inference_mode()
def independent(settings: EngineSettings, prompts: Sequence[Prepared]) -> list[list[float]]:
    """The same by one reading of each prompt with each answer, without a batch, a cache or the engine."""
    engine = load_engine("transformers", settings)
    kind = AutoModelForSeq2SeqLM if engine.config.is_encoder_decoder else AutoModelForCausalLM
    model = kind.from_pretrained(settings.location, attn_implementation=settings.attention, dtype=torch.float32)
    found = []
    for prompt in prompts:
        own = []
        for answer in map(list, prompt.answers):
            if engine.config.is_encoder_decoder:
                inputs = {"input_ids": torch.tensor([prompt.ids]), "decoder_input_ids": torch.tensor([[0, *answer]])}
                first = 0
            else:
                inputs = {"input_ids": torch.tensor([[*(prompt.ids or []), *answer]])}
                first = len(prompt.ids or []) - 1
            logits = torch.log_softmax(model(**inputs, use_cache=False).logits[0].double(), dim=-1)
            own.append(sum(float(logits[first + place, token]) for place, token in enumerate(answer)))
        found.append(own)
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
            settings = replace(settings_of(family), batch_tokens=budget, share_prefixes=shares)
            found = measured(settings, prompts)
            assert_close(nats(found), expected)
    assert {response.finish_reason for response in found} == {MEASURED}
    assert [response.prompt_tokens for response in found] == [prompt.tokens for prompt in prompts]
    assert [response.response_tokens for response in found] == [sum(map(len, one.answers)) for one in prompts]
