"""What the report, the findings and the selection of the tables are made from."""

from litm.base.store import digest
from litm.config.study import Study
from litm.workflow.data_inputs import DataInputs
from litm.workflow.figure_files import FigureFiles
from litm.workflow.rules_help import Wildcards, as_json
from litm.workflow.sweep_inputs import SweepInputs, prices
from litm.workflow.table_files import TABLES, TableFiles

REPORT, FINDINGS = "results/report.html", "results/findings.json"
#: The file that names the selection of the tables.
RECORD = f"{TABLES}/study.json"
#: The template of the report, and what it includes.
REPORT_FILES = (
    "report.html.j2", "macros.html.j2", "first.html.j2", "advice.html.j2", "warnings.html.j2", "figure.html.j2",
    "curves.html.j2", "wrong.html.j2", "pairs.html.j2", "measured.html.j2", "accuracy.html.j2", "bias.html.j2",
    "claims.html.j2", "questions.html.j2", "provenance.html.j2", "report.css", "charts.js", "packed.js",
    "question_filters.js", "question_samples.js", "downloads.js",
)  # fmt: skip


class ReportFiles:
    """The report of a study, its findings, and the record of its selection."""

    def __init__(
        self, study: Study, data: DataInputs, sweeps: SweepInputs, tables: TableFiles, figures: FigureFiles
    ) -> None:
        self._study = study
        self._data = data
        self._sweeps = sweeps
        self._tables = tables
        self._figures = figures

    @property
    def pages(self) -> list[str]:
        """The report; none without answers."""
        return [REPORT] if self._study.answered else []

    @property
    def samples(self) -> list[str]:
        """The question sample of each experiment; none if the config wants no questions in the report."""
        experiments = self._study.answered.values() if self._study.sampled_per_size else ()
        return [f"results/question_samples/{entry.name}.jsonl.gz" for entry in experiments if entry.has_prompts]

    @property
    def sources(self) -> str:
        """What the files of questions and documents are and where they come from: JSON, a list."""
        return as_json(self._selection["datasets"])

    @property
    def datasets(self) -> list[str]:
        """The files of questions and documents."""
        return [self._data.file(name) for name in self._dataset_names]

    @property
    def formats(self) -> list[str]:
        """What each model's prompt format puts around a prompt, as far as its tokenizer is known."""
        return [f"results/prompt_formats/{name}.json" for name in self._study.models if name in self._sweeps.counted]

    def report(self, wildcards: Wildcards) -> dict:
        """The page's content that no input file has."""
        about = self._study.relations["models"]
        experiments = [
            {**experiment.settings(), "asks": experiment.asks, "right_if": experiment.right_if}
            for experiment in self._study.experiments.values()
        ]
        return {
            **self.selection(wildcards),
            "figures": [*self._figures.drawings(wildcards).values()],
            "experiments": experiments,
            "prices": prices(self._study),
            "about": {name: about[name] for name in self._study.models if name in about},
        }

    def findings(self, wildcards: Wildcards) -> dict:
        """What findings.json needs beside tables, manifests and scores."""
        experiments = self._study.experiments.values()
        return {
            "models": list(self._study.models),
            "experiments": [experiment.settings() for experiment in experiments],
            "plain": [experiment.name for experiment in experiments if experiment.is_plain],
            "stand_ins": self._study.stand_ins,
            **self._tables.remedies,
            **({"filled": self._sweeps.filled} if self._sweeps.filled else {}),
        }

    def selection(self, wildcards: Wildcards) -> dict:
        """What the config selects, and its digest."""
        return {**self._selection, "config": digest(self._selection)}

    @property
    def _selection(self) -> dict:
        """What the config selects: models by name, experiments, sources of data and seed."""
        return {
            "models": list(self._study.models),
            "experiments": [experiment.settings() for experiment in self._study.experiments.values()],
            "datasets": [
                {"name": name, "source": self._data.origin(name), "version": self._data.version(name)}
                for name in self._dataset_names
            ],
            "seed": self._study.seed,
            **({"beside": [*self._study.beside]} if self._study.beside else {}),
        }

    @property
    def _dataset_names(self) -> list[str]:
        """The names of datasets in experiments, each once."""
        experiments = self._study.experiments.values()
        names = (name for experiment in experiments for name in (*experiment.datasets.values(), experiment.subset))
        return list(dict.fromkeys(filter(None, names)))
