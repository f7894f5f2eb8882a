"""Cluster resources of a sweep's job: memory and time, estimated from the sizes of the model and its prompts.

The estimates are generous. A job that requests too much waits longer in the queue; a job that requests too little is
killed, submitted again with more, and resumes from its journal.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from litm.base.formats import grouped, read_json
from litm.base.messages import UserError, money
from litm.config.study import Study
from litm.config.sweeps import Sweep
from litm.inference import costs
from litm.inference.billing import spent_in
from litm.inference.journal import JOURNALS
from litm.inference.local_models import LocalModel
from litm.inference.served_models import ServedModel
from litm.inference.setup import number_format_of
from litm.models.devices import AUTO, format_here, has_gpu
from litm.models.gguf import read_gguf
from litm.models.locations import is_gguf
from litm.records import Prices
from litm.workflow.prompt_lengths import Work, cached_shares, computed_tokens, prompt_tokens

#: Billions of parameters of a model whose entry and name do not give them.
USUAL_BILLIONS = 7.0
#: Pattern of the number in a hub or folder name: `7b` in Llama-2-7b-hf, `0.5B` in Qwen2.5-0.5B-Instruct.
_IN_NAME = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)b(?![A-Za-z0-9])", re.IGNORECASE)

#: MB for Python, torch, CUDA's libraries and the prompts; MB of a job that asks a server; factor from the size of the
#: weights to the memory for loading them.
BASE_MB, SERVED_MB, LOADING = 6_000, 4_000, 1.25
#: Factor from the predicted peak of a sweep on a CPU to what its job requests: peaks are predicted within a quarter.
SPARE = 1.25
#: Factor from the seconds of a sweep by the rule of thumb to those that its job requests.
SPARE_TIME = 3
#: Seconds of a server per prompt, if no earlier run shows its speed.
SERVED_SECONDS = 10
#: Minutes: to load a model and read the journal; lower and upper limit of a request. Longer sweeps take several jobs.
START, LEAST, MOST = 15, 30, 24 * 60


def billions_of(model: LocalModel) -> float:
    """The parameters of a model in 10⁹: as its entry says, by its weights in a folder, by its name, or as usual."""
    if stated := model.parameters or (model.about and model.about.parameters):
        return stated
    if not model.has_weights:
        return 0.0
    if model.path and is_gguf(model.path):
        return read_gguf(Path(model.path)).weights / 1e9
    if model.path:
        return costs.bytes_of_weights(Path(model.path)) / 2e9
    return billions_in(model.hub or "") or USUAL_BILLIONS


def billions_in(name: str) -> float | None:
    """The parameters in 10⁹ that a name says; None if it says none."""
    found = _IN_NAME.search(name)
    return float(found[1]) if found else None


def memory_mb(model: LocalModel | ServedModel, attempt: int, work: Work | None = None) -> int:
    """MB of memory for a sweep's job, apart from its GPUs; more at every attempt. work: the sweep's size.

    On a CPU it is the predicted peak, if the model's sizes are known here.
    """
    if isinstance(model, ServedModel):
        return SERVED_MB * attempt
    if model.mem_mb:
        return model.mem_mb * attempt
    size = costs.size_of(Path(model.path)) if model.device == "cpu" and model.path and work else None
    if size and work:
        numbers = costs.Numbers(format_here(model.dtype, "cpu").name, model.quantization, model.attention)
        peak = costs.PROCESS_BYTES + costs.sweep_bytes(size, numbers, work.longest, model.batch_tokens)
        return int((SPARE * peak + costs.PROMPT_BYTES * work.tokens) / 1e6) * attempt
    return int(BASE_MB + LOADING * costs.bytes_of_parameters(billions_of(model), model.dtype) / 1e6) * attempt


def minutes(
    model: LocalModel | ServedModel, work: Work, attempt: int, runs: Sequence[tuple[Mapping, float]] = ()
) -> int:
    """Minutes for a sweep's job, or for each job of a divided sweep.

    More at every attempt, up to `MOST`; fixed if the model's entry sets the time. runs: earlier ones of the model, see
    `costs.measured_runs`.
    """
    if isinstance(model, LocalModel) and model.runtime:
        return model.runtime
    return min(max(LEAST, int(START + _seconds(model, work, runs) / 60)) * attempt, MOST)


def _seconds(model: LocalModel | ServedModel, work: Work, runs: Sequence[tuple[Mapping, float]]) -> float:
    if isinstance(model, ServedModel):
        rate = costs.choose_rate(model.tokens_per_second, runs, None)
        return work.tokens / rate.tokens_per_second if rate else work.prompts * SERVED_SECONDS / model.concurrency
    gpu = model.device != "cpu"
    predicted = costs.predicted_rate(billions_of(model), model.dtype, gpu, model.threads) if model.has_weights else None
    rate = costs.choose_rate(model.tokens_per_second, runs, predicted)
    spare = SPARE_TIME if rate is predicted else 1
    return spare * work.tokens / rate.tokens_per_second / model.shards if rate else 0.0


def rate_here(model: LocalModel | ServedModel) -> costs.Rate | None:
    """The rate of a model on this machine by a rule of thumb; None without weights here."""
    if isinstance(model, ServedModel) or not model.has_weights:
        return None
    gpu = model.device not in ("auto", "cpu") or (model.device == "auto" and has_gpu())
    here, threads = format_here(model.dtype, model.device), min(model.threads, os.cpu_count() or 1)
    return costs.predicted_rate(billions_of(model), here.name, gpu, threads, here.is_emulated)


def gpu_hours(model: LocalModel, tokens: float) -> float:
    """The hours of all GPUs that compute these tokens by a rule of thumb; 0 for a model that takes no GPU."""
    if not model.has_weights or model.device == "cpu":
        return 0.0
    return model.gpus * tokens / costs.predicted_rate(billions_of(model), model.dtype, True, 1).tokens_per_second / 3600


#: Seconds: to load a model, and a run from which on there is a line on how to make it shorter.
LOADING_SECONDS, LONG = 8, 600
#: Number of models, or of names in a line, that are shown; the rest is counted.
SHOWN = 6


#: Sweeps, each with its prompts without an answer by their number of items.
Left = Sequence[tuple[Sweep, Mapping[int, int]]]


def time_lines(study: Study, sweeps: Left) -> list[str]:
    """For each local model of these sweeps, about how long it takes here, in which number format and why, and whether
    its answers so far are in another format.
    """
    seconds: dict[str, float] = {}
    lines: list[str] = []
    for model, tokens, number in _remaining(study, sweeps):
        name = model.name
        if predicted := rate_here(model):
            earlier = costs.measured_runs(Path("results"), name)
            rate = costs.choose_rate(model.tokens_per_second, earlier, predicted) or predicted
            seconds[name] = tokens / rate.tokens_per_second + LOADING_SECONDS * number
            known = (
                "a rule of thumb, wrong by up to a factor of three" if rate is predicted else "as earlier sweeps took"
            )
            if len(seconds) <= SHOWN:
                lines += _lines(model, f"{duration(seconds[name])} here ({known})")
    if others := list(seconds.values())[SHOWN:]:
        lines.append(f"  {len(others)} more models: about {duration(sum(others))}")
    if sum(seconds.values()) > LONG:
        lines.append(
            f"  more than {duration(LONG)}: `--config examples=5` asks 5 questions of each experiment, a higher number "
            "later only the others; a run that is stopped keeps its answers"
        )
    return lines


def gpu_lines(study: Study, sweeps: Left) -> list[str]:
    """A line on the GPU-hours of these sweeps, for a run whose jobs a cluster computes."""
    hours = sum(gpu_hours(model, tokens) for model, tokens, _ in _remaining(study, sweeps))
    told = f"about {hours:,.0f} GPU-hours" if hours >= 1 else "less than a GPU-hour"
    return [f"  {told}, by a rule of thumb that may be wrong by a factor of three"] if hours else []


def dollar_lines(study: Study, sweeps: Left) -> list[str]:
    """A line on the money for each model with prices, and for the way in which it is asked, and those of budgets."""
    plain: dict[str, float] = {}
    cached: dict[str, float] = {}
    ways: dict[str, str] = {}
    for sweep, prompts in sweeps:
        model, name = sweep.model, sweep.model.name
        if isinstance(model, ServedModel) and model.prices:
            tokens = round(prompt_tokens(study, sweep, prompts))
            limit = sum(prompts.values()) * sweep.answer_tokens
            ways[name] = "in batches" if model.batch else "with prompt caching"
            shares = {} if model.batch else cached_shares(study, model, sweep.experiment)
            for sums, way in ((plain, ({}, False)), (cached, (shares, model.batch))):
                dollars = Prices.of(model.all_prices or {}).of_prompts(tokens, limit, *way)
                sums[name] = sums.get(name, 0.0) + dollars
    lines = [
        f"  {name}: at most about US$ {money(cost)}"
        + (f", {ways[name]} US$ {money(cached[name])}" if cached[name] < cost else "")
        + " if each answer is as long as is allowed (by rules of thumb)"
        for name, cost in plain.items()
    ]
    return [*lines, *(f"  {line}" for line in budget_lines(study, cached, Path(JOURNALS)))]


def budget_lines(study: Study, dollars: Mapping[str, float | None], journals: Path | None = None) -> list[str]:
    """A line for each model whose budget may not be enough.

    dollars: what its sweeps may cost, None if unknown; journals: of what it has cost before, None if that is included.
    """
    lines = []
    for name, cost in dollars.items():
        model = study.models[name]
        if not isinstance(model, ServedModel) or model.budget is None or not model.all_prices or cost is None:
            continue
        spent = spent_in(journals / name, Prices.of(model.all_prices)) if journals else 0
        if spent + cost > model.budget:
            so_far = f" (US$ {money(spent)} spent)" if spent else ""
            lines.append(
                f"{name}: its budget of US$ {money(model.budget)}{so_far} may not be enough: the run then ends before "
                "it costs more, with an error; all answers are kept"
            )
    return lines


def _remaining(study: Study, sweeps: Left) -> Iterator[tuple[LocalModel, float, int]]:
    """Each local model, its tokens to compute, and its number of sweeps."""
    for name, own in grouped(sweeps, lambda left: left[0].model.name).items():
        if isinstance(model := study.models[name], LocalModel):
            shares = [prompt_tokens(study, *left) / prompt_tokens(study, left[0]) for left in own]
            tokens = sum(share * computed_tokens(study, left[0]) for share, left in zip(shares, own, strict=True))
            yield model, tokens, len(own)


def _lines(model: LocalModel, time: str) -> Iterator[str]:
    """The time that a model takes, its number format, and what becomes of answers in another one."""
    found = _whole(Path("results/models", f"{model.name}.json"))
    here = number_format_of(model.answer_settings(), found, model.device)
    yield f"  {model.name}: about {time}" + (f", in {here}" if here else "")
    others = sorted(_formats_so_far(model.name) - {here.name}) if here and model.dtype == AUTO else []
    if here and others:
        yield (
            f"  {model.name}: its answers so far are in {' and '.join(others)}, so prompts are asked again in "
            f"{here.name} unless a journal has that answer too; to keep these answers, set the model's "
            f"'dtype: {others[0]}'"
        )


def _formats_so_far(model: str) -> set[str]:
    """The number formats of a model's present responses."""
    manifests = map(_whole, sorted(Path("results/responses", model).glob("*.manifest.json")))
    models = (one["identity_fields"]["model"] for one in manifests if one)
    return {model["dtype"] for model in models if "dtype" in model}


def _whole(path: Path) -> dict:
    """The object in a file; {} without the file, and for a damaged one, which the jobs that read it report."""
    try:
        return read_json(path) if path.exists() else {}
    except UserError:
        return {}


def duration(seconds: float) -> str:
    """A time in words: minutes, from 90 on hours, from 10 hours on with two significant digits."""
    minutes = max(1, round(seconds / 60))
    if minutes < 90:
        return f"{minutes} minute{'' if minutes == 1 else 's'}"
    hours = seconds / 3600
    return f"{hours:.1f} hours" if hours < 10 else f"{float(f'{hours:.1e}'):,.0f} hours"
