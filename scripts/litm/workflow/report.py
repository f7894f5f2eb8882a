"""Plan of the report: the inputs of the page, and the questions shown in full."""

from litm.base.store import canonical_json, digest
from litm.config.study import Study
from litm.workflow.analysis import TablePlan
from litm.workflow.data import DataPlan
from litm.workflow.figures import FigurePlan
from litm.workflow.models import ModelPlan
from litm.workflow.project_files import ProjectFiles
from litm.workflow.sweeps import SweepPlan
from litm.workflow.tables import prices
from litm.workflow.wildcards import Wildcards

#: The page's template, and what it includes.
SOURCES = (
    "report.html.j2",
    "macros.html.j2",
    "figure.html.j2",
    "curves.html.j2",
    "wrong.html.j2",
    "measured.html.j2",
    "accuracy.html.j2",
    "bias.html.j2",
    "claims.html.j2",
    "questions.html.j2",
    "provenance.html.j2",
    "report.css",
    "charts.js",
    "packed.js",
    "question_filters.js",
    "question_samples.js",
    "downloads.js",
)


class ReportPlan:
    """Inputs and params of the rules that sample the questions of {experiment} and make the page."""

    file = "results/report.html"
    #: The file that names the selection of the tables.
    record = "results/tables/study.json"

    def __init__(
        self,
        study: Study,
        project: ProjectFiles,
        data: DataPlan,
        models: ModelPlan,
        sweeps: SweepPlan,
        tables: TablePlan,
        figures: FigurePlan,
    ) -> None:
        self._study = study
        self._models = models
        self._data = data
        self._sweeps = sweeps
        self._figures = figures
        #: The page's template, followed by the files that it includes.
        self.sources = [project.file("resources", "report", name) for name in SOURCES]
        #: The program, the modules of all tables, and the modules of figure kinds that it draws charts with.
        self.code = project.code("make_report.py", *tables.modules, *figures.kind_modules)

    # A sample of questions

    def models(self, wildcards: Wildcards) -> list[str]:
        """The models that have responses to the experiment."""
        return self._sweeps.models_of(wildcards.experiment)

    def responses(self, wildcards: Wildcards) -> list[str]:
        """The responses of each of these models."""
        return [f"results/responses/{model}/{wildcards.experiment}.jsonl.gz" for model in self.models(wildcards)]

    def scores(self, wildcards: Wildcards) -> list[str]:
        """The scores of each of these models."""
        return [f"results/scores/{model}/{wildcards.experiment}.parquet" for model in self.models(wildcards)]

    # The page

    @property
    def samples(self) -> list[str]:
        """The question sample of each experiment; none if the config wants no questions in the report."""
        experiments = self._study.experiments if self._study.sampled_per_size else ()
        return [f"results/question_samples/{experiment}.jsonl.gz" for experiment in experiments]

    @property
    def datasets(self) -> list[str]:
        """The files of questions and documents."""
        return [self._data.file(name) for name in self._dataset_names]

    @property
    def formats(self) -> list[str]:
        """What each model's prompt format puts around a prompt, as far as its tokenizer is known."""
        return [f"results/prompt_formats/{name}.json" for name in self._study.models if name in self._models.counted]

    def settings(self, wildcards: Wildcards) -> str:
        """The page's content that no input file has: JSON.

        A method, because titles of panels contain braces, which Snakemake would read as wildcards in a plain param.
        """
        about = self._study.relations["models"]
        return canonical_json(
            {
                **self._selection,
                "config": self.config,
                "figures": [self._figures.settings_with_recall(figure) for figure in self._study.all_figures.values()],
                "experiments": [
                    {**one.settings(), "asks": one.asks, "right_if": one.right_if}
                    for one in self._study.experiments.values()
                ],
                "prices": prices(self._study),
                "about": {name: about[name] for name in self._study.models if name in about},
            }
        )

    # The selection of the tables

    @property
    def config(self) -> str:
        """The digest of what the config selects: models by name, experiments, sources of data and seed."""
        return digest(self._selection)

    def selection(self, wildcards: Wildcards) -> str:
        """The same with the digest: JSON. A method, as `settings`."""
        return canonical_json({**self._selection, "config": self.config})

    @property
    def _selection(self) -> dict:
        return {
            "models": list(self._study.models),
            "experiments": [one.settings() for one in self._study.experiments.values()],
            "datasets": [
                {"name": name, "source": self._source(name), "version": self._version(name)}
                for name in self._dataset_names
            ],
            "seed": self._study.seed,
        }

    @property
    def _dataset_names(self) -> list[str]:
        """The names of datasets in experiments, each once."""
        names: dict[str, None] = {}
        for experiment in self._study.experiments.values():
            names |= dict.fromkeys([*experiment.datasets.values(), *filter(None, [experiment.subset])])
        return list(names)

    def _source(self, name: str) -> str:
        """The origin of a file, without paths of this machine."""
        if name in self._study.datasets:
            return self._study.datasets[name].url or "a file of the user's own"
        return "made by this workflow"

    def _version(self, name: str) -> str | None:
        """Which of the versions that were released, None for what has none."""
        return getattr(self._study.datasets.get(name), "version", None)
