"""Which tables a study has, and their inputs.

A table names its inputs and settings; this module resolves the names. A study has the tables whose inputs it has.
"""

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.analysis.gold_counts import gold_sentences
from litm.analysis.paper_layouts import LAYOUTS, Group, Layout
from litm.analysis.table import Table
from litm.analysis.tables import all_tables, table_names
from litm.base.store import canonical_json
from litm.config.conditions import compared_pairs, find_comparisons
from litm.config.experiments import Experiment
from litm.config.models import ApiModel
from litm.config.study import Study
from litm.workflow.data_inputs import CandidatePlan, recall_file
from litm.workflow.rules_help import ProjectFiles, Wildcards
from litm.workflow.sweep_inputs import ModelPlan, example_file

TABLES = "results/tables"


@dataclass(frozen=True)
class Sources:
    """Inputs for tables of a study, apart from its sweeps.

    counted: models whose tokens can be counted; audited: models that can be audited; examples: experiment and example
    file for each size of each experiment; recalls, candidates, gold_passages: files of the retrievers, candidates and
    questions that the study uses; published, published_models: the published accuracies and their models;
    data_versions: by experiment and size, see `litm.analysis.published.comparison.measured_cells`.
    """

    counted: Collection[str]
    audited: Collection[str]
    examples: Sequence[tuple[str, str]]
    recalls: Sequence[str]
    candidates: Sequence[str]
    gold_passages: Sequence[str]
    published: str
    published_models: str
    data_versions: Mapping[str, Mapping[int, str | None]]


def table_inputs(study: Study, sources: Sources) -> dict[str, list[str]]:
    """The files for each name that tables list as `inputs`, in the order of the config; empty if the study has none."""
    sweeps = study.sweeps
    run = study.run
    with_positions = [pair for pair, experiment in run.items() if experiment.has_positions]
    with_sizes = [pair for pair in with_positions if _has_several_sizes(run[pair])]
    models_of = Counter((name, size) for (_, name), one in run.items() for size in {cell.size for cell in one.cells})
    shared = {pair for pair, one in run.items() if any(models_of[pair[1], cell.size] > 1 for cell in one.cells)}
    with_references = [
        (model, name, experiment.closed_book, experiment.oracle)
        for model, name in sweeps
        for experiment in [study.experiments[name]]
        if {(model, experiment.closed_book), (model, experiment.oracle)} <= set(sweeps)
    ]
    compared = compared_sweeps(study)
    return {
        "condition_scores": _scores(pair for pair in sweeps if pair in compared),
        "remedy_scores": _scores(pair for pair in sweeps if pair[1] in study.conditions),
        "scores": _scores(sweeps),
        "accuracies": _files("results/accuracy/{}/{}.csv", sweeps),
        "curve_scores": _scores(with_positions),
        "sized_scores": _scores(with_sizes),
        "compared_scores": _scores(pair for pair in sweeps if pair in shared),
        "gold_scores": _scores((model, name) for model, name, _, _ in with_references),
        "closed_book": _scores((model, str(name)) for model, _, name, _ in with_references),
        "oracle": _scores((model, str(name)) for model, _, _, name in with_references),
        "position_bias": [f"{TABLES}/position_bias.csv"] if with_positions else [],
        "accuracy": [f"{TABLES}/accuracy.csv"],
        "token_counts": _files("results/token_counts/{}/{}.csv", (p for p in sweeps if p[0] in sources.counted)),
        "audits": _files("results/audits/{}/{}.csv", (pair for pair in sweeps if pair[0] in sources.audited)),
        "manifests": _files("results/responses/{}/{}.manifest.json", sweeps),
        "examples": [path for _, path in sources.examples],
        "recalls": list(sources.recalls),
        "candidates": list(sources.candidates),
        "gold_passages": list(sources.gold_passages),
        "published": [sources.published],
        "published_models": [sources.published_models],
    }


def _has_several_sizes(experiment: Experiment) -> bool:
    """Whether it has curves of several sizes, of one gold item at a time."""
    return not experiment.asks_several and len({curve.size for curve in experiment.curves}) > 1


