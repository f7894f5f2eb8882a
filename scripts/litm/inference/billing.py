"""What answers of a provider's model cost: its prices, the tokens that it bills for, and the dollars of both."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

#: Share of all prices that providers take for the requests of a batch.
BATCH_FACTOR = 0.5
#: Tokens for which a price is given.
MILLION = 1e6


@dataclass(frozen=True)
class Prices:
    """US dollars per million tokens: of prompts, written to the provider's cache, read from it, and of answers. batch:
    the factor of all of these for requests of a batch. Without prices of a cache, its tokens cost as others.
    """

    input: float
    output: float
    cache_write: float
    cache_read: float
    batch: float = BATCH_FACTOR

    @classmethod
    def of(cls, given: Mapping[Any, float]) -> "Prices":
        """The prices in a model's entry, of which `input` and `output` are always there."""
        return cls(**{"cache_write": given["input"], "cache_read": given["input"], **given})

    def dollars(self, usage: "Usage") -> float:
        """The price of the tokens of one or more answers, all of them in batches or none."""
        each = (getattr(self, name) * getattr(usage, name) for name in COUNTERS)
        return sum(each) * (self.batch if usage.batch else 1) / MILLION


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a provider bills, by its own counters: of the prompt those that no cache has and those written to its
    cache or read from it, and of the answer. batch: whether at the price of batches.
    """

    input: int
    cache_write: int
    cache_read: int
    output: int
    batch: bool = False


#: The counters of a `Usage`, which have prices of their own.
COUNTERS = tuple(field.name for field in fields(Usage) if field.name != "batch")
