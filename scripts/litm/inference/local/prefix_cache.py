"""Keys and values that are kept from one prompt to the next, so that a common beginning is computed once.

For causal models that are run by `generate`. Prompts are read one at a time, and answered together: reading a long one
keeps a processor busy by itself, a new token does not. In the order of their token ids they share with the one before
them all that they share with any: one cache, cut back each time, computes no node of the tree twice.

With joined attention what prompts of a batch have in common is also in memory once, and is read once for each new
token of all of them; the few tokens behind it are read together, so some that fewer have in common may be read twice.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import cast

import torch
from transformers import Cache, DynamicCache, PretrainedConfig, PreTrainedModel
from transformers.cache_utils import DynamicLayer

from litm.inference.local.cache_layers import GroupedLayer, RoomyLayer, Rows
from litm.inference.local.shared_attention import JOINED, SDPA, attending_to, can_join
from litm.inference.prefix_tree import as_array, common_tokens, tree_order
from litm.models.batches import longest_first

#: Tokens behind a kept beginning that are computed at a time where attention to it is by a mask, which has all of a
#: piece's tokens compared with each other, also with those after them.
PIECE = 1024
#: Prompts shorter than this, in tokens, are also read together: there is little to share, and more to gain; for joined
#: attention, which makes most of what is shared, only the shortest.
SHORT, SHORT_TO_JOIN = 512, 128
#: Tokens of a prompt behind what its group has in common, at most: a question, or the key that is asked for. And those
#: that two of a group may have more in common than all, which are then computed for each: keys that begin alike.
ENDING, ALIKE = 64, 4
#: Types of rotary embeddings whose angles depend on the longest that was read.
MOVING = ("dynamic", "longrope")
#: Tokens on which joined attention is tried, and how far what comes out may be from the model's own, as
#: a part of its spread: bfloat16 has 8 bits.
TRIED, CLOSE = 12, 0.05


def can_keep(model: PreTrainedModel) -> bool:
    """Whether a model's caches can be cut back: not those of encoder-decoders, nor of layers that forget what is behind
    a sliding window or sum up what they have read, nor where keys depend on how much has been read (`MOVING`).
    """
    if model.config.is_encoder_decoder or any(kind in MOVING for kind in _rotary_kinds(model.config)):
        return False
    return all(type(layer) is DynamicLayer for layer in DynamicCache(config=model.config).layers)


def _rotary_kinds(config: PretrainedConfig) -> Iterator[str]:
    """The types of rotary embeddings, of all layers alike or of each kind of layers."""
    rotary = getattr(config.get_text_config(), "rope_parameters", None) or {}
    for part in (rotary, *rotary.values()):
        if isinstance(part, dict) and "rope_type" in part:
            yield part["rope_type"]


class KeptCache:
    """The caches of a model that `can_keep`: of one prompt, kept for the next one, and copies of it for a batch.

    longest: tokens of the longest prompt that will be asked for.
    count: called with the number of prompt tokens that are computed next, with those that are left to `generate`.
    joins: whether attention is joined; short: prompts with fewer tokens are read together.
    """

    def __init__(
        self, model: PreTrainedModel, longest: int, new_tokens: int, count: Callable[[int], None] = lambda tokens: None
    ) -> None:
        self.model = model
        # As `generate` does: a model that is not told counts in its own way.
        self.takes_positions = "position_ids" in signature(model.forward).parameters
        self.new_tokens = new_tokens
        self.longest = max(TRIED, longest)
        self.forget()
        self._count: Callable[[int], None] = lambda tokens: None
        self.joins = can_join(model) and self._join()
        # Only now, as the tokens of a trial are of no prompt.
        self._count = count
        self.short = SHORT_TO_JOIN if self.joins else SHORT

    @contextmanager
    def of_prompts(self, prompts: Sequence[Sequence[int]]) -> Iterator[Cache]:
        """What `generate` is to be given with these prompts, while this lasts."""
        cache = self._one(prompts[0]) if len(prompts) == 1 else self._several(prompts)
        with attending_to(cache):
            yield cache

    def forget(self) -> None:
        """Begin with nothing known, as after an error, which leaves layers of different lengths."""
        self._cache = self._new(self.longest)
        self._read = as_array([])

    def _one(self, prompt: Sequence[int]) -> Cache:
        # Its last token is computed again, for what it says.
        kept = self._cut_back(prompt, len(prompt) - 1)
        if kept and not self.joins:
            # `generate` reads the last piece; all of it where there is no mask to keep small.
            self._read_on(prompt, kept, len(prompt) - PIECE)
        return self._cache

    def _several(self, prompts: Sequence[Sequence[int]]) -> Cache:
        longest = max(map(len, prompts))
        if self.joins:
            known = common_beginnings(prompts) if longest >= self.short else [(slice(0, len(prompts)), 0)]
            return self._in_groups(prompts, known)
        batch = self._new(longest)
        if longest < self.short:
            self._count(sum(map(len, prompts)))
            return batch
        for row, prompt in enumerate(prompts):
            self._read_on(prompt, self._cut_back(prompt, len(prompt) - 1), len(prompt) - 1)
            for layer, own in zip(roomy_layers(batch), roomy_layers(self._cache), strict=True):
                layer.take(row, len(prompts), own, longest - 1)
        return batch

    def _in_groups(self, prompts: Sequence[Sequence[int]], groups: Sequence[tuple[slice, int]]) -> Cache:
        rows = Rows(list(map(len, prompts)), groups, self.new_tokens)
        own_layers = roomy_layers(self._cache)
        layers = [GroupedLayer(rows) for _ in own_layers]
        for group, common in groups:
            prompt = prompts[group.start]
            self._read_on(prompt, self._cut_back(prompt[:common], common), common)
            for layer, own in zip(layers, own_layers, strict=True):
                layer.begin_with(own)
        self._count(sum(rows.behind))
        return Cache(layers=[*layers])

    def _cut_back(self, prompt: Sequence[int], most: int) -> int:
        """Keep what the cache has in common with a prompt, up to so many tokens, and say how many these are."""
        ids, there = as_array(prompt), self._cache.get_seq_length()
        kept = min(common_tokens(self._read, ids), most, there)
        self._cache.crop(kept - there)
        self._read = ids
        self._count(len(ids) - kept)
        return kept

    def _read_on(self, prompt: Sequence[int], begin: int, end: int) -> None:
        """Put tokens of a prompt from `begin` to `end` into the cache, behind those that it has."""
        # With nothing before it a prompt needs no mask, and is fastest at once.
        size = PIECE if begin and not self.joins else max(end, 1)
        for start in range(begin, end, size):
            stop = min(start + size, end)
            piece = torch.tensor([prompt[start:stop]], device=self.model.device)
            positions = {"position_ids": torch.arange(start, stop, device=self.model.device)[None]}
            with attending_to(self._cache):
                self.model(
                    input_ids=piece,
                    past_key_values=self._cache,
                    logits_to_keep=1,
                    **(positions if self.takes_positions else {}),
                )

    def _new(self, longest: int) -> Cache:
        layers = DynamicCache(config=self.model.config).layers
        return Cache(layers=[RoomyLayer(longest + self.new_tokens) for _ in layers])

    @torch.inference_mode()
    def _join(self) -> bool:
        """Have the model join its attention, if what it says is the same then.

        Tried with a few tokens of all kinds, since architectures may ask more of their attention than they say.
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
                behind = torch.tensor(prompts)[:, common:]
                found = self.model(input_ids=behind, past_key_values=cache).logits[:, -1].float()
            is_same = bool((found - expected).abs().max() <= CLOSE * expected.std())
        except Exception:
            # Whatever a model does not bear: it is only tried.
            is_same = False
        self.forget()
        if not is_same:
            self.model.set_attn_implementation(SDPA)
        return is_same


