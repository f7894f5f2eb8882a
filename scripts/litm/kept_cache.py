"""Keys and values that are kept from one prompt to the next, so that a common beginning is computed once.

For causal models that are run by `generate`. Prompts are read one at a time, and answered together: reading a long one
keeps a processor busy by itself, a new token does not. In the order of their token ids they share with the one before
them all that they share with any: one cache, cut back each time, computes no node of the tree twice.
"""

from collections.abc import Sequence
from typing import cast

import torch
from transformers import Cache, DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer

from litm.batching import longest_first
from litm.prefix_tree import as_array, common_tokens, tree_order

#: Tokens behind a kept beginning that are computed at a time: attention to it is by a mask, which has all of a piece's
#: tokens compared with each other, also with those after them.
PIECE = 1024
#: Prompts shorter than this, in tokens, are also read together: there is little to share, and more to gain.
SHORT = 512


class RoomyLayer(DynamicLayer):
    """A layer's keys and values (prompts, heads, tokens, size) with room for more, which are written without a copy of
    those before them.
    """

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        super().lazy_initialization(key_states, value_states)
        self._make_room(key_states, value_states, len(key_states))

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args, **kwargs
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write behind what there is; views of all there is then."""
        begin = self.get_seq_length()
        end = begin + key_states.shape[-2]
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        self._all_keys[:, :, begin:end] = key_states
        self._all_values[:, :, begin:end] = value_states
        return self._end_at(end)

    def take(self, row: int, rows: int, other: "RoomyLayer", end: int) -> None:
        """Copy the one prompt of another layer into a row of so many, to end at token `end` as all rows do."""
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
        # Zeros, because what stands in the place of padding is masked, which not a number would survive.
        self._all_keys, self._all_values = (
            states.new_zeros(rows, states.shape[1], self.room, states.shape[-1]) for states in (keys, values)
        )

    def _end_at(self, end: int) -> tuple[torch.Tensor, torch.Tensor]:
        views = self._all_keys[:, :, :end], self._all_values[:, :, :end]
        self.keys, self.values = views
        return views


def roomy_layers(cache: Cache) -> Sequence[RoomyLayer]:
    """The layers of a cache that was made here."""
    return cast(Sequence[RoomyLayer], cache.layers)


def can_keep(model: PreTrainedModel) -> bool:
    """Whether a model's caches can be cut back: not those of encoder-decoders, nor of layers that forget what is behind
    a sliding window or sum up what they have read.
    """
    if model.config.is_encoder_decoder:
        return False
    return all(type(layer) is DynamicLayer for layer in DynamicCache(config=model.config).layers)


class KeptCache:
    """The caches of a model that `can_keep`: of one prompt, kept for the next one, and copies of it for a batch.

    computed: tokens of the prompts asked for last that had to be computed, with those that are left to `generate`.
    """

    def __init__(self, model: PreTrainedModel, longest: int, new_tokens: int) -> None:
        self.model = model
        self.new_tokens = new_tokens
        self.longest = longest
        self.forget()

    def for_prompts(self, prompts: Sequence[Sequence[int]]) -> Cache:
        """What `generate` is to be given with these prompts."""
        self.computed = 0
        longest = max(map(len, prompts))
        if len(prompts) == 1:
            kept = self._cut_back(prompts[0])
            # The rest is read by `generate`: the last piece, or all of a prompt of which nothing is known.
            self._read_on(prompts[0], kept, len(prompts[0]) - PIECE if kept else 0)
            return self._cache
        batch = self._new(longest)
        if longest < SHORT:
            self.computed = sum(map(len, prompts))
            return batch
        for row, prompt in enumerate(prompts):
            self._read_on(prompt, self._cut_back(prompt), len(prompt) - 1)
            for layer, own in zip(roomy_layers(batch), roomy_layers(self._cache), strict=True):
                layer.take(row, len(prompts), own, longest - 1)
        return batch

    def forget(self) -> None:
        """Begin with nothing known, as after an error, which leaves layers of different lengths."""
        self.computed = 0
        self._cache = self._new(self.longest)
        self._read = as_array([])

    def _cut_back(self, prompt: Sequence[int]) -> int:
        """Keep what the cache has in common with a prompt, and say how many tokens these are."""
        ids, there = as_array(prompt), self._cache.get_seq_length()
        # One token is computed again at least, for what it says.
        kept = min(common_tokens(self._read, ids), len(ids) - 1, there)
        self._cache.crop(kept - there)
        self._read = ids
        self.computed += len(ids) - kept
        return kept

    def _read_on(self, prompt: Sequence[int], begin: int, end: int) -> None:
        """Put tokens of a prompt from `begin` to `end` into the cache, behind those that it has."""
        # With nothing before it a prompt needs no mask, and is fastest at once.
        size = PIECE if begin else max(end, 1)
        for start in range(begin, end, size):
            piece = torch.tensor([prompt[start : min(start + size, end)]], device=self.model.device)
            self.model(input_ids=piece, past_key_values=self._cache, logits_to_keep=1)

    def _new(self, longest: int) -> Cache:
        layers = DynamicCache(config=self.model.config).layers
        return Cache(layers=[RoomyLayer(longest + self.new_tokens) for _ in layers])


def reading_order(prompts: Sequence[Sequence[int]]) -> list[int]:
    """Indices of prompts in the order to read them.

    First those that are not `SHORT`, by their token ids, so that each has as much as can be in common with the one
    before; then the others, `longest_first`.
    """
    order = longest_first(list(map(len, prompts)))
    alone = sum(len(prompt) >= SHORT for prompt in prompts)
    return tree_order({index: prompts[index] for index in order[:alone]})[0] + order[alone:]
