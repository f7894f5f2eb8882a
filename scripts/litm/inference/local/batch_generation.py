"""Generation of a batch with `generate` of transformers, greedily; a batch that does not fit the memory is halved."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext

import torch
from transformers import GenerationConfig, PreTrainedModel

from litm.base.messages import UserError, note
from litm.inference.local.prefix_cache import KeptCache, reading_order
from litm.inference.local.reasoning_end import Ending, stopping_rules
from litm.models.batches import halved_budget, longest_first, next_batch

#: Out-of-memory messages that do not come as `torch.OutOfMemoryError`: the CPU allocator's and the CUDA libraries'.
OUT_OF_MEMORY = (
    "DefaultCPUAllocator: can't allocate memory",
    "CUDA error: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
)


def batch_outputs(
    model: PreTrainedModel,
    prompts: Sequence[Sequence[int]],
    ending: Ending,
    kept: KeptCache | None,
    token_budget: int,
) -> Iterator[tuple[Sequence[int], list[list[int]]]]:
    """Batches of prompts (tokens,) within a budget of tokens: indices of the prompts, and the new token ids of each.

    A batch that does not fit the memory is halved, and so are all later ones. A single prompt that does not fit is left
    out; a message tells of the first one. kept: the model's caches with the last prompts; None to share nothing.
    """
    new_tokens = model.generation_config.max_new_tokens
    lengths = [len(prompt) for prompt in prompts]
    order = reading_order(prompts, kept.short) if kept else longest_first(lengths)
    done = 0
    is_told = False
    while done < len(order):
        batch = next_batch(order, done, lengths, new_tokens, token_budget)
        outputs = generate_if_it_fits(model, [prompts[index] for index in batch], ending, kept)
        if outputs is not None:
            done += len(batch)
            yield batch, outputs
        elif len(batch) == 1:
            done += 1
            if not is_told:
                note(out_of_memory(model.device, lengths[batch[0]]))
            is_told = True
        else:
            token_budget = halved_budget(batch, lengths, new_tokens)
            note(
                f"out of memory on {model.device} with {len(batch)} prompts at a time: on with {token_budget} "
                "batch_tokens"
            )


def generate_if_it_fits(
    model: PreTrainedModel, prompts: Sequence[Sequence[int]], ending: Ending, kept: KeptCache | None = None
) -> list[list[int]] | None:
    """The output of `generate_batch`, or None if memory does not suffice."""
    try:
        return generate_batch(model, prompts, ending, kept)
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
    if kept:
        kept.forget()
    # Only here, since the error holds the tensors of the failed batch. Without CUDA this does nothing.
    torch.cuda.empty_cache()
    return None


def is_out_of_memory(error: RuntimeError) -> bool:
    """Whether an error may go away with fewer prompts at a time."""
    return isinstance(error, torch.OutOfMemoryError) or any(text in str(error) for text in OUT_OF_MEMORY)


def out_of_memory(device: torch.device, prompt_tokens: int) -> str:
    """The message on a single prompt that does not fit the memory; no batch is smaller."""
    return (
        f"out of memory on {device} with a single prompt of {prompt_tokens} tokens, which no smaller 'batch_tokens' "
        "helps: it gets no answer, nor does any later one that does not fit. Free memory there, use another device or "
        "fewer bits ('dtype', 'quantization'), or leave such prompts out by the model's 'context_window', and run again"
    )


@torch.inference_mode()
def generate_batch(
    model: PreTrainedModel, prompts: Sequence[Sequence[int]], ending: Ending, kept: KeptCache | None = None
) -> list[list[int]]:
    """New token ids of each prompt, up to the length of the longest answer of the batch.

    A causal model continues the prompt, so padding is on the left and repeats the prompt. An encoder-decoder reads the
    prompt from position 0, so padding is on the right, and its output begins with the start token. kept: the model's
    caches with part of the prompt.
    """
    pad = model.generation_config.pad_token_id
    on_the_right = model.config.is_encoder_decoder
    width = max(len(prompt) for prompt in prompts)
    ids = torch.full((len(prompts), width), pad)
    mask = torch.zeros((len(prompts), width), dtype=torch.long)
    for row, prompt in enumerate(prompts):
        own = slice(len(prompt)) if on_the_right else slice(width - len(prompt), width)
        ids[row, own] = torch.tensor(prompt)
        mask[row, own] = 1
    with kept.of_prompts(prompts) if kept else nullcontext() as cache:
        output = model.generate(  # type: ignore[operator]  # taken for a Tensor by the checker
            input_ids=ids.to(model.device),
            attention_mask=mask.to(model.device),
            past_key_values=cache,
            **stopping_rules(ending, prompts),
        )
    return output[:, 1 if on_the_right else width :].tolist()


def decoder_start_id(model: PreTrainedModel) -> int | None:
    """The id that starts an encoder-decoder's output and is not part of the answer; None for a causal model.

    Raises `UserError` if its configuration has none.
    """
    if not model.config.is_encoder_decoder:
        return None
    own = model.generation_config
    start = own.bos_token_id if own.decoder_start_token_id is None else own.decoder_start_token_id
    if start is None:
        raise UserError(f"{type(model).__name__} has no decoder_start_token_id: set it in generation_config.json")
    return start


def greedy_decoding(
    max_new_tokens: int, end_tokens: list[int], pad_token: int, decoder_start: int | None
) -> GenerationConfig:
    """Greedy decoding only: a model's own configuration may set penalties or sampling."""
    return GenerationConfig(
        max_new_tokens=max_new_tokens,
        do_sample=False,
        eos_token_id=end_tokens or None,
        pad_token_id=pad_token,
        decoder_start_token_id=decoder_start,
    )
