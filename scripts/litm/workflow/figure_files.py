"""Which figures a study has, and their inputs and settings: a kind of figure names them, this module resolves them."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from itertools import product
from typing import Any

from litm.analysis.paper_tables import LAYOUTS
from litm.config.figures import CURVE_KIND, PBI_FOREST, TOKENS_KIND, Figure
from litm.config.study import Study
from litm.figures.kinds import KINDS
from litm.records.tokens import LIMITS
from litm.tables.table import tables
from litm.workflow.data_inputs import DataInputs, recall_file
from litm.workflow.rules_help import Wildcards
from litm.workflow.sweep_inputs import SweepInputs, prices, sweep_files
from litm.workflow.table_files import ACCURACY, LAID_OUT, SCORES, TABLES, TOKEN_COUNTS, TableFiles

FIGURES = "results/figures"
#: Formats of figures.
PICTURES = ("png", "pdf")
#: Files of sweeps that a kind of figure may draw, by their names among its `inputs`.
DRAWN_SWEEPS = {"accuracy": ACCURACY, "scores": SCORES, "token_counts": TOKEN_COUNTS}


class FigureFiles:
    """The figures of a study, and those of published values."""

    def __init__(self, study: Study, data: DataInputs, sweeps: SweepInputs, tables: TableFiles) -> None:
        self._study = study
        self._data = data
        self._sweeps = sweeps
        self._tables = tables
        #: Settings of the page of all figures, if the config names one.
        self._page = {"page": asdict(study.page)} if study.page else {}

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
            shown = [*filter(figure.shows, self._study.models), *self._beside(figure)]
            models = self._sweeps.counted if name == "token_counts" else shown
            read = figure.shown if name in KINDS[figure.kind].inputs else ()
            run = {*self._study.pairs(), *(sweep.pair for sweep in self._study.beside_sweeps)}
            pairs = product(shown, read)
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

    def drawings(self, wildcards: Wildcards) -> dict[str, dict]:
        """The settings of each figure by its name, with (questions, corpus, retriever) of each recall that it draws."""
        return {
            name: {
                **self._figure(figure),
                "recall": [[s.questions, s.corpus, s.retriever] for s in self._searches(figure)],
            }
            for name, figure in self._study.figures.items()
        }

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
        if beside := {model: self._tables.beside[model] for model in self._beside(figure)}:
            drawn += beside
            facts["beside"] = {
                model: "; ".join(dict.fromkeys(words[name] for name in figure.experiments if name in words))
                for model, words in beside.items()
            }
        experiments = self._study.experiments
        measures = dict.fromkeys(experiments[name].mean_label for name in figure.experiments if name in experiments)
        facts |= {} if [*measures] == ["Accuracy"] else {"measure": ", ".join(measures)}
        judges = (entry.judge for name in figure.experiments if (entry := experiments.get(name)) and entry.judge)
        if judged := dict.fromkeys(judge.in_words for judge in judges):
            facts["judged"] = "; ".join(judged)
        if figure.kind == TOKENS_KIND:
            facts["prices"] = {model: price for model, price in prices(self._study).items() if model in drawn and price}
        return {**figure.settings(), "places": self._places(drawn), **facts}

    def _beside(self, figure: Figure) -> list[str]:
        """The models beside that a figure shows: only curves over positions have them."""
        run = {sweep.model.name for sweep in self._study.beside_sweeps if sweep.experiment.name in figure.experiments}
        has_beside = figure.kind == CURVE_KIND
        return [model for model in self._study.beside if has_beside and model in run and figure.shows(model)]

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
        ranks = {model: place for place, model in enumerate((*self._study.models, *self._study.beside))}
        return {model: ranks[model] for model in models}
