"""Joined attention: keys and values in several places are attended to separately, and the outputs joined by log-sums.

The softmax over two sets of keys is the mean of the softmaxes over each, weighted by their sums of exponentials (Dao et
al. 2022, arXiv 2205.14135, section 3.1). A common prefix is thus read once for all prompts (Juravsky et al. 2024, arXiv
2402.05099), and the tokens after it need no mask, which would make a processor compare all pairs.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from transformers import AttentionInterface, Cache, GenerationMixin, PreTrainedModel

#: Name of this attention in transformers. It has no mask function, so that no masks are made.
JOINED = "joined"
#: Name of the attention that it replaces.
SDPA = "sdpa"
#: With at most this many queries, `attention_of_few` is faster in half precision: six times in bfloat16 for a query of
#: each of 10 prompts (benchmarks/attention.py), on a processor without AMX. PyTorch's operator uses no other bfloat16
#: instructions for it; with AMX it is three times as fast.
FEW = 4
#: With at least `MANY` queries and at most `MOST_THREADS` threads, `attention_in_blocks` is faster (`can_use_blocks`).
MANY, MOST_THREADS = 128, 4
#: Rows of scores in a block, so that a block of 2,000 columns stays near the processor.
ROWS = 384
#: Number formats in half precision.
HALF = (torch.bfloat16, torch.float16)
#: Arguments of attention that joined attention does not support, unless None. A `sliding_window` is never shorter than
#: the prompts of a cache that is kept.
MORE = ("position_bias", "softcap", "s_aux", "sinks", "indices", "block_indices")


@dataclass(frozen=True)
class Attended:
    """The result of attention."""

    output: torch.Tensor
    """The output (prompts, heads, queries, size)."""
    log_sum: torch.Tensor
    """The logarithm of the sum of exponentials over the keys (prompts, heads, queries), undefined for a query that sees
    no key.
    """


def attention(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    scale: float | None,
    causal: bool = False,
    mask: torch.Tensor | None = None,
) -> Attended:
    """Scaled dot-product attention with its log-sums; all tensors are (prompts, heads, tokens, size).

    Keys may have fewer heads, each for several heads of the queries. mask: is added to the products.
    """
    if query.shape[2] <= FEW and query.dtype in HALF and not causal and not uses_amx(query):
        return attention_of_few(query, keys, values, scale, mask)
    # What `scaled_dot_product_attention` runs on a processor, but with the log-sums.
    run = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    return Attended(*run(query, keys, values, is_causal=causal, attn_mask=mask, scale=scale))


def attention_of_few(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scale: float | None, mask: torch.Tensor | None = None
) -> Attended:
    """The result of `attention` with all scores in memory, in float32; a query that sees no key gets zeros."""
    prompts, heads, tokens, size = query.shape
    key_heads = keys.shape[1]
    grouped = query.reshape(prompts, key_heads, heads // key_heads * tokens, size).float()
    scores = (grouped * (size**-0.5 if scale is None else scale)) @ keys.transpose(-1, -2).float()
    if mask is not None:
        scores = (scores.view(prompts, heads, tokens, -1) + mask.float()).view_as(scores)
    numbers = torch.finfo(torch.float32)
    largest = scores.amax(-1, keepdim=True).clamp_min_(numbers.min)
    weights = scores.sub_(largest).exp_()
    total = weights.sum(-1, keepdim=True).clamp_min_(numbers.tiny)
    output = (weights / total).to(values.dtype) @ values
    return Attended(output.view_as(query), (largest + total.log()).view(prompts, heads, tokens))


def can_use_blocks(query: torch.Tensor) -> bool:
    """Whether `attention_in_blocks` is faster: in bfloat16, on a processor with instructions for it.

    Not if the processor also has AMX, because PyTorch's attention uses it, nor with many threads, for which blocks are
    too small.
    """
    if query.dtype is not torch.bfloat16 or query.shape[2] < MANY or torch.get_num_threads() > MOST_THREADS:
        return False
    return bool(torch.cpu.get_capabilities().get("avx512_bf16")) and not uses_amx(query)


def uses_amx(query: torch.Tensor) -> bool:
    """Whether PyTorch's attention multiplies by AMX in a number format, which no other operators surpass."""
    return query.dtype is torch.bfloat16 and bool(torch.cpu.get_capabilities().get("amx_bf16"))