def table_settings(study: Study, sources: Sources) -> dict[str, Any]:
    """The value for each name that tables list as `settings`."""
    return {
        "seed": study.seed,
        "example_experiments": [experiment for experiment, _ in sources.examples],
        "data_versions": sources.data_versions,
        "comparisons": [one.to_json() for one in find_comparisons(study.experiments)],
        "conditions": [one.to_json() for one in study.conditions.values()],
        "prices": prices(study),
        "tuned_models": tuned_models(study),
        "base_models": base_models(study),
        "references": {
            name: {"closed_book": one.closed_book, "oracle": one.oracle} for name, one in study.experiments.items()
        },
    }


def prices(study: Study) -> dict[str, dict | None]:
    """Prices of models on servers, None if the config has none."""
    return {
        name: model.prices and dict(model.prices) for name, model in study.models.items() if isinstance(model, ApiModel)
    }


def tuned_models(study: Study) -> list[tuple[str, str]]:
    """(tuned model, its base) of the selected models."""
    about = study.relations["models"]
    pairs = [(name, about.get(name, {}).get("tuned_from")) for name in study.models]
    return [(name, str(base)) for name, base in pairs if base in study.models]


def base_models(study: Study) -> list[str]:
    """The selected models that other models of the catalogue were tuned from."""
    bases = {about.get("tuned_from") for about in study.relations["models"].values()}
    return [name for name in study.models if name in bases]


def compared_sweeps(study: Study) -> set[tuple[str, str]]:
    """The sweeps that another sweep, or another of their own sizes, can be compared with."""
    pairs = compared_pairs(study.run, tuned_models(study))
    return {sweep for pair in pairs for sweep in pair}


def made(tables: Iterable[Table], inputs: Mapping[str, Sequence[str]]) -> list[Table]:
    """The tables that `make_table.py` can make from these inputs, in order."""
    return [table for table in tables if table.inputs and all(inputs[name] for name in table.inputs)]


def files_of(tables: Iterable[Table]) -> list[str]:
    """All files of these tables: CSV, and Markdown for tables that have it."""
    return [
        f"{TABLES}/{table.name}.{ending}"
        for table in tables
        if table.is_default
        for ending in (("csv", "md") if table.has_markdown else ("csv",))
    ]


def _scores(sweeps: Iterable[tuple[str, str]]) -> list[str]:
    return _files("results/scores/{}/{}.parquet", sweeps)


def _files(pattern: str, sweeps: Iterable[tuple[str, str]]) -> list[str]:
    return [pattern.format(model, experiment) for model, experiment in sweeps]


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


class ClaimPlan:
    """Inputs and params of the rules that judge the paper's claims."""

    def __init__(self, study: Study, candidates: CandidatePlan) -> None:
        self._study = study
        conditions = study.conditions
        #: The claims concern documents as retrieved: for an experiment with remedies, its variant without any.
        self._experiments = {
            name: one for name, one in study.experiments.items() if name not in conditions or conditions[name].is_plain
        }
        self._recall = {
            name: recall_file(one)
            for name, experiment in self._experiments.items()
            for one in candidates.open_domain([experiment])
        }

    @property
    def scores(self) -> list[str]:
        """The scores of the sweeps that claims use."""
        sweeps = [pair for pair in self._study.sweeps if pair[1] in self._experiments]
        # A config may have only conditions with remedies.
        return [f"results/scores/{model}/{name}.parquet" for model, name in sweeps or self._study.sweeps]

    @property
    def recall(self) -> list[str]:
        """The recall of the retriever of each open-domain experiment."""
        return list(self._recall.values())

    @property
    def recall_of(self) -> list[str]:
        """The experiment of each file in `recall`."""
        return list(self._recall)

    @property
    def relations(self) -> str:
        """The relations between models, and the selected experiments: JSON."""
        return self._relations(self._experiments or self._study.experiments)

    @property
    def published_relations(self) -> str:
        """The same for all experiments of the catalogue."""
        return self._relations(self._study.relations["experiments"])

    def _relations(self, experiments: Iterable[str]) -> str:
        relations = self._study.relations
        return canonical_json(
            {**relations, "experiments": {name: relations["experiments"][name] for name in experiments}}
        )
