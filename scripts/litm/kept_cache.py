"""Keys and values that are kept from one prompt to the next, so that a common beginning is computed once.

For causal models that are run by `generate`, one prompt at a time. Prompts in the order of their token ids share with
the one before them all that they share with any: one cache, cut back each time, computes no node of the tree twice.
"""

from collections.abc import Sequence

import torch
from transformers import Cache, DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer

from litm.batching import longest_first, padded_size
from litm.prefix_tree import as_array, common_tokens, tree_order

#: Tokens behind a kept beginning that are computed at a time: attention to it is by a mask, which has all of a piece's
#: tokens compared with each other, also with those after them.
PIECE = 1024


class RoomyLayer(DynamicLayer):
    """A layer's keys and values (prompts, heads, tokens, size) with room for more, which are written without a copy of
    those before them.
    """

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        super().lazy_initialization(key_states, value_states)
        self._all_keys, self._all_values = (
            states.new_empty(*states.shape[:2], self.room, states.shape[-1]) for states in (key_states, value_states)
        )

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
        self.keys, self.values = self._all_keys[:, :, :end], self._all_values[:, :, :end]
        return self.keys, self.values


def can_keep(model: PreTrainedModel) -> bool:
    """Whether a model's caches can be cut back: not those of encoder-decoders, nor of layers that forget what is behind
    a sliding window or sum up what they have read.
    """
    if model.config.is_encoder_decoder:
        return False
    return all(type(layer) is DynamicLayer for layer in DynamicCache(config=model.config).layers)


class KeptCache:
    """The caches of a model that `can_keep`: of one prompt, kept for the next one, and new ones of several together.

    computed: tokens of the prompts asked for last that are not in their cache yet.
    """

    def __init__(self, model: PreTrainedModel, longest: int, new_tokens: int) -> None:
        self.model = model
        self.new_tokens = new_tokens
        self.computed = 0
        self._cache = self._new(longest)
        self._read = as_array([])

    def for_prompts(self, prompts: Sequence[Sequence[int]]) -> Cache:
        """What `generate` is to be given with these prompts."""
        if len(prompts) == 1:
            return self._for_prompt(prompts[0])
        self.computed = sum(map(len, prompts))
        return self._new(max(map(len, prompts)))

    def _new(self, longest: int) -> Cache:
        layers = DynamicCache(config=self.model.config).layers
        return Cache(layers=[RoomyLayer(longest + self.new_tokens) for _ in layers])

    def _for_prompt(self, prompt: Sequence[int]) -> Cache:
        """Cut the kept cache back to the common beginning, and read on up to the last piece."""
        ids, there = as_array(prompt), self._cache.get_seq_length()
        # One token is computed again at least, for what it says; an error may have left less than the last prompt.
        kept = min(common_tokens(self._read, ids), len(ids) - 1, there)
        self._cache.crop(kept - there)
        self._read, self.computed = ids, len(ids) - kept
        # A whole prompt needs no mask, and is fastest at once.
        last = len(ids) - PIECE if kept else 0
        for begin in range(kept, last, PIECE):
            piece = torch.tensor([prompt[begin : min(begin + PIECE, last)]], device=self.model.device)
            self.model(input_ids=piece, past_key_values=self._cache, logits_to_keep=1)
        return self._cache


def reading_order(prompts: Sequence[Sequence[int]], new_tokens: int, token_budget: int) -> list[int]:
    """Indices of prompts in the order to read them.

    First those too long for another beside them, by their token ids, so that each has as much as can be in common with
    the one before; then the others, `longest_first`.
    """
    lengths = list(map(len, prompts))
    order = longest_first(lengths)
    alone = sum(padded_size(length, new_tokens, 2) > token_budget for length in lengths)
    return tree_order({index: prompts[index] for index in order[:alone]})[0] + order[alone:]
