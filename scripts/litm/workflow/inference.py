"""Plan of inference: the jobs that ask a model the prompts of an experiment, in shards or not, and their resources."""

from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path

from litm.base.store import canonical_json
from litm.config.api_models import ApiModel
from litm.config.models import Model
from litm.config.study import Study
from litm.inference.speed import measured_runs
from litm.models.number_format import AUTO, format_here
from litm.workflow.cluster_resources import memory_mb, minutes, work_of
from litm.workflow.models import ModelPlan
from litm.workflow.project_files import ProjectFiles
from litm.workflow.time_here import time_lines
from litm.workflow.wildcards import Wildcards


def gpus_of(model: Model | ApiModel) -> int:
    """The number of GPUs of a job; 0 for a model on a CPU or a server."""
    return 0 if isinstance(model, ApiModel) or model.device == "cpu" else model.gpus


def gpu_model_of(model: Model | ApiModel) -> str:
    """The GPU type to request from a cluster, "" for any."""
    return "" if isinstance(model, ApiModel) else model.gpu_model or ""


def _parts_of(model: Model | ApiModel) -> int:
    """The number of jobs of a sweep."""
    return 1 if isinstance(model, ApiModel) else model.shards


class InferencePlan:
    """Inputs, params and resources of the rules that ask {model} the prompts of {experiment}.

    A sweep is asked by one job, or by a job per shard ({part}, such as `1_of_3`) and one that gathers their answers.
    """

    def __init__(
        self, study: Study, project: ProjectFiles, models: ModelPlan, runs_here: Callable[[], bool] = lambda: True
    ) -> None:
        self._runs_here = runs_here
        self._study = study
        self._experiments = study.experiments
        self._project = project
        self._models = models.asked
        # Read when they are needed, and once.
        self._runs = cache(partial(measured_runs, Path("results")))
        self._work = {pair: work_of(one, study.questions_of(one)) for pair, one in study.run.items()}

    def code(self, wildcards: Wildcards) -> list[str]:
        """generate.py and the engine's module."""
        return self._project.code("generate.py", f"litm.inference.engines.{self._models[wildcards.model].engine}")

    # Settings that change an answer, or its treatment

    def settings(self, wildcards: Wildcards) -> str:
        """The settings that change an answer, apart from weights, template text and decoding: JSON; `{}` for recorded
        responses.
        """
        model = self._models.get(wildcards.model)
        return canonical_json(model.answer_settings() if model else {})

    def number_format(self, wildcards: Wildcards) -> str:
        """The number format that this machine takes for a model whose entry leaves it open; "" on a cluster, whose
        nodes choose it.

        A param, so that a study on another machine asks again.
        """
        model = self._models.get(wildcards.model)
        if not isinstance(model, Model) or not model.has_weights or model.dtype != AUTO or not self._runs_here():
            return ""
        return format_here(AUTO, model.device).name

    def decoding(self, wildcards: Wildcards) -> str:
        """The limit of new tokens and the stop rule: JSON."""
        return canonical_json(self._experiments[wildcards.experiment].decoding())

    def on_failure(self, wildcards: Wildcards) -> str:
        """The treatment of prompts without an answer."""
        return self._models[wildcards.model].on_failure

    def on_overflow(self, wildcards: Wildcards) -> str:
        """The treatment of prompts that do not fit the context window."""
        return self._experiments[wildcards.experiment].on_overflow

    def times(self, sweeps: Iterable[tuple[str, str]]) -> list[str]:
        """Lines on the time that sweeps take on this machine, pairs of model and experiment; none on a cluster."""
        return time_lines(self._study, sweeps) if self._runs_here() else []

    # Shards

    def part_responses(self, wildcards: Wildcards) -> list[str]:
        """The responses of the shards, for the job that gathers them; none for a shard or an undivided sweep."""
        count = _parts_of(self._models[wildcards.model])
        if not self._gathers(wildcards):
            return []
        folder = f"results/parts/{wildcards.model}/{wildcards.experiment}"
        return [f"{folder}/{number}_of_{count}.jsonl.gz" for number in range(1, count + 1)]

    def part_option(self, wildcards: Wildcards) -> str:
        """The option of generate.py for a shard, or for gathering shards; "" for an undivided sweep."""
        if part := _part(wildcards):
            return f"--shard {part}"
        return "--gather" if self._gathers(wildcards) else ""

    def _gathers(self, wildcards: Wildcards) -> bool:
        return _parts_of(self._models[wildcards.model]) > 1 and _part(wildcards) is None

    # Settings that change no answer

    def run(self, wildcards: Wildcards) -> str:
        """The engine's settings for this machine: JSON."""
        return canonical_json(self._models[wildcards.model].run_settings())

    def gpus(self, wildcards: Wildcards) -> int:
        """The number of GPUs of a job; 0 for gathering shards."""
        return 0 if self._gathers(wildcards) else gpus_of(self._models[wildcards.model])

    def gpu_model(self, wildcards: Wildcards) -> str:
        """The GPU type to request from a cluster, "" for any."""
        return "" if self._gathers(wildcards) else gpu_model_of(self._models[wildcards.model])

    def threads(self, wildcards: Wildcards) -> int:
        """The number of threads of a job; 1 for asking a server."""
        model = self._models[wildcards.model]
        return 1 if isinstance(model, ApiModel) else model.threads

    def memory(self, wildcards: Wildcards, attempt: int) -> int:
        """Memory (MB) of a job."""
        work = self._work[wildcards.model, wildcards.experiment]
        return memory_mb(self._models[wildcards.model], attempt, work)

    def minutes(self, wildcards: Wildcards, attempt: int) -> int:
        """Time limit (minutes) of a job."""
        work = self._work[wildcards.model, wildcards.experiment]
        return minutes(self._models[wildcards.model], work, attempt, self._runs(wildcards.model))


def _part(wildcards: Wildcards) -> str | None:
    """The wildcard {part}, which only jobs for shards have."""
    return getattr(wildcards, "part", None)
