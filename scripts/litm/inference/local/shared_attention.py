"""Attention to keys and values that lie in several places, read where they are, and joined by their log-sums.

The softmax over two sets of keys is the mean of the softmaxes over each, weighted by their sums of exponentials (Dao et
al. 2022, arXiv 2205.14135, section 3.1). So what prompts have in common is read once for all of them (Juravsky et al.
2024, arXiv 2402.05099), and what is read behind a beginning needs no mask, with which a processor compares all pairs.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from transformers import AttentionInterface, Cache, GenerationMixin, PreTrainedModel

#: The implementation of attention as transformers knows it. Has no function for masks, so that no masks are made.
JOINED = "joined"
#: The implementation that it does the same as.
SDPA = "sdpa"


#: What models ask their attention for beside what is known here, if it is not None.
MORE = ("position_bias", "softcap", "s_aux", "sinks", "sliding_window", "indices", "block_indices")


@dataclass(frozen=True)
class Attended:
    """What queries found: output (prompts, heads, queries, size), and log_sum (prompts, heads, queries), the logarithm
    of the sum of exponentials over the keys that they were compared with.
    """

    output: torch.Tensor
    log_sum: torch.Tensor


def attention(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    scale: float | None,
    causal: bool = False,
    mask: torch.Tensor | None = None,
) -> Attended:
    """Scaled dot-product attention with its log-sums; all tensors are (prompts, heads, tokens, size).

    Of keys there may be fewer heads, each for as many heads of the queries. mask: is added to the products.
    """
    # What `scaled_dot_product_attention` runs on a processor, where it does not return the log-sums.
    run = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    return Attended(*run(query, keys, values, is_causal=causal, attn_mask=mask, scale=scale))


def attention_to_shared(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scale: float | None) -> Attended:
    """The same where all prompts have these keys and values, which are those of one prompt: they are read once."""
    prompts, heads, tokens, size = query.shape
    found = attention(query.transpose(0, 1).reshape(1, heads, prompts * tokens, size), keys, values, scale)
    apart = (heads, prompts, tokens)
    return Attended(found.output.reshape(*apart, size).transpose(0, 1), found.log_sum.reshape(apart).transpose(0, 1))


def attention_to_nothing(query: torch.Tensor) -> Attended:
    """What adds nothing when it is joined: a sum of no exponentials."""
    return Attended(torch.zeros_like(query), query.new_full(query.shape[:-1], -torch.inf, dtype=torch.float32))


def joined(one: Attended, other: Attended) -> torch.Tensor:
    """The output of attention to the keys of both, of which there are none in common."""
    # At least in single precision, which log-sums have, or a model in half of it would round once more than without.
    weight = torch.sigmoid(one.log_sum - other.log_sum)[..., None]
    return torch.lerp(other.output.to(weight.dtype), one.output.to(weight.dtype), weight).to(one.output.dtype)


class NotPlainAttentionError(Exception):
    """A model asks its attention for more than this is."""


class AttendingLayer(Protocol):
    """A layer of a cache that knows where its keys and values are; keys: what its last update gave the model."""

    keys: torch.Tensor | None

    def attend(self, query: torch.Tensor, scale: float | None) -> torch.Tensor:
        """The output of attention to all there is, the tokens of the query being its last ones."""


_layers: ContextVar[Sequence[AttendingLayer]] = ContextVar("layers of the cache that is in use")


@contextmanager
def attending_to(cache: Cache) -> Iterator[None]:
    """While this lasts, a model with `JOINED` attention attends to what this cache has."""
    token = _layers.set(cache.layers)  # type: ignore[arg-type]  # a cache does not say which layers it has
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
    """Attention as transformers calls it, when key and value are in the cache already.

    Raises `NotPlainAttentionError` where more is asked for than causal attention to what the cache has for the layer.
    """
    index: Any = module.layer_idx
    layer = _layers.get()[index]
    is_special = any(others.get(name) is not None for name in MORE) or attention_mask is not None or is_causal is False
    # A model may go on with another cache, or change what this one gave it.
    if is_special or value.shape[-1] != query.shape[-1] or key is not layer.keys:
        raise NotPlainAttentionError
    return layer.attend(query, scaling).transpose(1, 2).contiguous(), None


AttentionInterface.register(JOINED, joined_attention)


def can_join(model: PreTrainedModel) -> bool:
    """Whether a model's attention can be this one: on a processor, and where it is `SDPA` that a function is given to.

    Not if it prepares its own inputs when it generates, since it may do so without its cache. Whether it asks that
    function for more than causal attention, only shows when it is run.
    """
    prepare: Any = getattr(type(model), "prepare_inputs_for_generation", None)
    prepares = prepare is not GenerationMixin.prepare_inputs_for_generation
    has_functions = model._supports_attention_backend and not prepares
    return has_functions and model.device.type == "cpu" and model.config.get_text_config()._attn_implementation == SDPA
