"""What a sweep's job asks of a cluster: memory and time by rules of thumb, from the sizes of the model and its prompts.

They are generous. A job that asks for too much waits a little longer in the queue; one that asks for too little is
ended and submitted again with more, and goes on from its journal.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from litm.config.api_models import ApiModel
from litm.config.experiments import Experiment
from litm.config.models import Model
from litm.inference.memory import bytes_of_parameters
from litm.models.files import WEIGHTS, weight_files
from litm.models.gguf import is_gguf, read_gguf

#: Parameters, in 10⁹, of a model of which neither its entry nor its name says how many it has.
USUAL_BILLIONS = 7.0
#: What its hub or folder's name says: `7b` in Llama-2-7b-hf, `0.5B` in Qwen2.5-0.5B-Instruct.
_IN_NAME = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)b(?![A-Za-z0-9])", re.IGNORECASE)

#: Questions of an experiment that takes all that its data has: those of the paper.
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
}
#: Tokens around the items.
FRAME_TOKENS = 150

#: Memory (MB) of Python, torch, CUDA's libraries and the prompts; of a job that only asks a server; and how many times
#: the size of the weights while they are loaded.
BASE_MB, SERVED_MB, LOADING = 6_000, 4_000, 1.25
#: Operations a second that a GPU sustains with padding and the tokens of answers, a sixth of what an A100 could do; and
#: the same of eight cores of a processor.
GPU_FLOPS, CPU_FLOPS = 5e13, 1e11
#: Seconds that a server takes for a prompt.
SERVED_SECONDS = 10
#: Minutes: to load a model and read the journal, the least that is asked for, and the most. What is longer than the
#: last is made in several goes.
START, LEAST, MOST = 15, 30, 24 * 60


@dataclass(frozen=True)
class Work:
    """What a sweep asks: how many prompts, and how many tokens they and their answers have together."""

    prompts: int
    tokens: int


def work_of(experiment: Experiment) -> Work:
    """About how much a sweep of an experiment asks."""
    each = experiment.examples or QUESTIONS
    return Work(each * len(experiment.cells), each * sum(_tokens(experiment, cell.size) for cell in experiment.cells))


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
        return _bytes_of_weights(model.path) / 2e9
    return billions_in(model.hub or "") or USUAL_BILLIONS


def billions_in(name: str) -> float | None:
    """The parameters in 10⁹ that a name says; None if it says none."""
    found = _IN_NAME.search(name)
    return float(found[1]) if found else None


@cache
def _bytes_of_weights(folder: str) -> int:
    """Looked up once for all sweeps of the model: the folder may be on a slow disk."""
    return sum(file.stat().st_size for kind in WEIGHTS for file in weight_files(Path(folder), kind))


def memory_mb(model: Model | ApiModel, attempt: int) -> int:
    """The memory of a sweep's job, beside that of its GPUs: more at every attempt."""
    if isinstance(model, ApiModel):
        return SERVED_MB * attempt
    if model.mem_mb:
        return model.mem_mb * attempt
    return int(BASE_MB + LOADING * bytes_of_parameters(billions_of(model), model.dtype) / 1e6) * attempt


def minutes(model: Model | ApiModel, work: Work, attempt: int) -> int:
    """The time of a sweep's job, or of each if they are several.

    More at every attempt, but never more than `MOST`; always the same where the model's entry says how long.
    """
    if isinstance(model, Model) and model.runtime:
        return model.runtime
    return min(max(LEAST, int(START + _seconds(model, work) / 60)) * attempt, MOST)


def _seconds(model: Model | ApiModel, work: Work) -> float:
    if isinstance(model, ApiModel):
        return work.prompts * SERVED_SECONDS / model.concurrency
    if model.tokens_per_second:
        return work.tokens / model.tokens_per_second / model.shards
    flops = CPU_FLOPS if model.device == "cpu" else GPU_FLOPS
    return 2e9 * billions_of(model) * work.tokens / flops / model.shards
