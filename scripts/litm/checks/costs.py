"""What a study costs before anything is downloaded or made: gigabytes, jobs, prompts, tokens, hours and dollars.

Everything follows from the config and the catalogues, by rules of thumb that the output names.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass

from litm.base.messages import in_columns
from litm.checks.doctor_models import LOG_IN, ON_NETWORK, HubModel, Remote, download_of, in_bytes
from litm.config.models import ApiModel, Model
from litm.config.study import Study
from litm.inference.costs import GPU_FLOPS, predicted_rate
from litm.models.devices import has_gpu
from litm.workflow.needs import Needs, needs_of
from litm.workflow.prompt_lengths import QUESTIONS, computed_tokens, prompt_tokens, work_of
from litm.workflow.resources import SERVED_SECONDS, billions_of, rate_here
from litm.workflow.sweep_inputs import gpus_of

#: Owners whose models' terms must be accepted, where the hub cannot be asked.
GATED = ("meta-llama/",)
#: Bytes, rough upper estimates: a packed prompt with its scores and token counts; an answer in journal and responses; a
#: passage with its entry in Lucene's index; a vector of 768 numbers.
PROMPT, ANSWER, PASSAGE, VECTOR = 10_000, 2_000, 2_000, 768 * 4
#: Jobs that every study has; hours above which no number is given.
OTHER_JOBS, MOST_HOURS = 40, 9_999
HEADINGS = (
    "model",
    "download",
    "sweeps",
    "jobs",
    "prompts",
    "their tokens",
    "to compute",
    "GPU-hours",
    "hours here",
    "US$",
)


@dataclass(frozen=True)
class Cost:
    """The cost of one model's sweeps. download: bytes; jobs: those that ask; tokens: of the prompts; computed: with
    common prefixes once, and answers; gpu_hours: on a GPU; hours_here: on this processor, or with this server; dollars:
    None if the price is unknown.
    """

    model: str
    download: int
    sweeps: int
    jobs: int
    prompts: int
    tokens: float
    computed: float
    gpu_hours: float
    hours_here: float
    dollars: float | None


def costs(study: Study, hubs: Mapping[str, HubModel]) -> list[Cost]:
    """The cost of each model that the study asks. hubs: facts about hub models by name, see `hub_model`."""
    return [
        _cost(study, model, hubs.get(name))
        for name, model in study.models.items()
        if isinstance(model, Model | ApiModel)
    ]


def _cost(study: Study, model: Model | ApiModel, hub: HubModel | None) -> Cost:
    experiments = [one for (name, _), one in study.run.items() if name == model.name]
    works = [work_of(one, study.questions_of(one)) for one in experiments]
    prompts, sweeps = sum(work.prompts for work in works), len(works)
    tokens = sum(prompt_tokens(study, model.name, one) for one in experiments)
    if isinstance(model, ApiModel):
        price = model.prices
        answers = sum(work.prompts * one.max_new_tokens for work, one in zip(works, experiments, strict=True))
        dollars = (tokens * price["input"] + answers * price["output"]) / 1e6 if price else None
        hours = prompts * SERVED_SECONDS / model.concurrency / 3600
        return Cost(model.name, 0, sweeps, sweeps, prompts, tokens, tokens, 0, hours, dollars)
    computed = sum(computed_tokens(study, model, one) for one in experiments)
    seconds, here = 0.0, rate_here(model)
    if model.has_weights and model.device != "cpu":
        seconds = computed / predicted_rate(billions_of(model), model.dtype, True, 1).tokens_per_second
    seconds_here = 0 if has_gpu() or not here else computed / here.tokens_per_second
    jobs, download = sweeps * model.shards, download_of(model, hub)
    gpu_hours = gpus_of(model) * seconds / 3600
    hours = seconds_here / 3600
    return Cost(model.name, download, sweeps, jobs, prompts, tokens, computed, gpu_hours, hours, 0)


def costs_table(found: Sequence[Cost]) -> str:
    """One line per model and, of several, one of sums."""
    rows = [astuple(one) for one in found]
    if len(rows) > 1:
        columns = list(zip(*rows, strict=True))[1:]
        rows.append(("total", *(None if None in column else sum(column) for column in columns)))
    texts = [HEADINGS, *([row[0], in_bytes(row[1]), *map(_cell, row[2:5], (0, 0, 0)), *_numbers(row)] for row in rows)]
    shown = [column for column in zip(*texts, strict=True) if not (column[0] == "hours here" and has_gpu())]
    return in_columns([*zip(*shown, strict=True)], left=1)


def _numbers(row: Sequence) -> list[str]:
    return [*(f"{tokens / 1e6:,.1f} M" for tokens in row[5:7]), _cell(row[7], 1), _cell(row[8], 1), _cell(row[9], 2)]


def _cell(value: float | None, digits: int) -> str:
    if value is None:
        return "?"
    return f"> {MOST_HOURS:,}" if digits == 1 and value > MOST_HOURS else f"{value:,.{digits}f}"


def cost_lines(study: Study, found: Sequence[Cost], there: Remote) -> Iterator[str]:
    """The table, what it assumes, what else is downloaded and made, and which steps come first."""
    needs, hubs, files = needs_of(study), there.hubs, there.files
    yield "What all of it costs, by rules of thumb, before anything is there:"
    yield costs_table(found)
    yield (
        f"Hours: two operations per parameter and token, {GPU_FLOPS:.0e} a second on a GPU, wrong by up to a factor of "
        "three."
    )
    yield (
        "Their tokens: as Tables 2 to 4 of the paper print them, for other models and sizes by these tables, for other "
        "contexts by rules of thumb. To compute: common beginnings of prompts once, and the answers."
    )
    yield "US$: of APIs alone; a rented GPU costs its hours."
    cells = sum(len(one.cells) for one in study.experiments.values())
    others = cells + 2 * len(study.experiments) + 3 * len(study.run) + OTHER_JOBS
    yield f"Jobs: apart from those that ask, about {others:,} short ones (examples, scores, tables, figures)."
    if any(one.download for one in found):
        known = all(hub.download or hub.cached for hub in hubs.values())
        yield f"Weights: {'as the hub says' if known else 'by parameters, as the hub does not answer for all'}."
    data = sum(file.size or 0 for file in files)
    unknown = sum(file.size is None and file.where == ON_NETWORK for file in files)
    vectors = sum(
        VECTOR * (corpus.settings.passages or corpus.shards * corpus.passages_per_shard)
        for corpus in needs.corpora
        if any(retriever.method == "dense" for retriever in needs.retrievers)
    )
    of_vectors = f" ({in_bytes(vectors)} are vectors of passages)" if vectors else ""
    of_unknown = f" and {unknown} files of unknown size" if unknown else ""
    results = in_bytes(results_bytes(study, needs))
    yield f"Disk: results {results}{of_vectors}; data to fetch {in_bytes(data)}{of_unknown}."
    first = []
    gated = [name for name, one in study.models.items() if isinstance(one, Model) and _is_gated(one, hubs.get(name))]
    if gated:
        first.append(f"accept the terms of {', '.join(gated)} at https://huggingface.co, {LOG_IN}")
    if any(one.download for one in found) or any(file.where == ON_NETWORK for file in files):
        first.append("`snakemake fetch`, where there is a network")
    if vectors:
        first.append("passages and their vectors, on a GPU")
    yield f"First: {'; then '.join([*first, 'the sweeps'])}."


def _is_gated(model: Model, hub: HubModel | None) -> bool:
    if not model.hub or (hub and hub.cached):
        return False
    return hub.gated if hub and not (hub.error or hub.offline) else model.hub.startswith(GATED)


def results_bytes(study: Study, needs: Needs) -> int:
    """Estimated bytes of a study's results, without downloads."""
    total = 0
    for experiment in study.experiments.values():
        answered = [one for (_, name), one in study.run.items() if name == experiment.name]
        cells = PROMPT * len(experiment.cells) + ANSWER * sum(len(one.cells) for one in answered)
        total += cells * (experiment.examples or QUESTIONS)
    for corpus in needs.corpora:
        passages = corpus.settings.passages or corpus.shards * corpus.passages_per_shard
        dense = sum(retriever.method == "dense" for retriever in needs.retrievers)
        total += passages * (PASSAGE + VECTOR * dense)
    return total
