"""The time of a sweep: how many tokens per second, by earlier runs or by a rule of thumb, and what its job requests."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.base.delimited_files import read_named_columns
from litm.base.json_files import read_json
from litm.config.sweeps import AskableModel, Model
from litm.engines.local_models import LocalModel
from litm.models.devices import EMULATED_SLOWDOWN, FLOAT32, format_here, has_gpu
from litm.planning.memory import billions_of
from litm.planning.tokens import Work

#: Factor from the seconds of a sweep by the rule of thumb to those that its job requests.
SPARE_TIME = 3
#: Seconds of a server per prompt, if no earlier run shows its speed.
SERVED_SECONDS = 10
#: Minutes: to load a model and read its answers; lower and upper limit of a request. Longer sweeps take several jobs.
START, LEAST, MOST = 15, 30, 24 * 60


#: Operations per second, padding included: of a GPU, a sixth of an A100's peak, never measured.
GPU_FLOPS = 5e13
#: Of a processor core, in float32 and in half precision with instructions for it: somewhat less than SmolLM2-135M
#: reaches with short prompts on a core of an EPYC, with its answers (benchmarks/memory.py has longer prompts).
CORE_FLOPS = {FLOAT32: 5e10}
HALF_CORE_FLOPS = 1e11
#: A shorter job measures the loading of its model as much as its speed, and is used only where nothing is predicted.
LEAST_SECONDS = 600.0


@dataclass(frozen=True)
class Rate:
    """Prompt tokens computed per second, and the origin of this number."""

    tokens_per_second: float
    source: str
    has_answers: bool = True
    """Whether the time of answers is in it, as where it was measured."""

    def seconds(self, work: Work) -> float:
        """The seconds of this work."""
        return (work.computed_tokens if self.has_answers else work.timed_tokens) / self.tokens_per_second


def predicted_rate(billions: float, dtype: str, gpu: bool, threads: int, is_emulated: bool = False) -> Rate:
    """The rate by a rule of thumb: two operations per parameter and token.

    billions: parameters in 10⁹; is_emulated: whether the processor lacks instructions for the number format.
    """
    of_core = CORE_FLOPS[FLOAT32] / EMULATED_SLOWDOWN if is_emulated else CORE_FLOPS.get(dtype, HALF_CORE_FLOPS)
    flops = GPU_FLOPS if gpu else threads * of_core
    device = "a GPU" if gpu else f"{threads} processor core{'s' if threads > 1 else ''}"
    doubt = "which may be wrong by a factor of three or more: a job of ten minutes measures it"
    return Rate(flops / (2e9 * billions), f"a rule of thumb for {device}, {doubt}", has_answers=False)


def choose_rate(stated: float | None, runs: Sequence[tuple[Mapping, float]], predicted: Rate | None) -> Rate | None:
    """The rate of a model: stated in its entry, else measured on its largest sweep of `LEAST_SECONDS`, else predicted.

    runs: manifests of its sweeps, each with the seconds of its job.
    """
    if stated is not None:
        return Rate(stated, "tokens_per_second of its entry")
    measuring = [run for run in runs if measured_rate(*run) and (run[1] >= LEAST_SECONDS or predicted is None)]
    largest = max(measuring, key=lambda run: asked_tokens(run[0]), default=None)
    return measured_rate(*largest) if largest else predicted


def measured_rate(manifest: Mapping, seconds: float) -> Rate | None:
    """The rate of the last run of a sweep, from its manifest and the seconds of its job; None if it asked nothing.

    The time includes loading the model and writing answers, so a larger sweep is faster, if anything.
    """
    tokens = asked_tokens(manifest)
    if not tokens or seconds <= 0:
        return None
    made_with = "; ".join(manifest["made_with"])
    return Rate(tokens / seconds, f"measured on {manifest['experiment']} ({made_with})")


def asked_tokens(manifest: Mapping) -> int:
    """Prompt tokens that the last run of a sweep computed, or sent if unknown; 0 if it asked nothing."""
    work = manifest.get("work") or {}
    return work.get("computed_tokens") or work.get("prompt_tokens") or 0


def measured_runs(results: Path, model: str) -> list[tuple[dict, float]]:
    """The manifest of the last run of each of a model's sweeps and shards, with the seconds of its job."""
    runs = []
    benchmarks = results / "benchmarks" / "generate"
    for benchmark in sorted((benchmarks / model).rglob("*.tsv")):
        name = benchmark.relative_to(benchmarks).with_suffix(".manifest.json")
        manifest = results / ("responses" if len(name.parts) == 2 else "parts") / name
        if manifest.exists():
            runs.append((read_json(manifest), _seconds_of(benchmark)))
    return runs


