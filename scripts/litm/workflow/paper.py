"""Plan of the paper's tables: those that a study fills, and those of published values alone."""

from litm.analysis.paper_layouts import LAYOUTS, Group, Layout
from litm.config.study import Study
from litm.workflow.analysis import TablePlan
from litm.workflow.project_files import ProjectFiles
from litm.workflow.wildcards import Wildcards

TABLE_FORMATS = ("csv", "md", "tex")


class PaperPlan:
    """Inputs and params of the rules that arrange results as in the paper, or compare them with published values."""

    def __init__(self, study: Study, project: ProjectFiles, tables: TablePlan) -> None:
        self._study = study
        self._tables = tables
        self.accuracy = project.file("resources", "published", "accuracy.csv")
        self.statements = project.file("resources", "published", "statements.csv")
        self.claim_statuses = project.file("resources", "published", "claims.csv")
        self.token_counts = project.file("resources", "published", "token_counts.csv")
        self.models = project.file("resources", "published", "models.csv")
        #: The numbers of the paper's tables that the workflow can make.
        self.numbers = list(LAYOUTS)

    # Tables of results

    @property
    def tables(self) -> list[str]:
        """The paper's tables with at least one selected cell, in each format."""
        names = [f"results/tables/paper/table{number}" for number, one in LAYOUTS.items() if self._is_filled(one)]
        return [f"{name}.{format}" for name in names for format in TABLE_FORMATS]

    def _is_filled(self, layout: Layout) -> bool:
        is_counted = "token_counts" in self._tables.names
        return (is_counted or not layout.is_of_tokens) and any(map(self._has_cells, layout.groups))

    def _has_cells(self, group: Group) -> bool:
        experiment = self._study.experiments.get(group.experiment)
        return experiment is not None and group.size in {cell.size for cell in experiment.cells}

    def measured(self, wildcards: Wildcards) -> str:
        """The results for Table {number}."""
        of_tokens = LAYOUTS[int(wildcards.number)].is_of_tokens
        return "results/tables/token_counts.csv" if of_tokens else "results/tables/accuracy.csv"

    # Published values alone

    @property
    def published_files(self) -> list[str]:
        """All figures and tables of published values alone."""
        folder = "results/published"
        return [
            *(
                f"{folder}/figures/{name}.{format}"
                for name in self._study.published_figures
                for format in ("png", "pdf")
            ),
            *(f"{folder}/tables/claims.{format}" for format in ("csv", "md")),
            *(f"{folder}/tables/table{number}.{format}" for number in LAYOUTS for format in TABLE_FORMATS),
        ]

    def published(self, wildcards: Wildcards) -> str:
        """The published values that Table {number} is made of."""
        return self.token_counts if LAYOUTS[int(wildcards.number)].is_of_tokens else self.accuracy
