"""What a study costs before anything is downloaded or made: gigabytes, jobs, prompts, tokens, hours and dollars.

Everything follows from the config and the catalogues, by rules of thumb that the output names.
"""

from collections.abc import Callable, Iterator, Mapping

from litm.base.messages import in_columns, money
from litm.checks.doctor_models import LOG_IN, Check, Remote, download_of, in_bytes
from litm.config.data import Corpus
from litm.config.study import Study
from litm.engines.local_models import LocalModel
from litm.engines.served_models import ServedModel
from litm.models.devices import has_gpu
from litm.planning.speed import GPU_FLOPS, SERVED_SECONDS, gpu_hours, rate_here
from litm.planning.tokens import (
    assumed,
    computed_tokens,
    fitting,
    lengths_of,
    prompt_tokens,
    prompts_by_size,
    too_long,
    work_of,
)
from litm.planning.words import budget_lines
from litm.records.bills import Prices
from litm.records.measures import ANSWER, LOG_PROBABILITY
from litm.workflow.data_inputs import Needs, needs_of

#: Owners whose models' terms must be accepted, where the hub cannot be asked.
GATED = ("meta-llama/",)
#: Bytes, rough upper estimates: a packed prompt with its scores and token counts; an answer in journal and responses; a
#: passage with its entry in Lucene's index; a vector of 768 numbers.
PROMPT, RESPONSE, PASSAGE, VECTOR = 10_000, 2_000, 2_000, 768 * 4
#: Jobs that every study has; hours below and above which no number is given.
OTHER_JOBS, LEAST_HOURS, MOST_HOURS = 40, 0.1, 9_999


def _millions(tokens: float) -> str:
    return f"{tokens / 1e6:,.1f} M"


def _hours(hours: float) -> str:
    if 0 < hours < LEAST_HOURS:
        return f"< {LEAST_HOURS}"
    return f"> {MOST_HOURS:,}" if hours > MOST_HOURS else f"{hours:,.1f}"


#: The columns of the table, and how their numbers are written. Jobs: those that ask; to compute: with common prefixes
#: once, and answers; hours here: on this processor, or with this server.
COLUMNS: dict[str, Callable[[float], str]] = {
    "download": in_bytes,
    "sweeps": "{:,}".format,
    "jobs": "{:,}".format,
    "prompts": "{:,}".format,
    "their tokens": _millions,
    "to compute": _millions,
    "GPU-hours": _hours,
    "hours here": _hours,
    "US$": money,
}

#: What one model's sweeps cost, by column; dollars are None if the price is unknown.
Cost = Mapping[str, float | None]


def costs(study: Study, hubs: Mapping[str, Check]) -> dict[str, Cost]:
    """The cost of each model that the study asks. hubs: the checks of hub models by name, see `hub_check`."""
    asked = {name: model for name, model in study.models.items() if isinstance(model, LocalModel | ServedModel)}
    return {name: _cost(study, model, hubs.get(name)) for name, model in asked.items()}


def _cost(study: Study, model: LocalModel | ServedModel, hub: Check | None) -> Cost:
    sweeps = [fitting(study, sweep) for sweep in study.sweeps if sweep.model.name == model.name]
    asked = [work_of(sweep).prompts for sweep in sweeps]
    prompts = sum(asked)
    tokens = sum(prompt_tokens(study, sweep) for sweep in sweeps)
    common = {"sweeps": len(sweeps), "prompts": prompts, "their tokens": tokens}
    if isinstance(model, ServedModel):
        price = model.prices
        answers = sum(count * sweep.answer_tokens for count, sweep in zip(asked, sweeps, strict=True))
        dollars = Prices.of(price).of_prompts(round(tokens), answers, {}) if price else None
        hours = prompts * SERVED_SECONDS / model.concurrency / 3600
        own = {"download": 0, "jobs": len(sweeps), "to compute": tokens, "GPU-hours": 0, "hours here": hours}
        return {**common, **own, "US$": dollars}
    computed = sum(computed_tokens(study, sweep) for sweep in sweeps)
    here = rate_here(model)
    return {
        **common,
        "download": download_of(model, hub),
        "jobs": len(sweeps) * model.shards,
        "to compute": computed,
        "GPU-hours": gpu_hours(model, computed),
        "hours here": 0 if has_gpu() or not here else computed / here.tokens_per_second / 3600,
        "US$": 0,
    }


