"""The transformers engine: equal answers in any batch, for all architectures."""

from collections.abc import Sequence

import pytest
import torch
from engine_settings import changed_settings
from families import FAMILIES, random_prompts
from local_engines import CPU_ERROR, NEW_TOKENS, answered, answers, prepared
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, PreTrainedModel

from litm.base.messages import UserError
from litm.engines.interface import FIRST_LINE, EngineSettings
from litm.engines.registry import load_engine
from litm.local import generation
from litm.records.responses import LENGTH, STOP

#: Batches of a few prompts, of some more, and all in one.
BUDGETS = (150, 700, 10**6)


@pytest.mark.parametrize("family", FAMILIES)
def test_batches_give_the_answers_of_one_prompt_at_a_time(settings_of, family):
    settings, prompts = settings_of(family), random_prompts(24)
    alone = answers(settings, prompts)
    # Or the comparison would show nothing.
    assert len({response.text for response in alone}) > len(prompts) / 2
    for budget in BUDGETS:
        assert answers(changed_settings(settings, batch_tokens=budget), prompts) == alone


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_are_those_of_the_model_itself(settings_of, family):
    settings, prompts = settings_of(family), random_prompts(4, longest=20)
    expected, found = [greedy(settings, prompt) for prompt in prompts], answers(settings, prompts)
    assert [response.text.split() for response in found] == expected
    # At the limit of new tokens an answer is cut.
    assert all((one.finish_reason == LENGTH) == (one.response_tokens == NEW_TOKENS) for one in found)


@torch.inference_mode()
def greedy(settings: EngineSettings, prompt: list[int]) -> list[str]:
    """The words that a model says after a prompt, by its most likely token each time, without `generate` or a cache."""
    engine, said = load_engine("transformers", settings), []
    kind = AutoModelForSeq2SeqLM if engine.config.is_encoder_decoder else AutoModelForCausalLM
    model = kind.from_pretrained(settings.location, attn_implementation=settings.keys.attention)
    while len(said) < NEW_TOKENS and engine.tokenizer.eos_token_id not in said:
        inputs = {"input_ids": torch.tensor([prompt]), "decoder_input_ids": torch.tensor([[0, *said]])}
        if not engine.config.is_encoder_decoder:
            inputs = {"input_ids": torch.tensor([[*prompt, *said]])}
        said.append(int(model(**inputs, use_cache=False).logits[0, -1].argmax()))
    # The engine leaves out special tokens, such as the padding token that a random model may say.
    return engine.tokenizer.decode(said, skip_special_tokens=True).split()


def test_condensed_rotary_embeddings_change_the_answers(settings_of):
    condensed = {"rope_parameters": {"rope_type": "linear", "factor": 8.0, "rope_theta": 10000.0}}
    changed = answers(changed_settings(settings_of("llama"), config=condensed), random_prompts(6))
    assert changed != answers(settings_of("llama"), random_prompts(6))


def test_a_longer_window_in_the_configuration_lets_a_model_read_on_and_changes_no_shorter_prompt(settings_of):
    """MPT's bias of attention has the length of its configured window, which is less than the paper asked of it."""
    prompts = random_prompts(4)
    longer = changed_settings(settings_of("mpt"), config={"max_seq_len": 512})
    assert answers(longer, prompts) == answers(settings_of("mpt"), prompts)
    (answer,) = answers(longer, [[2] * 300])
    assert answer.response_tokens > 0
    with pytest.raises(RuntimeError, match="must match the size"):
        answers(settings_of("mpt"), [[2] * 300])


def test_the_answer_of_an_encoder_decoder_ends_at_its_end_token_or_at_the_limit(settings_of):
    settings, prompts = settings_of("t5"), random_prompts(12)
    whole = [response.text.split() for response in answers(settings, prompts)]
    end = whole[0][3]
    engine = load_engine("transformers", changed_settings(settings, batch_tokens=300))
    engine.tokenizer.eos_token = end
    found = answered(engine, prepared(prompts))
    assert {response.finish_reason for response in found} == {STOP, LENGTH}
    for one, words, prompt in zip(found, whole, prompts, strict=True):
        ends = end in words
        assert one.text.split() == (words[: words.index(end)] if ends else words)
        assert one.finish_reason == (STOP if ends else LENGTH) and (ends or one.response_tokens == NEW_TOKENS)
        assert one.prompt_tokens == len(prompt)


def test_an_encoder_decoder_stops_at_the_line_end(settings_of, monkeypatch):
    # Every word ends a line, so an answer is its first word that is not special.
    prompts = random_prompts(12)
    whole = answers(settings_of("t5"), prompts)
    engine = load_engine("transformers", changed_settings(settings_of("t5"), stop=FIRST_LINE, batch_tokens=300))
    tokens, decode = engine.tokenizer, engine.tokenizer.batch_decode
    monkeypatch.setattr(tokens, "batch_decode", lambda *ids, **more: [f"{text}\n" for text in decode(*ids, **more)])
    found = answered(engine, prepared(prompts))
    assert [one.text.split() for one in found] == [one.text.split()[:1] for one in whole]
    assert {response.finish_reason for response in found} == {STOP}


