"""Cache layers of keys and values, (prompts, heads, tokens, size): preallocated, and with shared prefixes.

A causal model writes by `update` and reads all keys and values; with joined attention it reads by `attend`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from transformers.cache_utils import DynamicLayer

from litm.inference.local.shared_attention import (
    Attended,
    NotPlainAttentionError,
    attention,
    attention_in_blocks,
    attention_to_nothing,
    attention_to_shared,
    can_use_blocks,
    joined,
)


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
        own = attention(query, keys[:, :, before:], values[:, :, before:], scale, causal=True)
        if not before:
            return own.output
        return joined(own, attention(query, keys[:, :, :before], values[:, :, :before], scale))

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
        views = self._all_keys[:, :, :end], self._all_values[:, :, :end]
        self.keys, self.values = views
        return views


@dataclass(frozen=True)
class Rows:
    """A batch of prompts, padded on the left to the longest; groups of rows have common prefixes.

    lengths: tokens of each prompt; groups: rows and the length of their common prefix, in order, covering all rows;
    new_tokens: number of tokens to leave room for.
    """

    lengths: Sequence[int]
    groups: Sequence[tuple[slice, int]]
    new_tokens: int

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
        views = self._suffix.update(key_states, value_states)
        self.keys, self.values = views
        return views

    def attend(self, query: torch.Tensor, scale: float | None) -> torch.Tensor:
        """The output of attention to each row's prefix and suffix."""
        known = self._suffix.get_seq_length()
        mask = self.rows.reading_mask if query.shape[2] > 1 else self.rows.answering_mask[..., :known]
        after = attention(query, *self._suffix.states(), scale, mask=mask.to(query.dtype))
        parts = [
            attention_to_shared(query[rows], *beginning, scale) if beginning else attention_to_nothing(query[rows])
            for (rows, _), beginning in zip(self.rows.groups, self._beginnings, strict=True)
        ]
        before = Attended(torch.cat([part.output for part in parts]), torch.cat([part.log_sum for part in parts]))
        return joined(after, before)
