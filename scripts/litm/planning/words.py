"""What sweeps will take on this machine or a cluster, in lines: time, GPU-hours, money and budgets."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from litm.base.groups import grouped
from litm.base.json_files import read_json
from litm.base.messages import UserError, money
from litm.config.study import Study
from litm.config.sweeps import Sweep
from litm.engines.local_models import LocalModel
from litm.inference.asked_sweep import number_format_of
from litm.inference.kept_answers import ASKING
from litm.models.devices import AUTO
from litm.planning.speed import duration, gpu_hours, rate_of
from litm.planning.tokens import Work, cached_shares
from litm.records.bills import Prices
from litm.servers.billing import spent_in

#: Seconds: to load a model, and a run from which on there is a line on how to make it shorter.
LOADING_SECONDS, LONG = 8, 600
#: Number of models, or of names in a line, that are shown; the rest is counted.
SHOWN = 6


#: Sweeps, each with the work that is left.
Planned = Sequence[tuple[Sweep, Work]]


def time_lines(study: Study, sweeps: Planned) -> list[str]:
    """For each local model of these sweeps, about how long it takes here, in which number format and why, and whether
    its answers so far are in another format.
    """
    seconds: dict[str, float] = {}
    lines: list[str] = []
    for model, works in _local(sweeps):
        name = model.name
        if (rate := rate_of(model, Path("results"))) and model.has_weights:
            seconds[name] = sum(rate.seconds(work) + LOADING_SECONDS for work in works)
            thumb = "a rule of thumb, wrong by up to a factor of three"
            basis = "as earlier sweeps took" if rate.has_answers else thumb
            if len(seconds) <= SHOWN:
                lines += _lines(model, f"{duration(seconds[name])} here ({basis})")
    if others := list(seconds.values())[SHOWN:]:
        lines.append(f"  {len(others)} more models: about {duration(sum(others))}")
    if sum(seconds.values()) > LONG:
        lines.append(
            f"  more than {duration(LONG)}: `--config examples=5` asks 5 questions of each experiment, a higher number "
            "later only the others; a run that is stopped keeps its answers"
        )
    return lines


def gpu_lines(study: Study, sweeps: Planned) -> list[str]:
    """A line on the GPU-hours of these sweeps, for a run whose jobs a cluster computes."""
    hours = sum(gpu_hours(model, work) for model, works in _local(sweeps) for work in works)
    amount = f"about {hours:,.0f} GPU-hours" if hours >= 1 else "less than a GPU-hour"
    return [f"  {amount}, by a rule of thumb that may be wrong by a factor of three"] if hours else []


def dollar_lines(study: Study, sweeps: Planned) -> list[str]:
    """A line on the money for each model with prices, and for the way in which it is asked, and those of budgets."""
    plain: dict[str, float] = {}
    cached: dict[str, float] = {}
    ways: dict[str, str] = {}
    tables: dict[str, str] = {}
    for sweep, work in sweeps:
        model, name = sweep.model, sweep.model.name
        if model.is_served and model.all_prices:
            table = model.all_prices.get("table")
            tables[name] = f", prices of {table}" if table else ""
            ways[name] = "in batches" if model.batch else "with prompt caching"
            shares = {} if model.batch else cached_shares(study, model, sweep.experiment)
            for sums, way in ((plain, ({}, False)), (cached, (shares, model.batch))):
                sums[name] = sums.get(name, 0.0) + dollars(model.all_prices or {}, work, *way)
    lines = [
        f"  {name}: at most about US$ {money(cost)}"
        + (f", {ways[name]} US$ {money(cached[name])}" if cached[name] < cost else "")
        + f" if each answer is as long as is allowed (by rules of thumb{tables[name]})"
        for name, cost in plain.items()
    ]
    return [*lines, *(f"  {line}" for line in budget_lines(study, cached, ASKING))]


def dollars(prices: Mapping[Any, Any], work: Work, shares: Mapping[str, float], is_batch: bool) -> float:
    """The most that work costs, at the prices of its longest prompt. shares: of its prompts' tokens in the provider's
    cache, see `Plan.shares`.
    """
    tokens, answers = round(work.prompt_tokens), round(work.answer_tokens)
    return Prices.from_entry(prices).of_prompts(tokens, answers, shares, is_batch, work.longest)


def budget_lines(study: Study, dollars: Mapping[str, float | None], asking: str | Path | None = None) -> list[str]:
    """A line for each model whose budget may not be enough.

    dollars: what its sweeps may cost, None if unknown; asking: the folder of the study's id, for what it
    has cost before; None if that is included.
    """
    lines = []
    for name, cost in dollars.items():
        model = study.asked_models[name]
        if not model.is_served or model.budget is None or not model.all_prices or cost is None:
            continue
        spent = spent_in(study.answer_folders, name, asking, Prices.from_entry(model.all_prices)) if asking else 0
        if spent + cost > model.budget:
            so_far = f" (US$ {money(spent)} spent)" if spent else ""
            lines.append(
                f"{name}: its budget of US$ {money(model.budget)}{so_far} may not be enough: the run then ends before "
                "it costs more, with an error; all answers are kept"
            )
    return lines


def _local(sweeps: Planned) -> Iterator[tuple[LocalModel, list[Work]]]:
    """Each local model, and the work of its sweeps."""
    for pairs in grouped(sweeps, lambda planned: planned[0].model.name).values():
        if (model := pairs[0][0].model).is_local:
            yield model, [work for _, work in pairs]


def _lines(model: LocalModel, time: str) -> Iterator[str]:
    """The time that a model takes, its number format, and what becomes of answers in another one."""
    identity = _whole(Path("results/models", f"{model.name}.json"))
    here = number_format_of(model.answer_settings(), identity, model.device)
    yield f"  {model.name}: about {time}" + (f", in {here}" if here else "")
    others = sorted(_formats_so_far(model.name) - {here.name}) if here and model.dtype == AUTO else []
    if here and others:
        yield (
            f"  {model.name}: its answers so far are in {' and '.join(others)}, so prompts are asked again in "
            f"{here.name} unless that answer is kept too; to keep these answers, set the model's "
            f"'dtype: {others[0]}'"
        )


def _formats_so_far(model: str) -> set[str]:
    """The number formats of a model's present responses."""
    manifests = map(_whole, sorted(Path("results/responses", model).glob("*.manifest.json")))
    models = (manifest["identity_fields"]["model"] for manifest in manifests if manifest)
    return {model["dtype"] for model in models if "dtype" in model}


def _whole(path: Path) -> dict:
    """The object in a file; {} without the file, and for a damaged one, which the jobs that read it report."""
    try:
        return read_json(path) if path.exists() else {}
    except UserError:
        return {}
