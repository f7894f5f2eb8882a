"""The work that sweeps have left, counted: their prompts, without those that have answers, and the tokens of these."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from litm.base.groups import in_batches
from litm.engines.registry import engine_facts, load_engine
from litm.inference.asked_sweep import AskedSweep
from litm.inference.prompts import Fit, Prompt
from litm.placements import gold_places
from litm.planning.tokens import BOUND, COUNTED, Work
from litm.prompting.prefix_tree import tree_tokens
from litm.prompting.prompt_format import CHUNK, load_tokenizer, most_tokens
from litm.records.examples import Content
from litm.records.measures import ANSWER
from litm.records.responses import Response
from litm.servers.api_engine import served_ids
from litm.servers.caching import CHARACTERS, Plan

#: Function from prompts to their token ids.
Encoder = Callable[[list[Content]], list[list[int]]]
#: Function from prompts and their numbers of tokens to the plan of an engine.
Planner = Callable[[list[Content], list[int | None]], Plan | None]
#: Positions that a curve needs for start, middle and end.
LEAST_POSITIONS = 3


@dataclass(frozen=True)
class Estimate:
    """What a sweep has left to do."""

    model: str
    experiment: str
    prompts: int
    """Of the sweep, with those that have answers."""
    work: Work
    """Of the prompts to ask, each once. A bound by characters, without a tokenizer."""
    distinct_prompts: int | None = None
    """Those answered, those too long and those to ask; these three are None before the prompts are made."""
    answered: int | None = None
    too_long: int | None = None
    questions: int | None = None
    """Those of its curves, see `curve_questions`; None without curves."""
    cached: Mapping[str, float] | None = None
    """See `caching.Plan.shares`; None without a plan."""
    measure: str = ANSWER

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> "Estimate":
        """An estimate from JSON."""
        return cls(**{**record, "work": Work(**record["work"])})


def count(
    names: tuple[str, str],
    prompts: Sequence[Prompt],
    answers: Mapping[str, Response],
    fit: Fit,
    encode: Encoder | None,
    shares: bool,
    plan: Planner | None = None,
) -> Estimate:
    """What a sweep has left to do, given the answers that are kept.

    encode: token ids of prompts, None without a tokenizer, when no prompt counts as too long; shares: whether the
    engine computes common prefixes once; plan: how they are asked for a provider's cache. The same prompts fit as in
    `sweep.ask_missing`.
    """
    distinct = {prompt.key: prompt for prompt in prompts}
    answered_tokens = [answers[key].prompt_tokens for key in distinct.keys() & answers.keys()]
    answered = sum(map(fit.holds, answered_tokens))
    asked = [prompt for key, prompt in distinct.items() if key not in answers]
    counts: list[int | None] = [None] * len(asked)
    if encode:
        # Rows of numbers take a tenth of the memory of lists.
        encoded = _compact(encode, [prompt.content for prompt in asked])
        fitting = [(ids, prompt) for ids, prompt in zip(encoded, asked, strict=True) if fit.holds(len(ids))]
        asked, lengths = [prompt for _, prompt in fitting], [len(ids) for ids, _ in fitting]
        counts = [*lengths]
    else:
        lengths = [most_tokens(prompt.content) for prompt in asked]
    # A server reads the prompt with each answer that is measured.
    read = [1 if encode and shares else len(prompt.answers or ".") for prompt in asked]
    tokens = sum(length * times for length, times in zip(lengths, read, strict=True))
    work = Work(
        prompts=len(asked),
        prompt_tokens=tokens,
        answer_tokens=len(asked) * fit.max_new_tokens,
        computed_tokens=tree_tokens([ids for ids, _ in fitting]) if encode and shares else tokens,
        longest=max((length + fit.max_new_tokens for length in lengths), default=0),
        basis=COUNTED if encode else BOUND,
    )
    planned = plan([prompt.content for prompt in asked], counts) if plan else None
    return Estimate(
        *names,
        prompts=len(prompts),
        work=work,
        distinct_prompts=len(distinct),
        answered=answered,
        too_long=len(distinct) - answered - len(asked),
        questions=curve_questions(prompts),
        cached=planned.shares if planned else None,
    )


def _compact(encode: Encoder, contents: list[Content]) -> Iterator[Any]:
    for batch in in_batches(contents, CHUNK):
        yield from (np.array(ids, dtype=np.uint32) for ids in encode(batch))


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

    run: how the model is asked, see `AskedSweep.engine_settings`.
    """
    name = sweep.settings["engine"]
    provider = engine_facts(name).provider
    if sweep.is_measured or provider is None or provider.cache is None:
        return None
    engine: Any = load_engine(name, sweep.engine_settings(**run), key="")
    return partial(engine.plan, characters=CHARACTERS)


def curve_questions(prompts: Iterable[Prompt]) -> int | None:
    """The number of questions of a sweep's curve, the smallest over its sizes; None if no size has three positions."""
    sizes: dict[int, dict[str, set[str]]] = {}
    for prompt in prompts:
        if len(gold_places(prompt.placement)) == 1:
            sizes.setdefault(prompt.size, {}).setdefault(prompt.placement, set()).add(prompt.id)
    counts = [min(map(len, places.values())) for places in sizes.values() if len(places) >= LEAST_POSITIONS]
    return min(counts, default=None)
