"""Plan of a study: the inputs, params and resources of every rule.

Rules refer to its methods: `input: examples=PLAN.examples.files`. Snakemake calls them with a job's wildcards. Values
that are the same for all jobs are properties.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from litm.config.study import Study, load_study
from litm.workflow.data_inputs import (
    CandidatePlan,
    CorpusPlan,
    DataPlan,
    QuestionPlan,
    RecordedPlan,
    ReferenceModelPlan,
    RerankPlan,
    RetrievalPlan,
)
from litm.workflow.figure_inputs import FigurePlan, ReportPlan, SuitePlan
from litm.workflow.result_files import ClaimPlan, PaperPlan, TablePlan
from litm.workflow.rules_help import ContentPlan, ProjectFiles
from litm.workflow.sweep_inputs import (
    AuditPlan,
    EstimatePlan,
    ExamplePlan,
    FetchPlan,
    InferencePlan,
    ModelPlan,
    SizePlan,
    SweepPlan,
)


class Plan:
    """The plans of all stages of a study.

    study: the selection of the config; root: the project's folder; is_output: whether a rule makes a file of this path;
    runs_here: whether jobs run on this machine, known once rules are read. All paths are relative to the working
    directory.
    """

    def __init__(
        self,
        study: Study,
        root: Path,
        is_output: Callable[[str], bool] = lambda path: True,
        runs_here: Callable[[], bool] = lambda: True,
    ) -> None:
        self.study = study
        self.project = ProjectFiles(root)
        self.code = self.project.code
        self.content = ContentPlan(is_output)
        self.data = DataPlan(study)
        self.corpora = CorpusPlan(study, self.project, self.data)
        self.questions = QuestionPlan(study, self.project, self.data)
        self.retrieval = RetrievalPlan(study, self.project, self.data)
        self.rerank = RerankPlan(study, self.data)
        self.candidates = CandidatePlan(study, self.data)
        self.models = ModelPlan(study, self.project, self.data)
        self.examples = ExamplePlan(study, self.project, self.data)
        self.sizes = SizePlan(study, self.project, self.models)
        self.sweeps = SweepPlan(study)
        self.inference = InferencePlan(study, self.project, self.models, runs_here)
        self.recorded = RecordedPlan(study, self.data)
        self.tables = TablePlan(study, self.project, self.models, self.candidates)
        self.paper = PaperPlan(study, self.project, self.tables)
        self.claims = ClaimPlan(study, self.candidates)
        self.figures = FigurePlan(
            study, self.project, self.sweeps, self.candidates, self.tables, self.paper, self.models
        )
        self.report = ReportPlan(study, self.project, self.data, self.models, self.sweeps, self.tables, self.figures)
        self.suite = SuitePlan(study, self.sweeps)
        self.estimate = EstimatePlan(study, self.models, self.sweeps)
        self.audit = AuditPlan(self.project, self.models)
        self.fetch = FetchPlan(study, self.data, self.models)
        self.reference_model = ReferenceModelPlan(self.project)

    @property
    def recordable(self) -> list[str]:
        """Identities, responses and tables; Snakemake has records of those that exist."""
        responses = self.sweeps.files("results/responses/{model}/{experiment}.jsonl.gz")
        return [*(f"results/models/{model}.json" for model in self.models.asked), *responses, *self.tables.files]


def load_plan(config: Mapping[str, Any], root: Path, **facts: Callable) -> Plan:
    """The plan for a config; facts: as `Plan`. Raises `UserError`, one line, for a mistake in the config."""
    return Plan(load_study(config, root), root, **facts)
