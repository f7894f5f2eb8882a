"""Inference: the jobs that ask a model all prompts of an experiment, alone or in parts, and what they need to run."""

from litm.base.hashing import canonical_json
from litm.config.api_models import ApiModel
from litm.config.models import Model
from litm.config.study import Study
from litm.workflow.cluster_resources import memory_mb, minutes, work_of
from litm.workflow.models import ModelPlan
from litm.workflow.project_files import ProjectFiles
from litm.workflow.wildcards import Wildcards


def gpus_of(model: Model | ApiModel) -> int:
    """The GPUs of a job; none for a model that runs on a CPU, or that a server runs."""
    return 0 if isinstance(model, ApiModel) or model.device == "cpu" else model.gpus


def gpu_model_of(model: Model | ApiModel) -> str:
    """The kind of GPU that a cluster has to give, "" for any."""
    return "" if isinstance(model, ApiModel) else model.gpu_model or ""


def _parts_of(model: Model | ApiModel) -> int:
    """The jobs that a sweep is divided into."""
    return 1 if isinstance(model, ApiModel) else model.shards


class InferencePlan:
    """Inputs, params and resources of the rules that ask {model} the prompts of {experiment}.

    A sweep is asked by one job, or by jobs for parts of it ({part}, as `1_of_3`) and one that gathers their answers.
    """

    def __init__(self, study: Study, project: ProjectFiles, models: ModelPlan) -> None:
        self._experiments = study.experiments
        self._project = project
        self._models = models.asked
        self._work = {pair: work_of(experiment) for pair, experiment in study.run.items()}

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
        count = _parts_of(self._models[wildcards.model])
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
        return _parts_of(self._models[wildcards.model]) > 1 and _part(wildcards) is None

    # How it is run

    def run(self, wildcards: Wildcards) -> str:
        """How the engine runs the model: JSON."""
        return canonical_json(self._models[wildcards.model].run_settings())

    def gpus(self, wildcards: Wildcards) -> int:
        """The GPUs of a job; none to gather parts."""
        return 0 if self._gathers(wildcards) else gpus_of(self._models[wildcards.model])

    def gpu_model(self, wildcards: Wildcards) -> str:
        """The kind of GPU that a cluster has to give, "" for any."""
        return "" if self._gathers(wildcards) else gpu_model_of(self._models[wildcards.model])

    def threads(self, wildcards: Wildcards) -> int:
        """The threads of a job; one to ask a server."""
        model = self._models[wildcards.model]
        return 1 if isinstance(model, ApiModel) else model.threads

    def memory(self, wildcards: Wildcards, attempt: int) -> int:
        """The memory (MB) of a job."""
        return memory_mb(self._models[wildcards.model], attempt)

    def minutes(self, wildcards: Wildcards, attempt: int) -> int:
        """The time limit of a job."""
        work = self._work[wildcards.model, wildcards.experiment]
        return minutes(self._models[wildcards.model], work, attempt)


def _part(wildcards: Wildcards) -> str | None:
    """The wildcard {part}, which only the jobs for parts have."""
    return getattr(wildcards, "part", None)