def _seconds_of(benchmark: Path) -> float:
    """The seconds of the last run in a file of Snakemake's `benchmark`; 0 if it has none."""
    rows = [row for _, row in read_named_columns(benchmark)]
    return float(rows[-1]["s"]) if rows else 0.0


def minutes(model: AskableModel, work: Work, attempt: int, runs: Sequence[tuple[Mapping, float]] = ()) -> int:
    """Minutes for a sweep's job, or for each job of a divided sweep.

    More at every attempt, up to `MOST`; fixed if the model's entry sets the time. runs: earlier ones of the model, see
    `measured_runs`.
    """
    if model.is_local and model.runtime:
        return model.runtime
    return min(max(LEAST, int(START + _seconds(model, work, runs) / 60)) * attempt, MOST)


def _seconds(model: AskableModel, work: Work, runs: Sequence[tuple[Mapping, float]]) -> float:
    if model.is_served:
        rate = choose_rate(model.tokens_per_second, runs, None)
        return work.tokens / rate.tokens_per_second if rate else work.prompts * SERVED_SECONDS / model.concurrency
    gpu = model.device != "cpu"
    predicted = predicted_rate(billions_of(model), model.dtype, gpu, model.threads) if model.has_weights else None
    rate = choose_rate(model.tokens_per_second, runs, predicted)
    spare = SPARE_TIME if rate is predicted else 1
    return spare * work.tokens / rate.tokens_per_second / model.shards if rate else 0.0


def rate_here(model: AskableModel) -> Rate | None:
    """The rate of a model on this machine by a rule of thumb; None without weights here."""
    if model.is_served or not model.has_weights:
        return None
    gpu = model.device not in ("auto", "cpu") or (model.device == "auto" and has_gpu())
    here, threads = format_here(model.dtype, model.device), min(model.threads, os.cpu_count() or 1)
    return predicted_rate(billions_of(model), here.name, gpu, threads, here.is_emulated)


def rate_of(model: Any, results: Path) -> Rate | None:
    """The rate of a model: stated, measured in this folder of results, or by the rule of thumb for this machine."""
    return choose_rate(model.tokens_per_second, measured_runs(results, model.name), rate_here(model))


def seconds(model: Model, work: Work, rate: Rate | None) -> float | None:
    """The seconds that a model takes for this work; of a server whose rate is not known by the number of its prompts,
    of others None.
    """
    if rate or not work.prompts:
        return rate.seconds(work) if rate and work.prompts else 0.0
    return work.prompts * SERVED_SECONDS / model.concurrency if model.is_served else None


def gpu_hours(model: LocalModel, work: Work) -> float:
    """The hours of all GPUs that do this work by a rule of thumb; 0 for a model that takes no GPU."""
    if not model.has_weights or model.device == "cpu":
        return 0.0
    return model.gpus * predicted_rate(billions_of(model), model.dtype, True, 1).seconds(work) / 3600


def duration(seconds: float) -> str:
    """A time in words: minutes, from 90 on hours, from 10 hours on with two significant digits."""
    minutes = max(1, round(seconds / 60))
    if minutes < 90:
        return f"{minutes} minute{'' if minutes == 1 else 's'}"
    hours = seconds / 3600
    return f"{hours:.1f} hours" if hours < 10 else f"{float(f'{hours:.1e}'):,.0f} hours"
