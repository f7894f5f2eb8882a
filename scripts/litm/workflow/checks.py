"""Plan of checks before and after a run: the doctor, the estimate of cost, and the audit of answers."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

from litm.base.store import canonical_json
from litm.config.api_models import ApiModel
from litm.config.catalogue import string_keys
from litm.config.study import Study
from litm.inference.engines import audit_engine
from litm.inference.other_sweeps import JOURNALS, all_journals
from litm.workflow.cluster_resources import rate_here
from litm.workflow.inference import gpu_model_of, gpus_of
from litm.workflow.models import ModelPlan
from litm.workflow.project_files import ProjectFiles
from litm.workflow.sweeps import SweepPlan
from litm.workflow.wildcards import Wildcards


def config_text(config: Mapping) -> str:
    """A config as JSON, the input of doctor.py."""
    return canonical_json(string_keys(config))


class EstimatePlan:
    """Inputs and params of the rules that estimate the remaining work and cost of {model} on {experiment}."""

    def __init__(self, study: Study, models: ModelPlan, sweeps: SweepPlan) -> None:
        self._study = study
        self._models = models
        self._sweeps = sweeps

    def source(self, wildcards: Wildcards) -> list[str]:
        """The file with the model's identity.

        None if it was never asked and the config gives its identity: then the hub is not asked either, and answers
        under another name are not looked up.
        """
        model = self._models.asked[wildcards.model]
        is_stored = not isinstance(model, ApiModel) and model.path
        is_known = model.context_window and self._models.tokenizer_files(wildcards) and not is_stored
        was_asked = any(journal.relative_to(JOURNALS).parts[0] == wildcards.model for journal in self._journals)
        is_needed = not is_known or was_asked
        return [f"results/models/{wildcards.model}.json"] if is_needed else []

    def journal(self, wildcards: Wildcards) -> str:
        """The path of the sweep's journal, which may not exist yet."""
        return f"results/journal/{wildcards.model}/{wildcards.experiment}.jsonl"

    def answered(self, wildcards: Wildcards) -> int:
        """Bytes of all journals, whose growth shows new answers; journals are no inputs.

        All journals, because an answer may be found in any.
        """
        return sum(file.stat().st_size for file in self._journals)

    @cached_property
    def _journals(self) -> list[Path]:
        return all_journals(JOURNALS)

    @property
    def sweeps(self) -> list[str]:
        """The estimate of each sweep that asks something."""
        return self._sweeps.files("results/estimates/{model}/{experiment}.json", self._models.asked)

    @property
    def rates(self) -> str:
        """Stated tokens per second of each selected model, null if missing: JSON."""
        asked = self._models.asked
        return canonical_json({name: asked[name].tokens_per_second for name in self._study.models if name in asked})

    def predicted(self, wildcards: Wildcards) -> str:
        """The rate of each selected model by a rule of thumb, null without weights here: JSON."""
        asked = self._models.asked
        rates = {name: rate_here(asked[name]) for name in self._study.models if name in asked}
        return canonical_json({name: rate and asdict(rate) for name, rate in rates.items()})

    @property
    def prices(self) -> str:
        """Stated prices of each selected model on a server, null if missing: JSON."""
        return canonical_json(
            {name: model.prices for name, model in self._study.models.items() if isinstance(model, ApiModel)}
        )


class AuditPlan:
    """Inputs, params and resources of the rules that ask {model} a sample of {experiment} again."""

    def __init__(self, project: ProjectFiles, models: ModelPlan) -> None:
        self._project = project
        self._models = models

    def code(self, wildcards: Wildcards) -> list[str]:
        """ask_again.py and the module of the auditing engine."""
        engine = audit_engine(self._models.asked[wildcards.model].engine)
        return self._project.code("ask_again.py", f"litm.inference.engines.{engine}")

    def gpus(self, wildcards: Wildcards) -> int:
        """The number of GPUs of the job, which asks alone even if the sweep is divided."""
        return gpus_of(self._models.asked[wildcards.model])

    def gpu_model(self, wildcards: Wildcards) -> str:
        """The GPU type to request from a cluster, "" for any."""
        return gpu_model_of(self._models.asked[wildcards.model])
