"""Plan of figures: the figures of a study, and their inputs."""

from collections.abc import Collection, Sequence
from dataclasses import asdict

from litm.analysis.claims.relations import ENCODER_DECODER
from litm.base.store import canonical_json
from litm.config.automatic_figures import TOKENS_KIND
from litm.config.experiments import Experiment
from litm.config.figures import PBI_FOREST, Figure
from litm.config.study import Study
from litm.figures import load_kind
from litm.workflow.analysis import TablePlan
from litm.workflow.models import ModelPlan
from litm.workflow.paper import PaperPlan
from litm.workflow.project_files import ProjectFiles
from litm.workflow.retrieval import CandidatePlan, recall_file
from litm.workflow.sweeps import SweepPlan
from litm.workflow.tables import TABLES, prices
from litm.workflow.wildcards import Wildcards


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