def costs_table(found: Mapping[str, Cost]) -> str:
    """One line per model and, of several, one of sums."""
    # With a GPU, only servers have hours here.
    shown = [column for column in COLUMNS if column != "hours here" or any(one[column] for one in found.values())]
    rows = {name: [cost[column] for column in shown] for name, cost in found.items()}
    if len(rows) > 1:
        rows["total"] = [None if None in numbers else sum(numbers) for numbers in zip(*rows.values(), strict=True)]
    texts = [
        [name, *("?" if one is None else COLUMNS[column](one) for column, one in zip(shown, numbers, strict=True))]
        for name, numbers in rows.items()
    ]
    return in_columns([["model", *shown], *texts], left=1)


def cost_lines(study: Study, there: Remote) -> Iterator[str]:
    """The table, what it assumes, what else is downloaded and made, and which steps come first."""
    needs, found = needs_of(study), costs(study, there.hubs)
    yield "What all of it costs, by rules of thumb, before anything is there:"
    yield costs_table(found)
    yield (
        f"Hours: two operations per parameter and token, {GPU_FLOPS:.0e} a second on a GPU, wrong by up to a factor of "
        f"three; of a server, {SERVED_SECONDS} seconds a prompt, `concurrency` of them at a time, not measured. "
        f"GPU-hours: of all GPUs together{_several_gpus(study)}."
    )
    is_printed = any(lengths_of(study, one.model.name, one.experiment).printed for one in study.sweeps_of(ANSWER))
    printed = "as Tables 2 to 4 of the paper print them, for other models and sizes by these tables, for other contexts"
    counted = f"{printed} by rules of thumb" if is_printed else "by rules of thumb"
    yield f"Their tokens: {counted}. To compute: common beginnings of prompts once, and answers; of servers, prompts."
    if measured := study.pairs(LOG_PROBABILITY):
        yield f"Sweeps: {len(study.pairs())} ask for answers, {len(measured)} measure log-probabilities."
    yield from [*too_long(study, study.sweeps), *assumed(study, study.experiments)]
    yield "US$: of APIs alone, with answers of full length; a rented GPU costs its hours."
    yield from budget_lines(study, {name: cost["US$"] for name, cost in found.items()})
    yield from (f"Not counted, {line}" for line in study.left_out)
    cells = sum(len(one.cells) for one in study.experiments.values())
    others = cells + 2 * len(study.experiments) + 3 * len(study.pairs()) + OTHER_JOBS
    yield f"Jobs: apart from those that ask, about {others:,} short ones (examples, scores, tables, figures)."
    if has_downloads := any(one["download"] for one in found.values()):
        known = all(hub.download is not None for hub in there.hubs.values())
        yield f"Weights: {'as the hub says' if known else 'by parameters, as the hub does not answer for all'}."
    sizes = [file.download for file in there.files]
    has_vectors = any(retriever.method == "dense" for retriever in needs.retrievers)
    vectors = VECTOR * sum(map(_passages, needs.corpora)) if has_vectors else 0
    of_vectors = f" ({in_bytes(vectors)} are vectors of passages)" if vectors else ""
    of_unknown = f" and {sizes.count(None)} files of unknown size" if None in sizes else ""
    data = in_bytes(sum(filter(None, sizes)))
    yield f"Disk: results {in_bytes(results_bytes(study, needs))}{of_vectors}; data to fetch {data}{of_unknown}."
    first = []
    if gated := [name for name, hub in there.hubs.items() if _is_gated(study.models[name], hub)]:
        first.append(f"accept the terms of {', '.join(gated)} at https://huggingface.co, {LOG_IN}")
    if has_downloads or any(size != 0 for size in sizes):
        first.append("`snakemake fetch`, where there is a network")
    if vectors:
        first.append("passages and their vectors, on a GPU")
    yield f"First: {'; then '.join([*first, 'the sweeps'])}."


def _several_gpus(study: Study) -> str:
    """Words on the models that take several GPUs at once."""
    numbers = {name: one.used_gpus for name, one in study.models.items() if isinstance(one, LocalModel)}
    several = [f"{number} at once for {name}" for name, number in numbers.items() if number > 1]
    return f" ({'; '.join(several)})" if several else ""


def _is_gated(model: object, hub: Check) -> bool:
    return getattr(model, "hub", "").startswith(GATED) if hub.gated is None else hub.gated


def _passages(corpus: Corpus) -> int:
    return corpus.settings.passages or corpus.shards * corpus.passages_per_shard


def results_bytes(study: Study, needs: Needs) -> int:
    """Estimated bytes of a study's results, without downloads."""
    total = 0
    for experiment in study.experiments.values():
        answered = [one for one in study.sweeps_of(ANSWER) if one.experiment.name == experiment.name]
        total += PROMPT * prompts_by_size(experiment).total() + RESPONSE * sum(work_of(one).prompts for one in answered)
    dense = sum(retriever.method == "dense" for retriever in needs.retrievers)
    return total + (PASSAGE + VECTOR * dense) * sum(map(_passages, needs.corpora))
