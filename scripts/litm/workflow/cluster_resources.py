"""Cluster resources of a sweep's job: memory and time, estimated from the sizes of the model and its prompts.

The estimates are generous. A job that requests too much waits longer in the queue; a job that requests too little is
killed, submitted again with more, and resumes from its journal.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from litm.config.api_models import ApiModel
from litm.config.experiments import Experiment
from litm.config.models import Model
from litm.inference.memory import PROCESS_BYTES, PROMPT_BYTES, Numbers, bytes_of_parameters, sweep_bytes
from litm.inference.model_sizes import bytes_of_weights, size_of
from litm.inference.speed import Rate, choose_rate, predicted_rate
from litm.models.devices import has_gpu
from litm.models.gguf import is_gguf, read_gguf
from litm.models.number_format import format_here

#: Billions of parameters of a model whose entry and name do not give them.
USUAL_BILLIONS = 7.0
#: Pattern of the number in a hub or folder name: `7b` in Llama-2-7b-hf, `0.5B` in Qwen2.5-0.5B-Instruct.
_IN_NAME = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)b(?![A-Za-z0-9])", re.IGNORECASE)

#: Questions of an experiment that uses its whole dataset: as in the paper.
QUESTIONS = 2_655
#: Tokens of an item, rather too many: of a passage of 100 words with its title, or by task.
ITEM_TOKENS = 175
TASK_TOKENS = {
    "kv_retrieval": 75,
    "needle_in_haystack": 30,
    "multi_needle": 30,
    "fact_reasoning": 30,
    "semantic_distractors": 30,
    "temporal_narrative": 40,
    "conversation_memory": 80,
    "demonstrations": 35,
}
#: Tokens around the items.
FRAME_TOKENS = 150

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


@dataclass(frozen=True)
class Work:
    """The size of a sweep: its prompts, the tokens of prompts and answers together, and those of the longest."""

    prompts: int
    tokens: int
    longest: int = 0


def work_of(experiment: Experiment, questions: int | None = None) -> Work:
    """The estimated size of a sweep of an experiment. questions: in its data, None if that is not known."""
    each = min(filter(None, (experiment.examples, questions)), default=QUESTIONS)
    tokens = [_tokens(experiment, cell.size) for cell in experiment.cells]
    return Work(each * len(tokens), each * sum(tokens), max(tokens))


def longest_tokens(experiment: Experiment) -> int:
    """About the tokens of an experiment's longest prompt with its answer."""
    return max(_tokens(experiment, cell.size) for cell in experiment.cells)


def _tokens(experiment: Experiment, size: int) -> int:
    item = 1 if experiment.tokens_of else TASK_TOKENS.get(experiment.task, ITEM_TOKENS)
    return size * item + FRAME_TOKENS + experiment.max_new_tokens


def billions_of(model: Model) -> float:
    """The parameters of a model in 10⁹: as its entry says, by its weights in a folder, by its name, or as usual."""
    if stated := model.parameters or (model.about and model.about.parameters):
        return stated
    if not model.has_weights:
        return 0.0
    if model.path and is_gguf(model.path):
        return read_gguf(Path(model.path)).weights / 1e9
    if model.path:
        return bytes_of_weights(model.path) / 2e9
    return billions_in(model.hub or "") or USUAL_BILLIONS


def billions_in(name: str) -> float | None:
    """The parameters in 10⁹ that a name says; None if it says none."""
    found = _IN_NAME.search(name)
    return float(found[1]) if found else None


def memory_mb(model: Model | ApiModel, attempt: int, work: Work | None = None) -> int:
    """MB of memory for a sweep's job, apart from its GPUs; more at every attempt. work: the sweep's size.

    On a CPU it is the predicted peak, if the model's sizes are known here.
    """
    if isinstance(model, ApiModel):
        return SERVED_MB * attempt
    if model.mem_mb:
        return model.mem_mb * attempt
    size = size_of(Path(model.path)) if model.device == "cpu" and model.path and work else None
    if size and work:
        numbers = Numbers(format_here(model.dtype, "cpu").name, model.quantization, model.attention)
        peak = PROCESS_BYTES + sweep_bytes(size, numbers, work.longest, model.batch_tokens)
        return int((SPARE * peak + PROMPT_BYTES * work.tokens) / 1e6) * attempt
    return int(BASE_MB + LOADING * bytes_of_parameters(billions_of(model), model.dtype) / 1e6) * attempt


def minutes(model: Model | ApiModel, work: Work, attempt: int, runs: Sequence[tuple[Mapping, float]] = ()) -> int:
    """Minutes for a sweep's job, or for each job of a divided sweep.

    More at every attempt, up to `MOST`; fixed if the model's entry sets the time. runs: earlier ones of the model, see
    `measured_runs`.
    """
    if isinstance(model, Model) and model.runtime:
        return model.runtime
    return min(max(LEAST, int(START + _seconds(model, work, runs) / 60)) * attempt, MOST)


def _seconds(model: Model | ApiModel, work: Work, runs: Sequence[tuple[Mapping, float]]) -> float:
    if isinstance(model, ApiModel):
        rate = choose_rate(model.tokens_per_second, runs, None)
        return work.tokens / rate.tokens_per_second if rate else work.prompts * SERVED_SECONDS / model.concurrency
    gpu = model.device != "cpu"
    predicted = predicted_rate(billions_of(model), model.dtype, gpu, model.threads) if model.has_weights else None
    rate = choose_rate(model.tokens_per_second, runs, predicted)
    spare = SPARE_TIME if rate is predicted else 1
    return spare * work.tokens / rate.tokens_per_second / model.shards if rate else 0.0


def rate_here(model: Model | ApiModel) -> Rate | None:
    """The rate of a model on this machine by a rule of thumb; None without weights here."""
    if isinstance(model, ApiModel) or not model.has_weights:
        return None
    gpu = model.device not in ("auto", "cpu") or (model.device == "auto" and has_gpu())
    here, threads = format_here(model.dtype, model.device), min(model.threads, os.cpu_count() or 1)
    return predicted_rate(billions_of(model), here.name, gpu, threads, here.is_emulated)
