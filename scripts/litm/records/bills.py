"""What a provider bills: tokens by its own counters, and their prices."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from litm.base.groups import grouped

if TYPE_CHECKING:
    import pandas as pd
from litm.records.tokens import read_token_count


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a provider bills, by its own counters."""

    input: int
    """Tokens of prompts that no cache has."""
    cache_write: int
    """Tokens of prompts written to the provider's cache."""
    cache_read: int
    """Tokens of prompts read from the provider's cache."""
    output: int
    """Tokens of answers."""
    batch: bool = False
    """Whether they are billed at the price of batches."""
    elsewhere: bool = False
    """Whether another sweep paid for them, whose answer is used again."""

    @property
    def prompt(self) -> int:
        """All tokens of prompts."""
        return self.input + self.cache_write + self.cache_read

    @classmethod
    def from_json(cls, record: dict) -> "Usage":
        """The tokens in a line of kept answers or of responses; KeyError or TypeError for malformed ones."""
        counts = {name: read_token_count(record, name) for name in COUNTERS}
        return cls(**counts, batch=record.get("batch") is True, elsewhere=record.get("elsewhere") is True)

    def to_json(self) -> dict[str, Any]:
        """The JSON object, without what is false."""
        return {name: value for name, value in asdict(self).items() if value is not False}

    @staticmethod
    def sums(billed: Iterable["Usage"]) -> list["Usage"]:
        """The sums of tokens that are paid in the same way."""
        return [
            replace(usages[0], **{name: sum(getattr(usage, name) for usage in usages) for name in COUNTERS})
            for _, usages in sorted(grouped(billed, attrgetter("batch", "elsewhere")).items())
        ]


#: The counters of a `Usage`, which have prices of their own.
COUNTERS = ("input", "cache_write", "cache_read", "output")
#: Share of all prices that providers take for the requests of a batch.
BATCH_FACTOR = 0.5
#: Tokens for which a price is given.
MILLION = 1e6
#: Columns of scores with what is billed.
BILL = ("cache_write_tokens", "cache_read_tokens", "in_batch")


@dataclass(frozen=True)
class Prices:
    """US dollars per million tokens."""

    input: float
    """Price of prompts."""
    output: float
    """Price of answers."""
    cache_write: float
    """Price of prompts written to the provider's cache; without one, that of prompts."""
    cache_read: float
    """Price of prompts read from the provider's cache; without one, that of prompts."""
    batch: float = BATCH_FACTOR
    """Factor of all prices for requests of a batch."""

    @classmethod
    def of(cls, prices: Mapping[Any, float]) -> "Prices":
        """The prices in a model's entry, which always has `input` and `output`."""
        return cls(**{"cache_write": prices["input"], "cache_read": prices["input"], **prices})

    def of_prompts(self, tokens: int, answer_tokens: int, shares: Mapping[str, float], batch: bool = False) -> float:
        """The dollars of prompts and answers; shares: what a cache has of the prompts, see `caching.Plan.shares`."""
        write, read = (round(tokens * shares.get(name, 0.0)) for name in ("cache_write", "cache_read"))
        return self.dollars(Usage(tokens - write - read, write, read, answer_tokens, batch))

    def of_rows(self, rows: "pd.DataFrame") -> "pd.Series":
        """The dollars of score rows as billed, and without a bill as if nothing was cached; missing without tokens."""
        write, read, batch = (rows[name].fillna(0) if name in rows else 0 for name in BILL)
        computed = self.input * (rows["prompt_tokens"] - write - read) + self.output * rows["response_tokens"]
        return (computed + self.cache_write * write + self.cache_read * read) * self.batch**batch / MILLION

    def dollars(self, usage: Usage) -> float:
        """The price of the tokens of one or more answers, all of them in batches or none."""
        each = (getattr(self, name) * getattr(usage, name) for name in COUNTERS)
        return sum(each) * (self.batch if usage.batch else 1) / MILLION