def test_an_encoder_decoder_without_a_start_token_is_refused(settings_of):
    model = AutoModelForSeq2SeqLM.from_pretrained(settings_of("t5").location)
    model.generation_config.decoder_start_token_id = None
    with pytest.raises(UserError, match="T5ForConditionalGeneration has no decoder_start_token_id"):
        generation.greedy_decoding(model, 1, [], 0)


def test_settings_that_would_change_greedy_answers_are_told_to_be_left_out(settings_of, capsys):
    model = AutoModelForCausalLM.from_pretrained(settings_of("llama").location)
    model.generation_config.repetition_penalty, model.generation_config.temperature = 1.3, 0.7
    assert generation.greedy_decoding(model, 1, [1], 0).repetition_penalty is None
    assert "are left out, as answers are greedy: repetition_penalty 1.3\n" in capsys.readouterr().err


def test_an_implementation_of_attention_that_an_architecture_lacks_is_named_with_the_remedy(settings_of):
    with pytest.raises(UserError, match="set the model's 'attention' to eager"):
        answers(changed_settings(settings_of("mpt"), attention="sdpa"), [[2]])


@pytest.mark.parametrize("family", ["llama", "t5"])
def test_weights_in_four_bits_of_any_shape_are_computed_with(settings_of, family):
    """Rows that are no multiple of a block, such as these of 32, fail in the product for processors with AVX-512."""
    prompts = random_prompts(6)
    found = answers(changed_settings(settings_of(family), quantization="nf4"), prompts)
    assert found != answers(settings_of(family), prompts)
    assert all("bitsandbytes" in response.made_with for response in found)


CUDA_ERROR = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")


def limit_memory(monkeypatch, room: int, error: RuntimeError) -> list[tuple[int, int]]:
    """Make every batch of more than `room` tokens fail. Returns the shapes (prompts, longest) that were tried."""
    tried: list[tuple[int, int]] = []
    generate_batch = generation.generate_batch

    def limited(model: PreTrainedModel, prompts: Sequence[list[int]], *rest) -> list[list[int]]:
        longest = max(len(prompt) for prompt in prompts)
        tried.append((len(prompts), longest))
        if len(prompts) * (longest + NEW_TOKENS) > room:
            raise error
        return generate_batch(model, prompts, *rest)

    monkeypatch.setattr(generation, "generate_batch", limited)
    return tried


@pytest.mark.parametrize("error", [CUDA_ERROR, CPU_ERROR], ids=["cuda", "cpu"])
def test_a_batch_that_does_not_fit_the_memory_is_halved_and_so_are_those_after_it(
    settings_of, monkeypatch, capsys, error
):
    settings, prompts = settings_of("llama"), random_prompts(30)
    alone = answers(settings, prompts)
    tried = limit_memory(monkeypatch, 600, error)
    assert answers(changed_settings(settings, batch_tokens=10**6), prompts) == alone
    assert [count for count, _ in tried[:3]] == [30, 15, 7]
    # What failed once is not tried again: after the halvings no batch fails.
    assert all(count * (longest + NEW_TOKENS) <= 600 for count, longest in tried[2:])
    _, loaded, *notes = capsys.readouterr().err.splitlines()
    assert loaded.startswith("llama model loaded: cpu, ")
    assert [line.partition(" prompts")[0] for line in notes] == [f"out of memory on cpu with {n}" for n in (30, 15)]


def test_a_single_prompt_beyond_the_memory_alone_has_no_answer(settings_of, monkeypatch, capsys):
    settings = changed_settings(settings_of("llama"), batch_tokens=200)
    prompts = [[2] * 40, [3] * 30, [4] * 50, [5] * 48]
    limit_memory(monkeypatch, 55, CUDA_ERROR)
    batches = list(load_engine("transformers", settings).generate(prepared(prompts)))
    assert sorted(index for batch in batches for index, _ in batch) == [0, 1]
    told = [line for line in capsys.readouterr().err.splitlines() if "single prompt" in line]
    assert len(told) == 1 and "single prompt of 50 tokens" in told[0] and "it gets no answer" in told[0]


def test_another_error_is_not_taken_for_a_lack_of_memory(settings_of, monkeypatch):
    limit_memory(monkeypatch, 0, RuntimeError("The size of tensor a (3) must match the size of tensor b (4)"))
    with pytest.raises(RuntimeError, match="must match the size"):
        answers(settings_of("llama"), [[2], [3]])
