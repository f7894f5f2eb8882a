"""Plan of analysis: the tables of results, and their inputs and params."""

import shlex
from pathlib import Path

from litm.analysis.gold_counts import gold_sentences
from litm.analysis.tables import all_tables, table_names
from litm.base.store import canonical_json
from litm.config.study import Study
from litm.workflow.examples import example_file
from litm.workflow.models import ModelPlan
from litm.workflow.project_files import ProjectFiles
from litm.workflow.retrieval import CandidatePlan
from litm.workflow.tables import Sources, files_of, made, table_inputs, table_settings
from litm.workflow.wildcards import Wildcards

#: Tables that have a program of their own.
CLAIM_TABLES = tuple(f"results/tables/{name}" for name in ("claims.csv", "claims_summary.csv", "claims.md"))


class TablePlan:
    """Inputs and params of the rules that make {table}."""

    def __init__(self, study: Study, project: ProjectFiles, models: ModelPlan, candidates: CandidatePlan) -> None:
        self._project = project
        sources = Sources(
            counted=models.counted,
            audited=list(models.asked),
            examples=_first_of_size(study),
            recalls=candidates.recall_tables,
            candidates=candidates.tables,
            gold_passages=candidates.gold_tables,
            published=project.file("resources", "published", "accuracy.csv"),
            published_models=project.file("resources", "published", "models.csv"),
            data_versions={
                name: {
                    size: getattr(study.datasets.get(dataset), "version", None)
                    for size, dataset in experiment.datasets.items()
                }
                for name, experiment in study.experiments.items()
            },
        )
        self._inputs = table_inputs(study, sources)
        self._settings = table_settings(study, sources)
        self._tables = {table.name: table for table in made(all_tables(), self._inputs)}

    # Which tables there are

    @property
    def names(self) -> list[str]:
        """The tables that make_table.py makes."""
        return list(self._tables)

    @property
    def files(self) -> list[str]:
        """All files of tables, except those arranged as in the paper."""
        return [*files_of(self._tables.values()), *CLAIM_TABLES]

    @property
    def shown(self) -> list[str]:
        """The files that the report shows or quotes."""
        tables = [f"results/tables/{name}.csv" for name, table in self._tables.items() if table.report]
        return [*tables, *CLAIM_TABLES[:2]]

    @property
    def modules(self) -> list[str]:
        """The modules of all tables."""
        return [f"litm.analysis.tables.{name}" for name in table_names()]

    @property
    def position_bias(self) -> list[str]:
        """The table of position bias; none without comparable positions."""
        return self._inputs["position_bias"]

    @property
    def has_positions(self) -> bool:
        """Whether any experiment has comparable positions."""
        return bool(self.position_bias)

    def gold_passages_found(self) -> list[str]:
        """A sentence for each question set with searched gold passages, if its table exists."""
        path = Path("results/tables/gold_counts.csv")
        if "gold_counts" not in self._tables or not path.exists():
            return []
        from litm.base.records import read_csv

        return gold_sentences(read_csv(path))

    # Inputs

    def inputs(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """The table's input files, by name."""
        return {name: self._inputs[name] for name in self._tables[wildcards.table].inputs}

    def code(self, wildcards: Wildcards) -> list[str]:
        """make_table.py and the table's module."""
        return self._project.code("make_table.py", f"litm.analysis.tables.{wildcards.table}")

    def markdown_code(self, wildcards: Wildcards) -> list[str]:
        """make_markdown.py and the table's module."""
        return self._project.code("make_markdown.py", f"litm.analysis.tables.{wildcards.table}")

    def options(self, wildcards: Wildcards) -> str:
        """The options of make_table.py: the table's files and settings.

        File options fix the order of rows, because Snakemake compares inputs as a set.
        """
        table = self._tables[wildcards.table]
        files = [word for name in table.inputs for word in ("--input", name, *self._inputs[name])]
        settings = canonical_json({name: self._settings[name] for name in table.settings})
        return shlex.join([*files, *(["--settings", settings] if table.settings else [])])

    def caption(self, wildcards: Wildcards) -> str:
        """The table's caption in Snakemake's report."""
        return self._tables[wildcards.table].doc


def _first_of_size(study: Study) -> list[tuple[str, str]]:
    """Experiment and example file of one cell per size: all cells of a size have the same questions."""
    firsts = []
    for experiment in study.experiments.values():
        first = {cell.size: cell for cell in reversed(experiment.cells)}
        firsts += [(experiment.name, example_file(experiment, first[size])) for size in sorted(first)]
    return firsts
