"""Speed of a model in prompt tokens computed per second, the time for answers included.

It is stated in the model's entry, or measured in its largest earlier sweep, or predicted by a rule of thumb, in this
order. `snakemake estimate` predicts for the device of this machine, the time limits of cluster jobs for the cluster's.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from litm.base.records import read_json
from litm.models.number_format import EMULATED_SLOWDOWN, FLOAT32

#: Operations per second, padding and answers included: of a GPU, a sixth of an A100's peak, never measured.
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


def predicted_rate(billions: float, dtype: str, gpu: bool, threads: int, is_emulated: bool = False) -> Rate:
    """The rate by a rule of thumb: two operations per parameter and token.

    billions: parameters in 10⁹; is_emulated: whether the processor lacks instructions for the number format.
    """
    of_core = CORE_FLOPS[FLOAT32] / EMULATED_SLOWDOWN if is_emulated else CORE_FLOPS.get(dtype, HALF_CORE_FLOPS)
    flops = GPU_FLOPS if gpu else threads * of_core
    device = "a GPU" if gpu else f"{threads} processor core{'s' if threads > 1 else ''}"
    doubt = "which may be wrong by a factor of three or more: a job of ten minutes measures it"
    return Rate(flops / (2e9 * billions), f"a rule of thumb for {device}, {doubt}")


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
            runs.append((read_json(manifest), _seconds(benchmark)))
    return runs


def _seconds(benchmark: Path) -> float:
    """The seconds of the last run in a file of Snakemake's `benchmark`; 0 if it has none."""
    with benchmark.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return float(rows[-1]["s"]) if rows else 0.0
