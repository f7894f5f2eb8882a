"""Prefix cache: keys and values kept from one prompt to the next, so that a common prefix is computed once.

For causal models run by `generate`. Prompts are read one at a time and answered together: one long prompt keeps a
processor busy, one new token does not. In the order of their token ids each prompt shares with its predecessor all that
it shares with any earlier one, so one cache, cut back each time, computes no node of the prefix tree twice.

With shared-prefix attention, the prefix of a batch is stored once and read once per decoding step. The short suffixes
are processed together, so a prefix that only some prompts share may be computed twice.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from math import inf
from typing import cast

import torch
from transformers import Cache, DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from litm.engines.interface import EAGER, PIECE
from litm.local.joined_attention import (
    JOINED,
    SDPA,
    Attended,
    NotPlainAttentionError,
    attending_to,
    attention,
    attention_in_blocks,
    attention_to_nothing,
    attention_to_shared,
    can_join,
    can_use_blocks,
    joined,
)
from litm.models.devices import longest_first
from litm.prompting.prefix_tree import as_array, common_tokens, tree_order


class RoomyLayer(DynamicLayer):
    """A layer with preallocated room: new keys and values are written without copying the earlier ones."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        super().lazy_initialization(key_states, value_states)
        self._make_room(key_states, value_states, len(key_states))

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args, **kwargs
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append keys and values; returns views of all of them."""
        begin = self.get_seq_length()
        end = begin + key_states.shape[-2]
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        self._all_keys[:, :, begin:end] = key_states
        self._all_values[:, :, begin:end] = value_states
        return self._end_at(end)

    def states(self) -> tuple[torch.Tensor, torch.Tensor]:
        """All keys and values; raises `NotPlainAttentionError` if the layer is empty."""
        if self.keys is None or self.values is None:
            raise NotPlainAttentionError
        return self.keys, self.values

    def attend(self, query: torch.Tensor, scale: float | None) -> torch.Tensor:
        """The output of attention to all keys, the queries being the last tokens; not for padded rows."""
        tokens, (keys, values) = query.shape[2], self.states()
        if tokens == 1:
            return attention(query, keys, values, scale).output
        if can_use_blocks(query):
            return attention_in_blocks(query, keys, values, scale)
        before = self.get_seq_length() - tokens
        recent = attention(query, keys[:, :, before:], values[:, :, before:], scale, causal=True)
        if not before:
            return recent.output
        return joined(recent, attention(query, keys[:, :, :before], values[:, :, :before], scale))

    def take(self, row: int, rows: int, other: "RoomyLayer", end: int) -> None:
        """Copy the one prompt of another layer into row `row` of `rows`, right-aligned to end at token `end`."""
        if not other.is_initialized:
            return
        length = other.get_seq_length()
        keys, values = other._end_at(length)
        if not self.is_initialized:
            super().lazy_initialization(keys, values)
            self._make_room(keys, values, rows)
            self._end_at(end)
        self._all_keys[row, :, end - length : end] = keys[0]
        self._all_values[row, :, end - length : end] = values[0]

    def _make_room(self, keys: torch.Tensor, values: torch.Tensor, rows: int) -> None:
        # Zeros: padding is masked, but a NaN would survive the mask.
        self._all_keys, self._all_values = (
            states.new_zeros(rows, states.shape[1], self.room, states.shape[-1]) for states in (keys, values)
        )

    def _end_at(self, end: int) -> tuple[torch.Tensor, torch.Tensor]:
        self.keys, self.values = views = self._all_keys[:, :, :end], self._all_values[:, :, :end]
        return views


@dataclass(frozen=True)
class Rows:
    """A batch of prompts, padded on the left to the longest. Groups of rows have common prefixes."""

    lengths: Sequence[int]
    """The tokens of each prompt."""
    groups: Sequence[tuple[slice, int]]
    """The rows of each group and the length of their common prefix, in order, covering all rows."""
    new_tokens: int
    """The number of tokens to leave room for."""

    @cached_property
    def suffixes(self) -> list[int]:
        """Tokens of each prompt after its group's prefix."""
        return [length - common for rows, common in self.groups for length in self.lengths[rows]]

    @property
    def together(self) -> int:
        """Tokens of the padded batch after the prefixes, which are read together."""
        return max(self.suffixes)

    @property
    def room(self) -> int:
        """Tokens that are read together, plus the new ones."""
        return self.together + self.new_tokens

    @cached_property
    def reading_mask(self) -> torch.Tensor:
        """Mask to add to the products when suffixes are read: (prompts, 1, together, together).

        Padding attends to nothing, which gives zeros.
        """
        tokens = torch.arange(self.together)
        return _as_added((tokens >= self._padding) & (tokens <= tokens[:, None]))

    @cached_property
    def answering_mask(self) -> torch.Tensor:
        """Mask to add when a new token is read: (prompts, 1, 1, room)."""
        return _as_added(torch.arange(self.room) >= self._padding)

    @property
    def _padding(self) -> torch.Tensor:
        return self.together - torch.tensor(self.suffixes)[:, None, None, None]


