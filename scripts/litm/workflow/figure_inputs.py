"""Which figures and pages a study has, and their inputs."""

from collections.abc import Collection, Sequence
from dataclasses import asdict

from litm.analysis.claims.relations import ENCODER_DECODER
from litm.base.messages import UserError
from litm.base.store import canonical_json, digest
from litm.config.experiments import Experiment, item_noun
from litm.config.figures import PBI_FOREST, TOKENS_KIND, Figure
from litm.config.study import Study
from litm.domain.curve import Curve
from litm.figures import load_kind
from litm.workflow.data_inputs import CandidatePlan, DataPlan, recall_file
from litm.workflow.result_files import TABLES, PaperPlan, TablePlan, prices
from litm.workflow.rules_help import ProjectFiles, Wildcards
from litm.workflow.sweep_inputs import ModelPlan, SweepPlan, example_file


class FigurePlan:
    """Inputs and params of the rule that draws {figure}."""

    def __init__(
        self,
        study: Study,
        project: ProjectFiles,
        sweeps: SweepPlan,
        candidates: CandidatePlan,
        tables: TablePlan,
        paper: PaperPlan,
        models: ModelPlan,
    ) -> None:
        self._study = study
        self._project = project
        self._sweeps = sweeps
        self._candidates = candidates
        self._tables = tables
        self._paper = paper
        self._models = models

    # Which figures there are

    @property
    def files(self) -> list[str]:
        """All figures of a study, in both formats."""
        names = [*([PBI_FOREST] if self._tables.has_positions else []), *self._study.all_figures]
        return [f"results/figures/{name}.{format}" for name in names for format in ("png", "pdf")]

    @property
    def not_drawn(self) -> list[str]:
        """Figures that a rule could draw, and that this study has nothing for."""
        return [] if self._tables.has_positions else [f"results/figures/{PBI_FOREST}.{one}" for one in ("png", "pdf")]

    @property
    def shown(self) -> list[str]:
        """Pictures for the report, which has the titles as headings."""
        return [f"results/figures/untitled/{name}.png" for name in self._study.all_figures]

    # Code

    def code(self, wildcards: Wildcards) -> list[str]:
        """The program, and the module of the figure's kind."""
        return self._kind_code(self._study.all_figures[wildcards.figure].kind)

    def published_code(self, wildcards: Wildcards) -> list[str]:
        """The same for a figure of published values alone."""
        return self._kind_code(self._study.published_figures[wildcards.figure].kind)

    @property
    def pbi_forest_code(self) -> list[str]:
        """The same for the figure that every study has."""
        return self._kind_code(PBI_FOREST)

    def pbi_forest_settings(self, wildcards: Wildcards) -> str:
        """Its settings: JSON. A method, because Snakemake reads braces in a plain param as wildcards."""
        return canonical_json({"kind": PBI_FOREST, "places": self._places(self._study.models), **self._page})

    @property
    def kind_modules(self) -> list[str]:
        """The modules of the kinds of the study's figures, by their names."""
        return [f"litm.figures.{kind}" for kind in sorted({figure.kind for figure in self._study.all_figures.values()})]

    def _kind_code(self, kind: str) -> list[str]:
        return self._project.code("plot_figure.py", f"litm.figures.{kind}")

    # Data

    def accuracy(self, wildcards: Wildcards) -> list[str]:
        """The accuracies of its models and experiments, reference lines among them, as far as they are selected."""
        figure = self._study.all_figures[wildcards.figure]
        return self._of_sweeps(figure, "results/accuracy/{}/{}.csv") if self._draws("accuracy", wildcards) else []

    def differences(self, wildcards: Wildcards) -> list[str]:
        """The table of differences between conditions, for a kind that draws it."""
        return [f"{TABLES}/condition_differences.csv"] if self._draws("differences", wildcards) else []

    def advice(self, wildcards: Wildcards) -> list[str]:
        """The table of what helps, for a kind that draws it."""
        return [f"{TABLES}/advice.csv"] if self._draws("advice", wildcards) else []

    def wrong_answers(self, wildcards: Wildcards) -> list[str]:
        """The table of what wrong answers are, for a kind that draws it."""
        return [f"{TABLES}/wrong_answers.csv"] if self._draws("wrong_answers", wildcards) else []

    def scores(self, wildcards: Wildcards) -> list[str]:
        """Their scores, if its kind needs the single answers."""
        figure = self._study.all_figures[wildcards.figure]
        return self._of_sweeps(figure, "results/scores/{}/{}.parquet") if self._draws("scores", wildcards) else []

    def token_counts(self, wildcards: Wildcards) -> list[str]:
        """The lengths of the prompts of its models and experiments, as far as they can be counted."""
        figure = self._study.all_figures[wildcards.figure]
        counted = self._of_sweeps(figure, "results/token_counts/{}/{}.csv", of=self._models.counted)
        return counted if self._draws("token_counts", wildcards) else []

    def _draws(self, rows: str, wildcards: Wildcards) -> bool:
        """Whether the figure's kind draws these rows, a name in its `INPUTS`."""
        return rows in load_kind(self._study.all_figures[wildcards.figure].kind).INPUTS

    def _of_sweeps(self, figure: Figure, pattern: str, of: Collection[str] | None = None) -> list[str]:
        return [
            pattern.format(model, name)
            for model in self._study.models
            for name in (*figure.experiments, *figure.references)
            if figure.shows(model) and (model, name) in self._sweeps.pairs and (of is None or model in of)
        ]

    def recall(self, wildcards: Wildcards) -> list[str]:
        """The recall of the retrievers of its experiments, for a kind that draws it."""
        experiments = self._experiments(self._study.all_figures[wildcards.figure])
        return [recall_file(one) for one in self._candidates.open_domain(experiments)]

    def published(self, wildcards: Wildcards) -> list[str]:
        """The published accuracies, where they are drawn too."""
        return [self._paper.accuracy] if self._study.all_figures[wildcards.figure].published else []

    def settings(self, wildcards: Wildcards) -> str:
        """What changes the picture apart from the data: JSON."""
        figure = self._study.all_figures[wildcards.figure]
        names = [name for name in (*figure.experiments, *figure.references) if name in self._study.experiments]
        limits = {name: self._study.experiments[name].max_new_tokens for name in names}
        return canonical_json({**self._settings(figure), "limits": limits, **self._page})

    def published_settings(self, wildcards: Wildcards) -> str:
        """The settings that change a figure of published values, apart from the values: JSON."""
        figures = self._study.published_figures
        models = dict.fromkeys(model for figure in figures.values() for model in figure.models or ())
        places = {model: place for place, model in enumerate(models)}
        return canonical_json({**figures[wildcards.figure].settings(), "places": places, **self._page})

    def settings_with_recall(self, figure: Figure) -> dict:
        """The settings, with [questions, corpus, retriever] of each search whose recall is drawn."""
        searches = self._candidates.open_domain(self._experiments(figure))
        return {**self._settings(figure), "recall": [[one.questions, one.corpus, one.retriever] for one in searches]}

    def _settings(self, figure: Figure) -> dict:
        """The settings, with the ranks of its models: adding a model changes no other model's colour."""
        shown = {model for model in self._study.models if figure.shows(model)}
        asked = {model for model, name in self._sweeps.pairs if name in (*figure.experiments, *figure.references)}
        drawn = [model for model in self._study.models if model in shown & asked]
        known = self._known(drawn)
        if figure.kind == TOKENS_KIND:
            known["prices"] = {model: price for model, price in prices(self._study).items() if model in drawn and price}
        return {**figure.settings(), "places": self._places(drawn), **known}

    @property
    def _page(self) -> dict[str, dict]:
        """The page of all figures, if the config names one."""
        return {"page": asdict(self._study.page)} if self._study.page else {}

    def _known(self, models: Sequence[str]) -> dict[str, dict]:
        """What figures say of models, by model, without what nothing is known of: `facts` for the legend, where models
        of several architectures, or a model and its base, are shown together; `training_lengths` in tokens.
        """
        about = {model: self._study.relations["models"].get(model, {}) for model in models}
        encoders = [model for model, one in about.items() if one.get("architecture") == ENCODER_DECODER]
        facts = {}
        for model, one in about.items():
            length, base = one.get("training_length"), one.get("tuned_from")
            words = [f"tuned from {base}"] if base in models else []
            if model in encoders and len(encoders) < len(models):
                words += ["encoder-decoder", *([f"trained on {length:,} tokens"] if length else [])]
            if words:
                facts[model] = ", ".join(words)
        lengths = {model: one["training_length"] for model, one in about.items() if one.get("training_length")}
        return {name: known for name, known in (("facts", facts), ("training_lengths", lengths)) if known}

    def _places(self, models: Collection[str]) -> dict[str, int]:
        """The rank of each of these models among those of the study."""
        return {model: place for place, model in enumerate(self._study.models) if model in models}

    def _experiments(self, figure: Figure) -> list[Experiment]:
        """The selected experiments whose recall a figure draws."""
        names = figure.experiments if "recall" in load_kind(figure.kind).INPUTS else ()
        return [self._study.experiments[name] for name in names if name in self._study.experiments]


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


