"""Estimate of sweeps: prompts and tokens to ask, hours at a known rate, money at known prices, detectable effects."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from litm.analysis import power
from litm.base.groups import in_batches
from litm.base.messages import in_columns, money
from litm.engines.registry import engine_facts, load_engine
from litm.inference.asked_sweep import AskedSweep
from litm.inference.prompts import Fit, Prompt
from litm.placements import gold_places
from litm.planning.speed import Rate
from litm.prompting.prefix_tree import tree_tokens
from litm.prompting.prompt_format import CHUNK, load_tokenizer, most_tokens
from litm.records.bills import Prices
from litm.records.examples import Content
from litm.records.responses import Response
from litm.servers.api_engine import served_ids
from litm.servers.caching import CHARACTERS, Plan

#: Function from prompts to their token ids.
Encoder = Callable[[list[Content]], list[list[int]]]
#: Function from prompts and their numbers of tokens to the plan of an engine.
Planner = Callable[[list[Content], list[int | None]], Plan | None]
#: Columns that are counted, as `Remaining` has them.
COUNTED = (
    "prompts", "distinct_prompts", "answered", "too_long", "to_ask", "prompt_tokens", "computed_tokens",
    "max_new_tokens",
)  # fmt: skip
#: Columns of the estimate and their types; unknown numbers are missing.
COLUMNS = {
    "model": "string",
    "experiment": "string",
    **dict.fromkeys(COUNTED, "Int64"),
    "hours": "Float64",
    "dollars": "Float64",
    "dollars_as_set": "Float64",
    "n": "Int64",
    "pbi_mde": "Float64",
    "difference_mde": "Float64",
    "n_for_5_points_pbi": "Int64",
    "n_for_5_points_difference": "Int64",
}
#: Columns that are printed, those of money only if something costs it, and headings other than their names.
MONEY = ["dollars", "dollars_as_set"]
SHOWN = ["model", "experiment", *COUNTED, "hours", *MONEY]
HEADINGS = {
    "distinct_prompts": "distinct",
    "computed_tokens": "to compute",
    "max_new_tokens": "new tokens, at most",
    "dollars": "US$, at most",
    "dollars_as_set": "cached or in batches",
}
UNKNOWN_RATE = "unknown: run one small experiment first (of a server, with 'tokenizer' set), or set tokens_per_second"
UNKNOWN_PRICE = "unknown: set prices, {input: 0, output: 0} if it costs nothing"
#: Positions that a curve needs for start, middle and end.
LEAST_POSITIONS = 3
#: Heading of the lines on sweeps.
HEADING = "What these numbers of questions can show, with a chance of 80 % (docs/evidence.md):"


@dataclass(frozen=True)
class Remaining:
    """The remaining work of one sweep.

    prompts, distinct_prompts: of the sweep; of the distinct ones `answered` are in the journal, `too_long` do not fit
    and `to_ask` remain. prompt_tokens, max_new_tokens: totals over the prompts to ask; computed_tokens: the fewest
    prompt tokens that an engine with shared prefixes computes. Both are None without a tokenizer: most_tokens is then
    an overestimate from characters. questions: those of its curves, see `curve_questions`; None without curves. cached:
    see `caching.Plan.shares`, None without a plan; batch: whether it is asked in batches.
    """

    model: str
    experiment: str
    prompts: int
    distinct_prompts: int
    answered: int
    too_long: int
    to_ask: int
    prompt_tokens: int | None
    computed_tokens: int | None
    max_new_tokens: int
    questions: int | None = None
    cached: Mapping[str, float] | None = None
    batch: bool = False
    most_tokens: int = 0


def remaining_work(
    names: tuple[str, str],
    prompts: Sequence[Prompt],
    answers: Mapping[str, Response],
    fit: Fit,
    encode: Encoder | None,
    shares: bool,
    plan: Planner | None = None,
) -> Remaining:
    """The remaining work of a sweep, given the answers in its journal.

    encode: token ids of prompts, None without a tokenizer, when no prompt counts as too long; shares: whether the
    engine computes common prefixes once; plan: how they are asked for a provider's cache. The same prompts fit as in
    `sweep.ask_missing`.
    """
    distinct = {prompt.key: prompt for prompt in prompts}
    known = [answers[key].prompt_tokens for key in distinct.keys() & answers.keys()]
    answered = sum(map(fit.holds, known))
    asked = [prompt for key, prompt in distinct.items() if key not in answers]
    tokens = computed = None
    # A server reads the prompt with each answer that is measured.
    most = 0 if encode else sum(most_tokens(prompt.content) * len(prompt.answers or ".") for prompt in asked)
    counts: list[int | None] = [None] * len(asked)
    if encode:
        # Rows of numbers take a tenth of the memory of lists.
        encoded = _compact(encode, [prompt.content for prompt in asked])
        fitting = [(ids, prompt) for ids, prompt in zip(encoded, asked, strict=True) if fit.holds(len(ids))]
        asked, counts = [prompt for _, prompt in fitting], [len(ids) for ids, _ in fitting]
        tokens = sum(len(ids) * (1 if shares else len(prompt.answers or ".")) for ids, prompt in fitting)
        computed = tree_tokens([ids for ids, _ in fitting]) if shares else tokens
    planned = plan([prompt.content for prompt in asked], counts) if plan else None
    return Remaining(
        *names,
        prompts=len(prompts),
        distinct_prompts=len(distinct),
        answered=answered,
        too_long=len(distinct) - answered - len(asked),
        to_ask=len(asked),
        prompt_tokens=tokens,
        computed_tokens=computed,
        max_new_tokens=len(asked) * fit.max_new_tokens,
        questions=curve_questions(prompts),
        cached=planned.shares if planned else None,
        most_tokens=most,
    )


def _compact(encode: Encoder, contents: list[Content]) -> Iterator[Any]:
    for some in in_batches(contents, CHUNK):
        yield from (np.array(ids, dtype=np.uint32) for ids in encode(some))


def encoder(sweep: AskedSweep) -> Encoder | None:
    """The function from prompts to token ids, as engines count them; None for a model without a tokenizer."""
    if not sweep.has_tokenizer:
        return None
    provider = engine_facts(sweep.settings["engine"]).provider
    if provider is None:
        return sweep.form().encode
    if not sweep.tokenizer:
        return None
    return partial(served_ids, load_tokenizer(sweep.tokenizer), provider, sweep.engine_settings())


def planner(sweep: AskedSweep, run: Mapping[str, Any]) -> Planner | None:
    """The function that plans prompts for the cache of a model's provider; None without one.

    run: how the model is asked, fields of `EngineSettings`.
    """
    name = sweep.settings["engine"]
    provider = engine_facts(name).provider
    if sweep.is_measured or provider is None or provider.cache is None:
        return None
    engine: Any = load_engine(name, sweep.engine_settings(**run), key="")
    return partial(engine.plan, characters=CHARACTERS)


def by_characters(left: Remaining) -> Remaining:
    """The work with `most_tokens` as the tokens of its prompts, if the model has no tokenizer."""
    if left.prompt_tokens is not None:
        return left
    return replace(left, prompt_tokens=left.most_tokens, computed_tokens=left.most_tokens)


def hours(left: Remaining, rate: Rate | None) -> float | None:
    """Hours for the remaining work; None if unknown."""
    if left.to_ask == 0:
        return 0.0
    if rate is None or left.computed_tokens is None:
        return None
    return left.computed_tokens / rate.tokens_per_second / 3600


def dollars(left: Remaining, prices: Mapping[str, float] | None, as_set: bool = False) -> float | None:
    """The most that an API costs, if each answer has full length; None if unknown.

    prices: see `records.Prices`. as_set: with the provider's cache, or in batches, whose requests are not expected in
    the cache.
    """
    if left.to_ask == 0:
        return 0.0
    if prices is None or left.prompt_tokens is None:
        return None
    batch, shares = as_set and left.batch, (as_set and left.cached) or {}
    return Prices.of(prices).of_prompts(left.prompt_tokens, left.max_new_tokens, {} if batch else shares, batch)


def estimate_table(
    sweeps: Sequence[Remaining],
    rates: Mapping[str, Rate | None],
    prices: Mapping[str, Mapping[str, float] | None],
    shown: Mapping[tuple[str, str], Mapping[str, object]] | None = None,
) -> pd.DataFrame:
    """One row per sweep, and one with sums, whose model and experiment are `total`; columns as in `COLUMNS`.

    prices: of the models that cost money, None if unknown; others cost nothing. A sum is missing if one of its parts
    is. shown: detectable effects, see `what_is_shown`.
    """
    rows = [
        {
            **{name: getattr(left, name) for name in ("model", "experiment", *COUNTED)},
            "hours": hours(left, rates[left.model]),
            "dollars": dollars(left, prices[left.model]) if left.model in prices else 0.0,
            "dollars_as_set": dollars(left, prices[left.model], as_set=True) if left.model in prices else 0.0,
            **(shown or {}).get((left.model, left.experiment), {}),
        }
        for left in sweeps
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    total = {name: table[name].sum(skipna=False) for name in SHOWN[2:]}
    sums = pd.DataFrame([{"model": "total", "experiment": "total", **total}], columns=list(COLUMNS)).astype(COLUMNS)
    return pd.concat([table, sums], ignore_index=True)


def as_text(table: pd.DataFrame) -> str:
    """The table for a terminal: thousands separated, a question mark for unknown numbers, no money if nothing costs."""
    is_saved = not table["dollars_as_set"].equals(table["dollars"])
    shown = [name for name in SHOWN if name not in MONEY or not table["dollars"].eq(0).fillna(False).all()]
    shown = shown if is_saved else [name for name in shown if name != MONEY[1]]
    headings = [HEADINGS.get(name, name.replace("_", " ")) for name in shown]
    columns = table[shown].to_dict("list")
    rows = zip(*([_cell(value, name) for value in column] for name, column in columns.items()), strict=True)
    return in_columns([headings, *rows], left=2)


def _cell(value: Any, column: Hashable) -> str:
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return "?"
    if column in MONEY:
        return money(value)
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


def notes(
    sweeps: Sequence[Remaining], rates: Mapping[str, Rate | None], prices: Mapping[str, Mapping[str, float] | None]
) -> list[str]:
    """Notes on the table: the origin of the rates, and what is unknown. sweeps: before `by_characters`."""
    told = []
    for model in dict.fromkeys(left.model for left in sweeps if left.to_ask):
        rate = rates[model]
        known = f"{rate.tokens_per_second:,.0f} prompt tokens a second, {rate.source}" if rate else UNKNOWN_RATE
        told.append(f"{model}: hours {'at ' if rate else ''}{known}")
        if model in prices and prices[model] is None:
            told.append(f"{model}: US$ {UNKNOWN_PRICE}")
        if any(left.model == model and left.prompt_tokens is None for left in sweeps):
            told.append(
                f"{model}: tokens estimated from characters, usually too many; to count them, set 'tokenizer' to its "
                "server's, or one like it"
            )
    if any(dollars(by_characters(left), prices[left.model]) != 0 for left in sweeps if left.model in prices):
        told.append("US$ are at most: they count each answer as long as is allowed")
    return told


# --- What the questions can show


def curve_questions(prompts: Iterable[Prompt]) -> int | None:
    """The number of questions of a sweep's curve, the smallest over its sizes; None if no size has three positions."""
    sizes: dict[int, dict[str, set[str]]] = {}
    for prompt in prompts:
        if len(gold_places(prompt.placement)) == 1:
            sizes.setdefault(prompt.size, {}).setdefault(prompt.placement, set()).add(prompt.id)
    counts = [min(map(len, places.values())) for places in sizes.values() if len(places) >= LEAST_POSITIONS]
    return min(counts, default=None)