def _as_added(seen: torch.Tensor) -> torch.Tensor:
    return torch.zeros(seen.shape).masked_fill_(~seen, -torch.inf)


class GroupedLayer(DynamicLayer):
    """A layer of a batch whose groups of rows have common prefixes, each stored once.

    For joined attention only: `update` returns what follows the prefixes, in rows that end together.
    """

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        self.rows = rows
        self._beginnings: list[tuple[torch.Tensor, torch.Tensor] | None] = []
        self._suffix = RoomyLayer(rows.room)

    def begin_with(self, other: RoomyLayer) -> None:
        """Copy another layer's prompt as the prefix of the next group; it may be empty."""
        if not other.get_seq_length():
            self._beginnings.append(None)
            return
        keys, values = other.states()
        self._beginnings.append((keys.clone(), values.clone()))

    def get_seq_length(self) -> int:
        """Length of the padded batch so far; the prefixes count from the start."""
        return max(self.rows.lengths) - self.rows.together + self._suffix.get_seq_length()

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args, **kwargs
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append keys and values; returns views of all of them, without the prefixes."""
        self.is_initialized = True
        self.keys, self.values = views = self._suffix.update(key_states, value_states)
        return views

    def attend(self, query: torch.Tensor, scale: float | None) -> torch.Tensor:
        """The output of attention to each row's prefix and suffix."""
        suffix_length = self._suffix.get_seq_length()
        mask = self.rows.reading_mask if query.shape[2] > 1 else self.rows.answering_mask[..., :suffix_length]
        after = attention(query, *self._suffix.states(), scale, mask=mask.to(query.dtype))
        parts = [
            attention_to_shared(query[rows], *beginning, scale) if beginning else attention_to_nothing(query[rows])
            for (rows, _), beginning in zip(self.rows.groups, self._beginnings, strict=True)
        ]
        before = Attended(torch.cat([part.output for part in parts]), torch.cat([part.log_sum for part in parts]))
        return joined(after, before)


#: Tokens: shorter prompts are read together, because sharing would save little. Joined attention gains most from
#: sharing, so its limit is lower.
SHORT, SHORT_TO_JOIN = 512, 128
#: Tokens. ENDING: longest suffix after the group's shared prefix. ALIKE: how many more tokens two prompts of a group
#: may share; these are computed for each.
ENDING, ALIKE = 64, 4
#: Types of rotary embeddings whose angles depend on the longest input so far.
MOVING = {"dynamic", "longrope"}
#: Tokens on which joined attention is tried: few, because in bfloat16 rounding alone makes long random texts differ.
TRIED = 12
#: The largest root mean square of its difference from the model's own output, as a fraction of the output's standard
#: deviation: 6 units of the number format's precision, or 0.001 if that is larger. In a model of 30 layers in bfloat16,
#: the root mean square was 2 units and the largest of 50,000 single differences 12.
PRECISION_UNITS, LEAST_TOLERANCE = 6, 1e-3


def follows_longest(model: PreTrainedModel, tokens: float = inf) -> bool:
    """Whether keys depend on the longest input so far (`MOVING`), if none has more than `tokens` with its answer."""
    config = model.config.get_text_config()
    # Of rotary embeddings there is one type for all layers, or one per kind of layer.
    rotary = getattr(config, "rope_parameters", None) or {}
    return any(
        tokens > min(part.get("original_max_position_embeddings", inf), config.max_position_embeddings)
        for part in (rotary, *rotary.values())
        if isinstance(part, dict) and part.get("rope_type") in MOVING
    )


#: The argument of a model's `forward` for its cache: the name since transformers 5.24, and the one before.
CACHE_NAMES = ("cache", "past_key_values")


def cache_argument(model: PreTrainedModel) -> str:
    """The name under which a model takes its cache, "" for a model without one."""
    return next((name for name in CACHE_NAMES if name in signature(model.forward).parameters), "")


