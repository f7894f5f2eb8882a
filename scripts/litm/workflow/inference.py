"""Inference: the jobs that ask a model all prompts of an experiment, alone or in parts, and what they need to run."""

from dataclasses import dataclass

from litm.base.hashing import canonical_json
from litm.config.api_models import ApiModel
from litm.config.models import Model
from litm.config.study import Study
from litm.workflow.cluster_resources import memory_mb, minutes, work_of
from litm.workflow.models import ModelPlan
from litm.workflow.project_files import ProjectFiles
from litm.workflow.wildcards import Wildcards


@dataclass(frozen=True)
class Running:
    """How a model is run, which changes no answer. The defaults are for what does not apply to it.

    gpus: of one job; batch_tokens: tokens of a batch; concurrency: requests at a time; request_timeout: seconds.
    """

    device: str = "cpu"
    gpus: int = 0
    gpu_model: str = ""
    parts: int = 1
    batch_tokens: int = 0
    threads: int = 1
    concurrency: int = 1
    request_timeout: float = 0
    request_attempts: int = 1


def running_of(model: Model | ApiModel) -> Running:
    """How a model is run, on this machine or by a server."""
    if isinstance(model, ApiModel):
        return Running(
            concurrency=model.concurrency,
            request_timeout=model.request_timeout,
            request_attempts=model.request_attempts,
        )
    return Running(
        device=model.device,
        gpus=0 if model.device == "cpu" else model.gpus,
        gpu_model=model.gpu_model or "",
        parts=model.shards,
        batch_tokens=model.batch_tokens,
        threads=model.threads,
    )


class InferencePlan:
    """Inputs, params and resources of the rules that ask {model} the prompts of {experiment}.

    A sweep is asked by one job, or by jobs for parts of it ({part}, as `1_of_3`) and one that gathers their answers.
    """

    def __init__(self, study: Study, project: ProjectFiles, models: ModelPlan) -> None:
        self._experiments = study.experiments
        self._project = project
        self._models = models.asked
        self._running = {name: running_of(model) for name, model in models.asked.items()}
        self._work = {name: work_of(experiment) for name, experiment in study.experiments.items()}

    def code(self, wildcards: Wildcards) -> list[str]:
        """generate.py and the engine's module."""
        return self._project.code("generate.py", f"litm.inference.engines.{self._models[wildcards.model].engine}")

    # What changes an answer, or what is done about one

    def settings(self, wildcards: Wildcards) -> str:
        """What changes an answer, beside the weights, the template's text and the decoding: JSON."""
        return canonical_json(self._models[wildcards.model].answer_settings())

    def decoding(self, wildcards: Wildcards) -> str:
        """How long answers get and where they end: JSON."""
        return canonical_json(self._experiments[wildcards.experiment].decoding())

    def on_failure(self, wildcards: Wildcards) -> str:
        """What is done about a prompt that gets no answer."""
        return self._models[wildcards.model].on_failure

    def on_overflow(self, wildcards: Wildcards) -> str:
        """What is done about a prompt that does not fit into the context window."""
        return self._experiments[wildcards.experiment].on_overflow

    # Parts

    def part_responses(self, wildcards: Wildcards) -> list[str]:
        """The responses of the parts, for the job that gathers them; none for a part or an undivided sweep."""
        count = self._running[wildcards.model].parts
        if not self._gathers(wildcards):
            return []
        folder = f"results/parts/{wildcards.model}/{wildcards.experiment}"
        return [f"{folder}/{number}_of_{count}.jsonl.gz" for number in range(1, count + 1)]

    def part_option(self, wildcards: Wildcards) -> str:
        """The option of generate.py for a part, or to gather the parts; "" for an undivided sweep."""
        if part := _part(wildcards):
            return f"--shard {part}"
        return "--gather" if self._gathers(wildcards) else ""

    def _gathers(self, wildcards: Wildcards) -> bool:
        return self._running[wildcards.model].parts > 1 and _part(wildcards) is None

    # How it is run

    def device(self, wildcards: Wildcards) -> str:
        """Where the model runs: auto, cpu, cuda, ..."""
        return self._running[wildcards.model].device

    def gpus(self, wildcards: Wildcards) -> int:
        """The GPUs of a job; none to gather parts."""
        return 0 if self._gathers(wildcards) else self._running[wildcards.model].gpus

    def gpu_model(self, wildcards: Wildcards) -> str:
        """The kind of GPU that a cluster has to give, "" for any."""
        return "" if self._gathers(wildcards) else self._running[wildcards.model].gpu_model

    def threads(self, wildcards: Wildcards) -> int:
        """The threads of a job."""
        return self._running[wildcards.model].threads

    def batch_tokens(self, wildcards: Wildcards) -> int:
        """Tokens of a batch; 0 for a server's model."""
        return self._running[wildcards.model].batch_tokens

    def concurrency(self, wildcards: Wildcards) -> int:
        """Requests to a server at a time."""
        return self._running[wildcards.model].concurrency

    def request_timeout(self, wildcards: Wildcards) -> float:
        """Seconds that a server may take for an answer; 0 without a server."""
        return self._running[wildcards.model].request_timeout

    def request_attempts(self, wildcards: Wildcards) -> int:
        """How often a request is sent before it has failed."""
        return self._running[wildcards.model].request_attempts

    def memory(self, wildcards: Wildcards, attempt: int) -> int:
        """The memory (MB) of a job."""
        return memory_mb(self._models[wildcards.model], attempt)

    def minutes(self, wildcards: Wildcards, attempt: int) -> int:
        """The time limit of a job."""
        return minutes(self._models[wildcards.model], self._work[wildcards.experiment], attempt)


def _part(wildcards: Wildcards) -> str | None:
    """The wildcard {part}, which only the jobs for parts have."""
    return getattr(wildcards, "part", None)