def what_is_shown(
    sweeps: Mapping[tuple[str, str], int | None], results: Path
) -> tuple[dict[tuple[str, str], Mapping[str, object]], list[str]]:
    """What the questions of sweeps with curves detect with a power of 80 %, and the questions that an effect needs.

    By model and experiment, the columns for the table of the estimate: smallest detectable effects, missing if there is
    none, and questions for 5 points. And lines on groups of like sweeps. sweeps: the questions of each one's curves;
    results: the folder with earlier scores.
    """
    columns: dict[tuple[str, str], Mapping[str, object]] = {}
    lines: dict[tuple, list[Any]] = {}
    models = list(dict.fromkeys(model for model, _ in sweeps))
    for (model, experiment), questions in sweeps.items():
        if not questions:
            continue
        assumed, source = power.earlier(results, model, experiment, models)
        columns[model, experiment] = {
            "n": questions,
            "pbi_mde": power.detectable_effect("pbi", questions, assumed),
            "difference_mde": power.detectable_effect("primacy", questions, assumed),
            "n_for_5_points_pbi": power.questions_needed("pbi", power.FIVE_POINTS, assumed),
            "n_for_5_points_difference": power.n_for_five_points(assumed),
        }
        lines.setdefault((experiment, power.shown_in_words(questions, assumed, source)), []).append(model)
    like = [f"{experiment} ({', '.join(models)}): {told}" for (experiment, told), models in lines.items()]
    return columns, [HEADING, *like] if like else []
