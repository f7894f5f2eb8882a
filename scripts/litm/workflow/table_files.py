"""Which tables a study has, and their inputs and settings.

A table names its inputs and settings; this module resolves the names. A study has the tables whose inputs it has.
"""

import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict
from functools import cached_property
from typing import Any

from litm.analysis.paper_tables import LAYOUTS
from litm.base.store import digest
from litm.config.beside import differences
from litm.config.conditions import find_comparisons
from litm.config.experiments import Experiment
from litm.config.session_remedies import session_remedies
from litm.config.study import Study
from litm.config.sweeps import FILES
from litm.findings.record import FROM_TABLES
from litm.records.measures import ANSWER, LOG_PROBABILITY, VERDICT
from litm.tables.table import tables
from litm.workflow.data_inputs import DataInputs, recall_file
from litm.workflow.rules_help import Wildcards, as_json
from litm.workflow.sweep_inputs import SweepInputs, example_file, prices, sweep_files

SCORES, MEASURED = FILES[ANSWER].scores, FILES[LOG_PROBABILITY].scores
ACCURACY, TOKEN_COUNTS = "results/accuracy/{model}/{experiment}.csv", "results/token_counts/{model}/{experiment}.csv"
TABLES = "results/tables"
#: Tables that have a program of their own.
CLAIM_TABLES = tuple(f"{TABLES}/{name}" for name in ("claims.csv", "claims.md"))
#: Formats of tables that are laid out as in the paper.
LAID_OUT = ("csv", "md", "tex")