class SuitePlan:
    """Inputs and params of the rules that summarise and export the curves of {model}."""

    def __init__(self, study: Study, sweeps: SweepPlan) -> None:
        self._study = study
        self._curves = {
            model: [
                curve
                for experiment in study.experiments.values()
                if (model, experiment.name) in sweeps.pairs
                for curve in study.curves_of(model, experiment.name)
            ]
            for model in study.models
        }

    @property
    def models(self) -> list[str]:
        """The models that have curves."""
        return [model for model, curves in self._curves.items() if curves]

    @property
    def summaries(self) -> list[str]:
        """The folder of summaries of each model with curves."""
        return [f"results/summaries/{model}" for model in self.models]

    def exports(self, wildcards: Wildcards) -> list[str]:
        """The exported folder of each model with curves."""
        return [f"results/suite_export/{model}" for model in self._exported()]

    def zips(self, wildcards: Wildcards) -> list[str]:
        """The same as ZIP files."""
        return [f"results/suite_export/{model}.zip" for model in self._exported()]

    def _exported(self) -> list[str]:
        if not self.models:
            raise UserError("no selected experiment has positions, so there is nothing to export")
        return self.models

    def curves(self, wildcards: Wildcards) -> str:
        """The curves of the model: JSON, a list of `Curve`."""
        return canonical_json([asdict(curve) for curve in self._curves[wildcards.model]])

    def files(self, wildcards: Wildcards) -> list[str]:
        """The examples, scores and responses of these curves."""
        curves = [self._curve_files(curve, wildcards.model) for curve in self._curves[wildcards.model]]
        examples = {path for curve in curves for path in curve["examples"]}
        return sorted(examples | {curve[kind] for curve in curves for kind in ("scores", "responses")})

    def curve_files(self, wildcards: Wildcards) -> str:
        """The curves of the model with their labels and files: JSON."""
        return canonical_json([self._curve_files(curve, wildcards.model) for curve in self._curves[wildcards.model]])

    def _curve_files(self, curve: Curve, model: str) -> dict:
        experiment = self._study.experiments[curve.experiment]
        cells = [
            cell for cell in experiment.cells if cell.size == curve.size and curve.placement in (None, cell.placement)
        ]
        item = item_noun([experiment])
        return {
            **asdict(curve),
            "title": experiment.title,
            "item": item,
            "panel_title": "{size} tokens" if experiment.tokens_of else f"{{size}} {item}s",
            "examples": [example_file(experiment, cell) for cell in cells],
            "scores": f"results/scores/{model}/{experiment.name}.parquet",
            "responses": f"results/responses/{model}/{experiment.name}.jsonl.gz",
        }
