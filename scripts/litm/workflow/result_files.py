"""Which tables, figures, pages and exports a study has, and their inputs and settings.

A table and a kind of figure name their inputs and settings; this module resolves the names. A study has the tables
whose inputs it has.
"""

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict
from functools import cached_property
from itertools import product
from typing import Any

from litm.analysis.paper_tables import LAYOUTS
from litm.base.store import digest
from litm.config.conditions import find_comparisons
from litm.config.figures import PBI_FOREST, TOKENS_KIND, Figure, item_noun
from litm.config.study import Study
from litm.config.sweeps import FILES
from litm.figures.kinds import KINDS
from litm.findings.record import FROM_TABLES
from litm.records.cells import Curve
from litm.records.measures import ANSWER, LOG_PROBABILITY, VERDICT
from litm.records.tokens import LIMITS
from litm.tables.table import tables
from litm.workflow.data_inputs import DataInputs, recall_file
from litm.workflow.rules_help import Wildcards, as_json
from litm.workflow.sweep_inputs import SweepInputs, example_file, prices, sweep_files

ANSWERS, MEASURED = FILES[ANSWER], FILES[LOG_PROBABILITY]
SCORES, ACCURACY = ANSWERS.scores, "results/accuracy/{model}/{experiment}.csv"
TOKEN_COUNTS = "results/token_counts/{model}/{experiment}.csv"
TABLES, FIGURES = "results/tables", "results/figures"
#: Tables that have a program of their own.
CLAIM_TABLES = tuple(f"{TABLES}/{name}" for name in ("claims.csv", "claims_summary.csv", "claims.md"))
#: Formats of figures, and of tables that are laid out as in the paper.
PICTURES, LAID_OUT = ("png", "pdf"), ("csv", "md", "tex")
#: Files of sweeps that a kind of figure may draw, by their names among its `inputs`.
DRAWN_SWEEPS = {"accuracy": ACCURACY, "scores": SCORES, "token_counts": TOKEN_COUNTS}
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
#: Templates of exported tasks, and the keys of an experiment that its task has.
TASK_TEMPLATES = ("inspect_task.py", "lm_eval_task.yaml", "lm_eval_utils.py")
TASK_KEYS = ("name", "task", "title", "metric", "max_new_tokens", "stop")


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
            "absent_scores": [pair for pair, experiment in run.items() if experiment.lacks_gold],
            "scores": run,
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
            "closed_book": [(model, experiment.closed_book) for model, experiment in referred],
            "oracle": [(model, experiment.oracle) for model, experiment in referred],
        }
        return {
            **{name: sweep_files(SCORES, pairs) for name, pairs in scores.items()},
            "verdicts": [sweep.files.responses for sweep in study.sweeps_of(VERDICT)],
            "accuracies": sweeps.files(ACCURACY),
            "log_probabilities": sweep_files(MEASURED.scores, study.pairs(LOG_PROBABILITY)),
            "position_bias": [f"{TABLES}/position_bias.csv"] if with_positions else [],
            "accuracy": [f"{TABLES}/accuracy.csv"],
            "token_counts": sweeps.files(TOKEN_COUNTS, sweeps.counted),
            "audits": sweeps.files("results/audits/{model}/{experiment}.csv", sweeps.asked),
            "manifests": sweeps.files(ANSWERS.manifest),
            "examples": [path for _, path in self._first_examples],
            "recalls": list(dict.fromkeys(recalls)),
            "candidates": [f"results/candidates/{candidates.name}.csv" for candidates in data.used],
            "gold_passages": data.gold_tables,
            "published": [self.published("accuracy")],
            "published_models": [self.published("models")],
        }

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The value for each name that tables list as `settings`."""
        study = self._study
        bases = {model.get("tuned_from") for model in study.relations["models"].values()}
        return {
            "seed": study.seed,
            "example_experiments": [(name, study.experiments[name].metric) for name, _ in self._first_examples],
            # By experiment and size, see `litm.analysis.comparison.measured_cells`.
            "data_versions": {
                name: {size: self._data.version(dataset) for size, dataset in experiment.datasets.items()}
                for name, experiment in study.experiments.items()
            },
            "comparisons": find_comparisons(study.answered),
            "conditions": [*study.conditions.values()],
            "judge_pairs": study.judge_pairs,
            "prices": prices(study),
            "fact_parts": {
                name: [part for part, entry in study.answered.items() if entry.made_of == name and entry.has_facts]
                for name, experiment in study.answered.items()
                if experiment.has_facts and experiment.made_of is None
            },
            "tuned_models": study.tuned,
            "base_models": [name for name in study.models if name in bases],
            "references": {
                name: {"closed_book": experiment.closed_book, "oracle": experiment.oracle}
                for name, experiment in study.experiments.items()
            },
        }

    @cached_property
    def _first_examples(self) -> list[tuple[str, str]]:
        """Experiment and example file of one cell per size: all cells of a size have the same questions."""
        firsts = []
        for experiment in self._study.experiments.values():
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
        return [*(f"{TABLES}/{name}.csv" for name in names), *CLAIM_TABLES[:2]]

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
        """The models in the order of the config."""
        return " ".join(self._study.models)

    @property
    def order(self) -> str:
        """Models and experiments in the order of the config."""
        return f"{self.order_of_models} / {' '.join(self._study.experiments)}"


class PageFiles:
    """The figures of a study, its report and its exports."""

    def __init__(self, study: Study, data: DataInputs, sweeps: SweepInputs, tables: TableFiles) -> None:
        self._study = study
        self._data = data
        self._sweeps = sweeps
        self._tables = tables
        #: Settings of the page of all figures, if the config names one.
        self._page = {"page": asdict(study.page)} if study.page else {}
        self._curves: dict[str, list[Curve]] = {model: [] for model in study.models}
        for model, name in study.pairs():
            self._curves[model] += study.curves_of(model, name)

    # Figures

    @property
    def figures(self) -> list[str]:
        """All figures of a study, in both formats."""
        names = [*([PBI_FOREST] if self._tables.inputs["position_bias"] else []), *self._study.figures]
        return [f"{FIGURES}/{name}.{format}" for name in names for format in PICTURES]

    @property
    def not_drawn(self) -> list[str]:
        """Figures that a rule could draw, and that this study has nothing for."""
        return [path for format in PICTURES if (path := f"{FIGURES}/{PBI_FOREST}.{format}") not in self.figures]

    @property
    def pages(self) -> list[str]:
        """The report; none without answers."""
        return [REPORT] if self._study.answered else []

    @property
    def untitled(self) -> list[str]:
        """Pictures for the report, which has the titles as headings."""
        return [f"{FIGURES}/untitled/{name}.png" for name in self._study.figures]

    @property
    def published(self) -> list[str]:
        """All figures and tables of published values alone."""
        folder = "results/published"
        return [
            *(f"{folder}/figures/{name}.{format}" for name in self._study.published_figures for format in PICTURES),
            *(f"{folder}/tables/claims.{format}" for format in ("csv", "md")),
            *(f"{folder}/tables/table{number}.{format}" for number in LAYOUTS for format in LAID_OUT),
        ]

    def figure_modules(self, wildcards: Wildcards) -> list[str]:
        """The modules that draw the study's figures."""
        return sorted({figure.module for figure in self._study.figures.values()})

    def drawn(self, name: str) -> Callable[[Wildcards], list[str]]:
        """The files of sweeps that {figure} draws, by their name in `DRAWN_SWEEPS`: those of its models and its
        experiments, reference lines among them, as far as they are selected; none if its kind does not read them.
        """

        def files(wildcards: Wildcards) -> list[str]:
            figure = self._study.figures[wildcards.figure]
            models = self._sweeps.counted if name == "token_counts" else self._study.models
            read = figure.shown if name in KINDS[figure.kind].inputs else ()
            pairs, run = product(filter(figure.shows, self._study.models), read), {*self._study.pairs()}
            return sweep_files(DRAWN_SWEEPS[name], [pair for pair in pairs if pair in run and pair[0] in models])

        return files

    def drawn_recall(self, wildcards: Wildcards) -> list[str]:
        """The recall of the retrievers in {figure}."""
        return [recall_file(search) for search in self._searches(self._study.figures[wildcards.figure])]

    def drawn_tables(self, wildcards: Wildcards) -> list[str]:
        """The tables of results that {figure} draws."""
        names = KINDS[self._study.figures[wildcards.figure].kind].inputs
        return [f"{TABLES}/{name}.csv" for name in names if name in tables() and name not in DRAWN_SWEEPS]

    def drawn_published(self, wildcards: Wildcards) -> list[str]:
        """The published accuracies, where {figure} draws them too."""
        return [self._tables.published("accuracy")] if self._study.figures[wildcards.figure].published else []

    def _searches(self, figure: Figure) -> list[Any]:
        """The as-retrieved candidates of its selected experiments, whose recall a figure draws."""
        names = figure.experiments if "recall" in KINDS[figure.kind].inputs else ()
        experiments = [self._study.experiments[name] for name in names if name in self._study.experiments]
        return self._data.as_retrieved(experiments)

    def figure(self, wildcards: Wildcards) -> dict:
        """What changes the picture of {figure} apart from the data."""
        figure = self._study.figures[wildcards.figure]
        experiments = [self._study.experiments[name] for name in figure.shown if name in self._study.experiments]
        limits = {experiment.name: experiment.max_new_tokens for experiment in experiments}
        settings = {**self._figure(figure), "limits": limits, **self._page}
        # Those whose answers have another limit than the experiment's, or one that is not known.
        limited = [name for name, model in self._study.models.items() if {*LIMITS} & {*getattr(model, "request", ())}]
        recorded = [model for model in settings["places"] if model in (*self._sweeps.recorded, *limited)]
        return settings | ({"recorded": recorded} if recorded else {})

    def pbi_forest(self, wildcards: Wildcards) -> dict:
        """The same for the figure that every study has."""
        return {"kind": PBI_FOREST, "places": self._places(self._study.models), **self._page}

    def published_figure(self, wildcards: Wildcards) -> dict:
        """The same for a figure of published values, apart from the values."""
        figures = self._study.published_figures
        models = dict.fromkeys(model for figure in figures.values() for model in figure.models or ())
        places = {model: place for place, model in enumerate(models)}
        return {**figures[wildcards.figure].settings(), "places": places, **self._page}

    def _figure(self, figure: Figure) -> dict:
        """The settings, with the ranks of its models: adding a model changes no other model's colour."""
        asked = {sweep.model.name for sweep in self._study.sweeps if sweep.experiment.name in figure.shown}
        drawn = [model for model in self._study.models if figure.shows(model) and model in asked]
        facts: dict[str, Any] = self._facts(drawn)
        experiments = self._study.experiments
        measures = dict.fromkeys(experiments[name].mean_label for name in figure.experiments if name in experiments)
        facts |= {} if [*measures] == ["Accuracy"] else {"measure": ", ".join(measures)}
        if figure.kind == TOKENS_KIND:
            facts["prices"] = {model: price for model, price in prices(self._study).items() if model in drawn and price}
        return {**figure.settings(), "places": self._places(drawn), **facts}

    def _facts(self, models: Iterable[str]) -> dict[str, dict]:
        """What figures say of models, by model, without what nothing is known of: `facts` for the legend, where models
        of several architectures, or a model and its base, are shown together; `training_lengths` in tokens.
        """
        about = {model: self._study.relations["models"].get(model, {}) for model in models}
        encoders = [model for model, entry in about.items() if entry.get("architecture") == "encoder_decoder"]
        lengths = {model: entry["training_length"] for model, entry in about.items() if entry.get("training_length")}
        facts = {}
        for model, entry in about.items():
            base = entry.get("tuned_from")
            words = [f"tuned from {base}"] if base in about else []
            if model in encoders and len(encoders) < len(about):
                words += ["encoder-decoder", *([f"trained on {lengths[model]:,} tokens"] if model in lengths else [])]
            if words:
                facts[model] = ", ".join(words)
        return {name: values for name, values in (("facts", facts), ("training_lengths", lengths)) if values}

    def _places(self, models: Iterable[str]) -> dict[str, int]:
        """The rank of each of these models among those of the study."""
        ranks = {model: place for place, model in enumerate(self._study.models)}
        return {model: ranks[model] for model in models}

    # The report, and the selection of the tables

    @property
    def samples(self) -> list[str]:
        """The question sample of each experiment; none if the config wants no questions in the report."""
        experiments = self._study.answered if self._study.sampled_per_size else ()
        return [f"results/question_samples/{experiment}.jsonl.gz" for experiment in experiments]

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
            "figures": [*self.drawings(wildcards).values()],
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

    def drawings(self, wildcards: Wildcards) -> dict[str, dict]:
        """The settings of each figure by its name, with (questions, corpus, retriever) of each recall that it draws."""
        return {
            name: {
                **self._figure(figure),
                "recall": [[s.questions, s.corpus, s.retriever] for s in self._searches(figure)],
            }
            for name, figure in self._study.figures.items()
        }

    def selection(self, wildcards: Wildcards) -> dict:
        """What the config selects, and its digest."""
        return {**self._selection, "config": self.config}

    @property
    def config(self) -> str:
        """The digest of what the config selects: models by name, experiments, sources of data and seed."""
        return digest(self._selection)

    @property
    def _selection(self) -> dict:
        return {
            "models": list(self._study.models),
            "experiments": [experiment.settings() for experiment in self._study.experiments.values()],
            "datasets": [
                {"name": name, "source": self._data.origin(name), "version": self._data.version(name)}
                for name in self._dataset_names
            ],
            "seed": self._study.seed,
        }

    @property
    def _dataset_names(self) -> list[str]:
        """The names of datasets in experiments, each once."""
        experiments = self._study.experiments.values()
        names = (name for experiment in experiments for name in (*experiment.datasets.values(), experiment.subset))
        return list(dict.fromkeys(filter(None, names)))

    # Summaries and exports of the curves of {model}

    @property
    def summaries(self) -> list[str]:
        """The folder of summaries of each model with curves."""
        return [f"results/summaries/{model}" for model, curves in self._curves.items() if curves]

    def exports(self, ending: str = "") -> Callable[[Wildcards], list[str]]:
        """The exported folder of each of these models, or the same as a file with this ending."""

        def files(wildcards: Wildcards) -> list[str]:
            if not self.summaries:
                # Of any other exception in an input function, Snakemake prints a traceback.
                sys.exit("error: no selected experiment has positions, so there is nothing to export")
            return [f"results/suite_export/{model}{ending}" for model, curves in self._curves.items() if curves]

        return files

    def curves(self, wildcards: Wildcards) -> str:
        """The curves of {model}: JSON, a list of `Curve`."""
        return as_json(self._curves[wildcards.model])

    def exported(self, wildcards: Wildcards) -> list[str]:
        """The examples, scores and responses of these curves."""
        curves = [self._exported(curve, wildcards.model) for curve in self._curves[wildcards.model]]
        examples = {path for curve in curves for path in curve["examples"]}
        return sorted(examples | {curve[kind] for curve in curves for kind in ("scores", "responses")})

    def exported_curves(self, wildcards: Wildcards) -> str:
        """The curves with their labels and files: JSON."""
        return as_json([self._exported(curve, wildcards.model) for curve in self._curves[wildcards.model]])

    def _exported(self, curve: Curve, model: str) -> dict:
        experiment = self._study.experiments[curve.experiment]
        cells = [
            cell for cell in experiment.cells if cell.size == curve.size and curve.placement in (None, cell.placement)
        ]
        return {
            **asdict(curve),
            "title": experiment.title,
            "item": item_noun([experiment]),
            "panel_title": f"{{size}} {experiment.unit}",
            "examples": [example_file(experiment, cell) for cell in cells],
            "scores": SCORES.format(model=model, experiment=experiment.name),
            "responses": ANSWERS.responses.format(model=model, experiment=experiment.name),
        }