def why_not_kept(model: PreTrainedModel, tokens: float = inf) -> str:
    """Why a model's caches cannot be cut back, for prompts of at most `tokens` with their answers; "" if they can."""
    if model.config.is_encoder_decoder:
        return "it is an encoder-decoder"
    if not cache_argument(model):
        return "it takes no cache"
    if follows_longest(model, tokens):
        return "its keys depend on the longest input so far"
    for layer in DynamicCache(config=model.config).layers:
        if type(layer) is not DynamicLayer and not (
            type(layer) is DynamicSlidingWindowLayer and layer.sliding_window >= tokens
        ):
            return "a layer keeps a sliding window or a running summary"
    return ""


class KeptCache:
    """The caches of a model (see `why_not_kept`): one prompt's, kept for the next prompt, and copies of it for a batch.

    longest: tokens of the longest prompt that will be asked.
    count: called with the number of prompt tokens that are computed next, including those left to `generate`.
    joins: whether attention is joined; short: prompts with fewer tokens are read together.

    A prompt is read `PIECE` tokens at a time where attention compares every pair of its tokens in memory: after a kept
    prefix, where it uses a mask, and always if it is eager.
    """

    def __init__(
        self, model: PreTrainedModel, longest: int, new_tokens: int, count: Callable[[int], None] = lambda tokens: None
    ) -> None:
        self.model = model
        # As `generate` does: a model without given positions counts in its own way.
        self.takes_positions = "position_ids" in signature(model.forward).parameters
        self.cache_argument = cache_argument(model)
        self.new_tokens = new_tokens
        self.longest = max(TRIED, longest)
        self.forget()
        self._count: Callable[[int], None] = lambda tokens: None
        self.joins = can_join(model) and self._join()
        # Set last, because the tokens of a trial belong to no prompt.
        self._count = count
        self.short = SHORT_TO_JOIN if self.joins else SHORT

    @contextmanager
    def of_prompts(self, prompts: Sequence[Sequence[int]], unread: Sequence[int] | None = None) -> Iterator[Cache]:
        """The cache for these prompts, valid within the context. unread: tokens at the end of each that are left to the
        model, for their outputs, more where this is simpler; None leaves the last one, for `generate`.
        """
        cache = self._filled(prompts, unread or [1] * len(prompts))
        with attending_to(cache):
            yield cache

    def forget(self) -> None:
        """Empty the cache, as after an error, which leaves layers of different lengths."""
        self._cache = self._new(self.longest)
        self._read = as_array([])

    def _in_pieces(self, kept: int) -> bool:
        is_eager = self.model.config._attn_implementation == EAGER
        return not self.joins and (kept > 0 or is_eager)

    def _filled(self, prompts: Sequence[Sequence[int]], unread: Sequence[int]) -> Cache:
        last = max(unread)
        if len(prompts) == 1:
            (prompt,) = prompts
            # The last tokens are computed again, for their outputs.
            kept = self._cut_back(prompt, len(prompt) - last)
            if self._in_pieces(kept):
                # The last piece is left, or all of the prompt if there is nothing to keep small.
                self._read_on(prompt, kept, len(prompt) - max(PIECE, last))
            return self._cache
        longest = max(map(len, prompts))
        if self.joins:
            groups = common_beginnings(prompts, unread) if longest >= self.short else [(slice(0, len(prompts)), 0)]
            return self._in_groups(prompts, groups)
        batch = self._new(longest)
        if longest < self.short:
            self._count(sum(map(len, prompts)))
            return batch
        for row, prompt in enumerate(prompts):
            end = max(0, len(prompt) - last)
            self._read_on(prompt, self._cut_back(prompt, end), end)
            for layer, kept_layer in zip(roomy_layers(batch), roomy_layers(self._cache), strict=True):
                layer.take(row, len(prompts), kept_layer, longest - last)
        return batch

    def _in_groups(self, prompts: Sequence[Sequence[int]], groups: Sequence[tuple[slice, int]]) -> Cache:
        rows = Rows(list(map(len, prompts)), groups, self.new_tokens)
        kept_layers = roomy_layers(self._cache)
        layers = [GroupedLayer(rows) for _ in kept_layers]
        for group, common in groups:
            prompt = prompts[group.start]
            self._read_on(prompt, self._cut_back(prompt[:common], common), common)
            for layer, kept_layer in zip(layers, kept_layers, strict=True):
                layer.begin_with(kept_layer)
        self._count(sum(rows.suffixes))
        return Cache(layers=[*layers])

    def _cut_back(self, prompt: Sequence[int], most: int) -> int:
        """Keep the common prefix of the cache and a prompt, at most `most` tokens; returns its length."""
        ids, there = as_array(prompt), self._cache.get_seq_length()
        kept = min(common_tokens(self._read, ids), most, there)
        self._cache.crop(kept - there)
        self._read = ids
        self._count(len(ids) - kept)
        return kept

    def _read_on(self, prompt: Sequence[int], begin: int, end: int) -> None:
        """Append the tokens of a prompt from `begin` to `end` to the cache."""
        # One piece is fastest.
        size = PIECE if self._in_pieces(begin) else max(end, 1)
        for start in range(begin, end, size):
            stop = min(start + size, end)
            piece = torch.tensor([prompt[start:stop]], device=self.model.device)
            positions = torch.arange(start, stop, device=self.model.device)[None]
            more = {"position_ids": positions} if self.takes_positions else {}
            with attending_to(self._cache):
                self.model(input_ids=piece, logits_to_keep=1, **{self.cache_argument: self._cache}, **more)

    def _new(self, longest: int) -> Cache:
        layers = DynamicCache(config=self.model.config).layers
        return Cache(layers=[RoomyLayer(longest + self.new_tokens) for _ in layers])

    @torch.inference_mode()
    def _join(self) -> bool:
        """Switch the model to joined attention if its output stays the same.

        Tried with a few tokens of all kinds, because architectures may need more of their attention than they declare.
        """
        vocabulary = self.model.config.get_text_config().vocab_size
        ids = [vocabulary * number // TRIED for number in range(TRIED)]
        common = TRIED // 2
        prompts = [ids, ids[:common] + ids[common:][::-1]]
        expected = self.model(input_ids=torch.tensor(prompts)).logits[:, -1].float()
        self.model.set_attn_implementation(JOINED)
        self.joins = True
        try:
            cache = self._in_groups(prompts, [(slice(0, 2), common)])
            with attending_to(cache):
                suffixes = torch.tensor(prompts)[:, common:]
                output = self.model(input_ids=suffixes, **{self.cache_argument: cache}).logits[:, -1].float()
            # The root mean square of the difference, as a fraction of the standard deviation of what is expected.
            difference = (output - expected).square().mean().sqrt() / expected.std()
            precision = torch.finfo(self.model.dtype).eps
            is_same = bool(difference <= max(PRECISION_UNITS * precision, LEAST_TOLERANCE))
        except Exception:
            # The model fails with joined attention: it keeps its own.
            is_same = False
        self.forget()
        if not is_same:
            self.model.set_attn_implementation(SDPA)
        return is_same


def roomy_layers(cache: Cache) -> Sequence[RoomyLayer]:
    """The layers of a cache that was created here."""
    return cast(Sequence[RoomyLayer], cache.layers)


def common_beginnings(prompts: Sequence[Sequence[int]], unread: Sequence[int] | None = None) -> list[tuple[slice, int]]:
    """Groups of adjacent prompts in the order of their ids, each with the length of its common prefix in tokens.

    The prefix never covers the last tokens of a prompt (`unread`, or one), whose outputs are needed. At most `ENDING`
    tokens of each prompt in a group lie after it, and two of these suffixes share at most `ALIKE`; other prompts are
    their own groups.
    """
    limits = [len(prompt) - last for prompt, last in zip(prompts, unread or [1] * len(prompts), strict=True)]
    ids = list(map(as_array, prompts))
    # With the previous prompt; 0 at both ends.
    between = (min(common_tokens(ids[row - 1], ids[row]), *limits[row - 1 : row + 1]) for row in range(1, len(ids)))
    shared = [0, *between, 0]
    groups, begin = [], 0
    while begin < len(prompts):
        end = begin + 1
        while end < len(prompts):
            inside = shared[begin + 1 : end + 1]
            if max(inside) - min(inside) > ALIKE or max(limits[begin : end + 1]) - min(inside) > ENDING:
                break
            end += 1
        # The last prompt is read whole if the next one shares more of it.
        if end > begin + 1 and shared[end] - min(shared[begin + 1 : end]) > ALIKE:
            end -= 1
        groups.append((slice(begin, end), min(shared[begin + 1 : end], default=limits[begin])))
        begin = end
    return groups


def reading_order(prompts: Sequence[Sequence[int]], short: int) -> list[int]:
    """Indices of prompts in the order to read them.

    First prompts of `short` tokens or more, by their token ids, so that each shares as much as possible with the
    previous one; then the others, `longest_first`.
    """
    order = longest_first(list(map(len, prompts)))
    alone = sum(len(prompt) >= short for prompt in prompts)
    return tree_order({index: prompts[index] for index in order[:alone]})[0] + order[alone:]