def roomy_layers(cache: Cache) -> Sequence[RoomyLayer]:
    """The layers of a cache that was made here."""
    return cast(Sequence[RoomyLayer], cache.layers)


def common_beginnings(prompts: Sequence[Sequence[int]]) -> list[tuple[slice, int]]:
    """Groups of prompts that follow one another in the order of their ids, and the tokens that all of each begin with.

    Not all of any prompt, since its last token is there to be answered. Of the prompts of a group at most `ENDING`
    tokens are left, which are of one prompt alone, but for `ALIKE`; other prompts are groups of their own.
    """
    own = [len(prompt) - 1 for prompt in prompts]
    ids = list(map(as_array, prompts))
    # With the one before; nothing with those outside.
    shared = [
        0,
        *(min(common_tokens(ids[row - 1], ids[row]), *own[row - 1 : row + 1]) for row in range(1, len(ids))),
        0,
    ]
    groups, begin = [], 0
    while begin < len(prompts):
        end = begin + 1
        while end < len(prompts):
            inside = shared[begin + 1 : end + 1]
            if max(inside) - min(inside) > ALIKE or max(own[begin : end + 1]) - min(inside) > ENDING:
                break
            end += 1
        # The last one is read to its end where the next one has more in common with it.
        if end > begin + 1 and shared[end] - min(shared[begin + 1 : end]) > ALIKE:
            end -= 1
        groups.append((slice(begin, end), min(shared[begin + 1 : end], default=own[begin])))
        begin = end
    return groups


def reading_order(prompts: Sequence[Sequence[int]], short: int) -> list[int]:
    """Indices of prompts in the order to read them.

    First those of `short` tokens or more, by their token ids, so that each has as much as can be in common with the one
    before; then the others, `longest_first`.
    """
    order = longest_first(list(map(len, prompts)))
    alone = sum(len(prompt) >= short for prompt in prompts)
    return tree_order({index: prompts[index] for index in order[:alone]})[0] + order[alone:]