def attention_in_blocks(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scale: float | None
) -> torch.Tensor:
    """The output of causal attention, the queries being the last tokens; tensors as in `attention`.

    Blocks of scores are matrix products, for which bfloat16 is fast. Scores are rounded to the model's number format,
    as in transformers' attention `eager`: large scores lose more than with PyTorch's operator. The logits of
    SmolLM2-135M for 1,500 tokens differ from those in float32 by 0.021 of their standard deviation, with either.
    """
    prompts, heads, tokens, size = query.shape
    key_heads = keys.shape[1]
    group, before = heads // key_heads, keys.shape[2] - tokens
    block = max(1, ROWS // group)
    later = query.new_full((block, block), -torch.inf).triu(1)
    scaled = query * (size**-0.5 if scale is None else scale)
    output = torch.empty_like(query)
    for prompt, head, start in product(range(prompts), range(key_heads), range(0, tokens, block)):
        asking, stop = slice(head * group, (head + 1) * group), min(start + block, tokens)
        count, seen = stop - start, before + stop
        rows = scaled[prompt, asking, start:stop].reshape(group * count, size)
        scores = (rows @ keys[prompt, head, :seen].t()).view(group, count, seen)
        scores[..., seen - count :] += later[:count, :count]
        weights = scores.softmax(-1).view(group * count, seen)
        output[prompt, asking, start:stop] = (weights @ values[prompt, head, :seen]).view(group, count, size)
    return output


def attention_to_shared(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scale: float | None) -> Attended:
    """The same for keys and values of one prompt that all prompts share: they are read once."""
    prompts, heads, tokens, size = query.shape
    result = attention(query.transpose(0, 1).reshape(1, heads, prompts * tokens, size), keys, values, scale)
    apart = (heads, prompts, tokens)
    return Attended(result.output.reshape(*apart, size).transpose(0, 1), result.log_sum.reshape(apart).transpose(0, 1))


def attention_to_nothing(query: torch.Tensor) -> Attended:
    """The neutral element of `joined`: a sum of no exponentials."""
    return Attended(torch.zeros_like(query), query.new_full(query.shape[:-1], -torch.inf, dtype=torch.float32))


def joined(first: Attended, second: Attended) -> torch.Tensor:
    """The output of attention to the keys of both parts, which must be disjoint."""
    # In single precision at least, as the log-sums are; a half-precision model would round once more.
    weight = torch.sigmoid(first.log_sum - second.log_sum)[..., None]
    return torch.lerp(second.output.to(weight.dtype), first.output.to(weight.dtype), weight).to(first.output.dtype)


class NotPlainAttentionError(Exception):
    """A model asks its attention for more than this is."""


#: They know where their keys and values are: `keys`, those that the last update gave the model, and `attend`.
_layers: ContextVar[Sequence[Any]] = ContextVar("layers of the cache that is in use")


@contextmanager
def attending_to(cache: Cache) -> Iterator[None]:
    """Within the context, a model with `JOINED` attention attends to this cache."""
    token = _layers.set(cache.layers)
    try:
        yield
    finally:
        _layers.reset(token)


def joined_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    is_causal: bool | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """Attention as transformers calls it, with key and value already in the cache.

    Raises `NotPlainAttentionError` for anything but causal attention to the layer's cache.
    """
    index: Any = module.layer_idx
    layer = _layers.get()[index]
    is_special = any(others.get(name) is not None for name in MORE) or attention_mask is not None or is_causal is False
    # A model may use another cache, or change the keys and values.
    if is_special or value.shape[-1] != query.shape[-1] or key is not layer.keys:
        raise NotPlainAttentionError
    return layer.attend(query, scaling).transpose(1, 2).contiguous(), None


AttentionInterface.register(JOINED, joined_attention)


def can_join(model: PreTrainedModel) -> bool:
    """Whether a model can use joined attention: on a processor, and with `SDPA` as a replaceable function.

    Not if the model prepares its own inputs for generation, because these may bypass the cache. Whether it needs more
    than causal attention shows only when it runs.
    """
    prepare: Any = getattr(type(model), "prepare_inputs_for_generation", None)
    prepares = prepare is not GenerationMixin.prepare_inputs_for_generation
    has_functions = model._supports_attention_backend and not prepares
    return has_functions and model.device.type == "cpu" and model.config.get_text_config()._attn_implementation == SDPA
