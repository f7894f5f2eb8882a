"""What a provider bills: tokens by its own counters, and their prices."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from litm.base.groups import grouped

if TYPE_CHECKING:
    import pandas as pd
from litm.records.tokens import read_token_count

#: Tokens of a prompt above which providers charge more, by the table of prices.
STEPS = (32_000, 100_000, 128_000, 200_000, 256_000, 272_000)


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
    longest: int | None = None
    """Of the tokens of several answers, those of the longest prompt if that is long; None for a single answer."""

    @property
    def prompt(self) -> int:
        """All tokens of prompts."""
        return self.input + self.cache_write + self.cache_read

    @property
    def longest_prompt(self) -> int:
        """The tokens of the longest prompt; 0 if all of several are short."""
        return self.prompt if self.longest is None else self.longest

    @classmethod
    def from_json(cls, record: dict) -> "Usage":
        """The tokens in a line of kept answers or of responses; KeyError or TypeError for malformed ones."""
        counts = {name: read_token_count(record, name) for name in COUNTERS}
        longest = read_token_count(record, "longest") if "longest" in record else None
        is_batch, is_elsewhere = record.get("batch") is True, record.get("elsewhere") is True
        return cls(**counts, batch=is_batch, elsewhere=is_elsewhere, longest=longest)

    @classmethod
    def sum_from_json(cls, record: dict) -> "Usage":
        """One of the `sums` in JSON; errors as in `from_json`."""
        return cls.from_json({"longest": 0, **record})

    def to_json(self) -> dict[str, Any]:
        """The JSON object, without what is false."""
        values = {name: value for name, value in asdict(self).items() if value is not False}
        return values if values["longest"] else {name: value for name, value in values.items() if name != "longest"}

    @staticmethod
    def sums(billed: Iterable["Usage"], steps: Sequence[int] = STEPS) -> list["Usage"]:
        """The sums of tokens that are paid in the same way, by any prices whose `above` are among the steps."""

        def way(usage: "Usage") -> tuple:
            return usage.batch, usage.elsewhere, sum(usage.longest_prompt > step for step in steps)

        return [
            replace(
                usages[0],
                **{name: sum(getattr(usage, name) for usage in usages) for name in COUNTERS},
                longest=max(usage.longest_prompt for usage in usages) if step else 0,
            )
            for (_, _, step), usages in sorted(grouped(billed, way).items())
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
    above: tuple[tuple[int, "Prices"], ...] = ()
    """Tokens, ascending, each with the prices of a prompt of more tokens and of its answer."""

    @classmethod
    def from_entry(cls, prices: Mapping[Any, Any]) -> "Prices":
        """The prices of a model's entry, or of the table (see `price_table`); `input` and `output` are always there."""
        stated = {name: prices[name] for name in (*COUNTERS, "batch") if name in prices}
        usual = {"cache_write": prices["input"], "cache_read": prices["input"]}
        above = sorted((int(start), {**stated, **higher}) for start, higher in prices.get("above", {}).items())
        return cls(**{**usual, **stated}, above=tuple((start, cls.from_entry(higher)) for start, higher in above))

    def at(self, tokens: int) -> "Prices":
        """The prices of a prompt with this number of tokens."""
        return next((higher for start, higher in reversed(self.above) if tokens > start), self)

    @property
    def steps(self) -> tuple[int, ...]:
        """The tokens of a prompt above which it costs more."""
        return tuple(start for start, _ in self.above)

    def of_prompts(
        self, tokens: int, answer_tokens: int, shares: Mapping[str, float], batch: bool = False, longest: int = 0
    ) -> float:
        """The dollars of prompts and answers, at the prices of the longest prompt.

        shares: what a cache has of the prompts, see `caching.Plan.shares`.
        """
        write, read = (round(tokens * shares.get(name, 0.0)) for name in ("cache_write", "cache_read"))
        return self.dollars(Usage(tokens - write - read, write, read, answer_tokens, batch, longest=longest))

    def of_rows(self, rows: "pd.DataFrame") -> "pd.Series":
        """The dollars of score rows as billed, and without a bill as if nothing was cached; missing without tokens."""
        dollars = self._of_short_rows(rows)
        for start, higher in self.above:
            dollars = dollars.where(~(rows["prompt_tokens"] > start), higher._of_short_rows(rows))
        return dollars

    def _of_short_rows(self, rows: "pd.DataFrame") -> "pd.Series":
        write, read, batch = (rows[name].fillna(0) if name in rows else 0 for name in BILL)
        computed = self.input * (rows["prompt_tokens"] - write - read) + self.output * rows["response_tokens"]
        return (computed + self.cache_write * write + self.cache_read * read) * self.batch**batch / MILLION

    def dollars(self, usage: Usage) -> float:
        """The price of the tokens of one or more answers that are paid in the same way, see `Usage.sums`."""
        prices = self.at(usage.longest_prompt)
        each = (getattr(prices, name) * getattr(usage, name) for name in COUNTERS)
        return sum(each) * (prices.batch if usage.batch else 1) / MILLION