class TableFiles:
    """The tables of a study: of results, of the paper's claims, and laid out as in the paper.

    project_file: gives the path of a file of the project.
    """

    def __init__(self, study: Study, data: DataInputs, sweeps: SweepInputs, project_file: Callable[..., str]) -> None:
        self._study = study
        self._data = data
        self._sweeps = sweeps
        #: The file of published values of a name.
        self.published = lambda name: project_file("resources", "published", f"{name}.csv")
        self.inputs = self._table_inputs()
        #: The tables that make_table.py can make from these inputs.
        self.tables = {
            table.name: table for table in tables().values() if table.inputs and all(map(self.inputs.get, table.inputs))
        }
        #: The claims concern documents as retrieved: for an experiment with remedies, its variant without any.
        self._claimed = {name: experiment for name, experiment in study.answered.items() if experiment.is_plain}

    # Tables of results

    def _table_inputs(self) -> dict[str, list[str]]:
        """The files for each name that tables list as `inputs`, in the order of the config; empty without any."""
        study, sweeps, data = self._study, self._sweeps, self._data
        run = {sweep.pair: sweep.experiment for sweep in study.sweeps_of(ANSWER)}
        with_positions = [pair for pair, experiment in run.items() if experiment.has_positions]
        models_of = Counter((name, size) for (_, name), experiment in run.items() for size in experiment.cell_sizes)
        shared = [
            pair
            for pair, experiment in run.items()
            if any(models_of[pair[1], size] > 1 for size in experiment.cell_sizes)
        ]
        compared = {pair for pairs in study.compared for pair in pairs}
        referred = [
            (model, experiment)
            for (model, _), experiment in run.items()
            if {(model, experiment.closed_book), (model, experiment.oracle)} <= run.keys()
        ]
        one_gold = {pair for pair, experiment in run.items() if not experiment.asks_several}
        recalls = [recall_file(candidates) for candidates in data.used if candidates.retriever]
        recalls += map(recall_file, data.as_retrieved(study.experiments.values()))
        scores: dict[str, Collection[tuple[str, str | None]]] = {
            "condition_scores": [pair for pair in run if pair in compared],
            "remedy_scores": [pair for pair, experiment in run.items() if experiment.condition],
            "fact_scores": [pair for pair, experiment in run.items() if experiment.has_facts],
            "chain_scores": [pair for pair, experiment in run.items() if experiment.has_chain],
            "absent_scores": [pair for pair, experiment in run.items() if experiment.lacks_gold],
            "session_scores": [
                pair for pair in run if any(pair[1] in remedy.values() for remedy in self._session_remedies)
            ],
            # Of answers, not of verdicts alone.
            "scores": [pair for pair, experiment in run.items() if experiment.has_prompts],
            "judged_scores": [pair for pair, experiment in run.items() if experiment.judge],
            "agreeing_scores": [pair for pair in run if any(pair[1] in judged for judged in study.judge_pairs)],
            "curve_scores": with_positions,
            # Of curves of several sizes.
            "sized_scores": [
                pair
                for pair in with_positions
                if pair in one_gold and len({curve.size for curve in run[pair].curves}) > 1
            ],
            "compared_scores": shared,
            "model_scores": [pair for pair in shared if pair in one_gold],
            "gold_scores": [(model, experiment.name) for model, experiment in referred],
            "beside_scores": self._beside_pairs,
            "closed_book": [(model, experiment.closed_book) for model, experiment in referred],
            "oracle": [(model, experiment.oracle) for model, experiment in referred],
        }
        return {
            **{name: sweep_files(SCORES, pairs) for name, pairs in scores.items()},
            "verdicts": [sweep.files.responses for sweep in study.sweeps_of(VERDICT)],
            "accuracies": sweeps.files(ACCURACY),
            "beside_accuracies": sweep_files(ACCURACY, [sweep.pair for sweep in study.beside_sweeps]),
            "log_probabilities": sweep_files(MEASURED, study.pairs(LOG_PROBABILITY)),
            "position_bias": [f"{TABLES}/position_bias.csv"] if with_positions else [],
            "accuracy": [f"{TABLES}/accuracy.csv"],
            "token_counts": sweeps.files(TOKEN_COUNTS, sweeps.counted),
            "audits": sweeps.files("results/audits/{model}/{experiment}.csv", sweeps.asked),
            "manifests": sweeps.files(FILES[ANSWER].manifest),
            "examples": [path for _, path in self._first_examples],
            "recalls": list(dict.fromkeys(recalls)),
            "candidates": [f"results/candidates/{candidates.name}.csv" for candidates in data.used],
            "gold_passages": data.gold_tables,
            "written_questions": data.written_tables,
            "published": [self.published("accuracy")],
            "published_lengths": [self.published("effective_length")] if scores["sized_scores"] else [],
            "published_models": [self.published("models")],
        }

    @cached_property
    def _session_remedies(self) -> list[dict[str, str]]:
        """See `config.session_remedies`."""
        return [*session_remedies(self._study.answered, self._study.questions)]

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The value for each name that tables list as `settings`."""
        study = self._study
        bases = {model.get("tuned_from") for model in study.relations["models"].values()}

        def has_several(entry: Experiment) -> bool:
            return entry.has_facts or entry.has_chain

        return {
            "seed": study.seed,
            "example_experiments": [(name, study.experiments[name].metric) for name, _ in self._first_examples],
            # By experiment and size, see `litm.analysis.comparison.measured_cells`.
            "data_versions": {
                name: {size: self._data.version(dataset) for size, dataset in experiment.datasets.items()}
                for name, experiment in study.experiments.items()
            },
            "beside": self.beside,
            "comparisons": find_comparisons(study.answered),
            "conditions": [*study.conditions.values()],
            "judge_pairs": study.judge_pairs,
            "session_remedies": self._session_remedies,
            "prices": prices(study),
            "fact_parts": {
                name: [part for part, entry in study.answered.items() if entry.made_of == name and has_several(entry)]
                for name, experiment in study.answered.items()
                if has_several(experiment) and experiment.made_of is None
            },
            "tuned_models": study.tuned,
            "base_models": [name for name in study.models if name in bases],
            "references": {
                name: {"closed_book": experiment.closed_book, "oracle": experiment.oracle}
                for name, experiment in study.experiments.items()
            },
        }

    @cached_property
    def beside(self) -> dict[str, dict[str, str]]:
        """What differs in the responses of the models beside, in words, by model and experiment."""
        words: dict[str, dict[str, str]] = {name: {} for name in self._study.beside}
        for name, model in self._study.beside.items():
            for experiment in map(self._study.experiments.__getitem__, model.files):
                versions = {self._data.version(dataset) for dataset in experiment.datasets.values()} - {None}
                words[name][experiment.name] = differences(model, experiment, ", ".join(sorted(map(str, versions))))
        return words

    @property
    def _beside_pairs(self) -> list[tuple[str, str]]:
        """The sweeps of the models beside, after those of the study's models on the same experiments."""
        study = self._study
        one_gold = [sweep.pair for sweep in study.beside_sweeps if not sweep.experiment.asks_several]
        beside = [pair for pair in one_gold if study.models_of(pair[1])]
        return [*(pair for pair in study.pairs() if pair[1] in {name for _, name in beside}), *beside]

    @cached_property
    def _first_examples(self) -> list[tuple[str, str]]:
        """Experiment and example file of one cell per size: all cells of a size have the same questions."""
        firsts = []
        for experiment in filter(lambda entry: entry.has_prompts, self._study.experiments.values()):
            first = {cell.size: cell for cell in reversed(experiment.cells)}
            firsts += [(experiment.name, example_file(experiment, first[size])) for size in sorted(first)]
        return firsts

    @property
    def files(self) -> list[str]:
        """All files of tables, except those laid out as in the paper: CSV, and Markdown for tables that have it."""
        table_files = [
            f"{TABLES}/{table.name}.{ending}"
            for table in self.tables.values()
            if table.is_default
            for ending in (("csv", "md") if table.in_markdown else ("csv",))
        ]
        return [*table_files, *(CLAIM_TABLES if self._study.answered else ())]

    @property
    def to_label(self) -> list[str]:
        """Answers for a person to label, of the judged experiments that have no labels yet."""
        answered = self._study.answered.items()
        return [f"results/labels/{name}.csv" for name, entry in answered if entry.judge and not entry.judge.labels]

    @property
    def shown(self) -> list[str]:
        """The files that the report shows, quotes or counts."""
        names = [name for name, table in self.tables.items() if table.report or name == "gold_passages"]
        return [*(f"{TABLES}/{name}.csv" for name in names), CLAIM_TABLES[0]]

    @property
    def of_findings(self) -> list[str]:
        """The tables that findings are made from."""
        return [f"{TABLES}/{name}.csv" for name in FROM_TABLES if name in self.tables]

    @property
    def scores_of_findings(self) -> list[str]:
        """The scores of sweeps with remedies, whose advice is a finding, and with clusters, which are counted."""
        run = {sweep.pair: sweep.experiment for sweep in self._study.sweeps_of(ANSWER)}
        return sweep_files(
            SCORES, [pair for pair, experiment in run.items() if experiment.condition or experiment.cluster]
        )

    @property
    def remedies(self) -> dict[str, Any]:
        """The settings of advice.csv: the conditions, and the models' prices."""
        conditions = [asdict(condition) for condition in self._study.conditions.values()]
        return {"conditions": conditions, "prices": self.settings["prices"] if conditions else {}}

    def inputs_of(self, wildcards: Wildcards) -> list[str]:
        """The input files of {table}."""
        return [file for name in self.tables[wildcards.table].inputs for file in self.inputs[name]]

    def module_of(self, wildcards: Wildcards) -> list[str]:
        """The module with the function of the rows of {table}; none if they are those of its inputs."""
        return [module] if (module := self.tables[wildcards.table].module) else []

    def declared(self, names: Callable[[Wildcards], Iterable[str]]) -> Callable[[Wildcards], str]:
        """A digest that changes with the declarations of tables."""
        return lambda wildcards: digest({name: tables()[name].declared for name in names(wildcards)})

    def options(self, wildcards: Wildcards) -> str:
        """The options of make_table.py: the files and settings of {table}.

        File options fix the order of rows, because Snakemake compares inputs as a set.
        """
        table = self.tables[wildcards.table]
        files = [word for name in table.inputs for word in ("--input", name, *self.inputs[name])]
        settings = as_json({name: self.settings[name] for name in table.settings})
        return shlex.join([*files, *(["--settings", settings] if table.settings else [])])

    # The paper's tables and claims

    @property
    def in_the_paper(self) -> list[str]:
        """The paper's tables with at least one selected cell, in each format."""
        cells = {(name, cell.size) for name, experiment in self._study.answered.items() for cell in experiment.cells}
        numbers = [
            number
            for number, layout in LAYOUTS.items()
            if layout.table in self.tables and any((group.experiment, group.size) in cells for group in layout.groups)
        ]
        return [f"{TABLES}/paper/table{number}.{format}" for number in numbers for format in LAID_OUT]

    @property
    def claim_scores(self) -> list[str]:
        """The scores of the sweeps that claims use; of all if a config has only conditions with remedies."""
        run = self._study.pairs()
        return sweep_files(SCORES, [pair for pair in run if pair[1] in self._claimed] or run)

    @property
    def claim_recall(self) -> dict[str, str]:
        """The recall of the retriever of each open-domain experiment, by experiment."""
        return {
            name: recall_file(search)
            for name, experiment in self._claimed.items()
            for search in self._data.as_retrieved([experiment])
        }

    def relations(self, wildcards: Wildcards) -> dict:
        """The relations between models, and the selected experiments."""
        relations, names = self._study.relations, self._claimed or self._study.experiments
        return {**relations, "experiments": {name: relations["experiments"][name] for name in names}}

    # The order of rows: Snakemake compares inputs as a set.

    @property
    def order_of_models(self) -> str:
        """The models in the order of the config, those beside last."""
        return " ".join((*self._study.models, *self._study.beside))

    @property
    def order(self) -> str:
        """Models and experiments in the order of the config."""
        return f"{self.order_of_models} / {' '.join(self._study.experiments)}"
