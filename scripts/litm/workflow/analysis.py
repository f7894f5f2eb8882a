"""Tables: which ones a study has something to put into, and what each is made of."""

from functools import cached_property

from litm.config.experiments import Experiment
from litm.config.study import Study
from litm.domain.curve import Cell
from litm.workflow.examples import example_file
from litm.workflow.models import ModelPlan
from litm.workflow.retrieval import CandidatePlan
from litm.workflow.sweeps import SweepPlan

CLAIM_TABLES = ("claims.csv", "claims_summary.csv", "claims.md")


class TablePlan:
    """The tables of a study, and inputs and params of the rules that make them."""

    def __init__(self, study: Study, sweeps: SweepPlan, models: ModelPlan, candidates: CandidatePlan) -> None:
        self._study = study
        self._sweeps = sweeps
        self._models = models
        self._candidates = candidates

    # Which tables there are

    @property
    def files(self) -> list[str]:
        """All of them but those that are laid out as in the paper."""
        return [
            *_tables("accuracy.csv", "answer_checks.csv", "published_comparison.csv", "published_comparison.md"),
            *self.token_counts,
            *self.position_bias,
            *(_tables("position_pairs.csv", "pbi.csv", "pbi.md") if self.has_positions else []),
            *self._model_differences,
            *self._utilisation,
            *_tables(*CLAIM_TABLES),
            *(_tables("candidates.csv") if self._candidates.tables else []),
            *(_tables("retrieval.csv") if self._candidates.recall_tables else []),
        ]

    @property
    def shown(self) -> list[str]:
        """Those that the report shows, or says something about."""
        return [
            *_tables("accuracy.csv", "answer_checks.csv", "published_comparison.csv"),
            *self.token_counts,
            *self.position_bias,
            *self._utilisation,
            *_tables("claims.csv", "claims_summary.csv"),
            *(_tables("retrieval.csv") if self._candidates.recall_tables else []),
            *(_tables("candidates.csv") if self._candidates.tables else []),
        ]

    @property
    def has_positions(self) -> bool:
        """Whether any experiment has positions to compare."""
        return any(experiment.has_positions for experiment in self._study.experiments.values())

    @property
    def position_bias(self) -> list[str]:
        """The table of position bias; none without positions to compare."""
        return _tables("position_bias.csv") if self.has_positions else []

    @property
    def token_counts(self) -> list[str]:
        """The table of token counts; none where no model of a sweep has a tokenizer."""
        is_counted = any(model in self._models.counted for model, _ in self._sweeps.pairs)
        return _tables("token_counts.csv") if is_counted else []

    @property
    def _model_differences(self) -> list[str]:
        """Models are compared on an experiment that several of them have."""
        several = len(self._sweeps.pairs) > len(self._study.experiments)
        return _tables("model_differences.csv") if several else []

    @property
    def _utilisation(self) -> list[str]:
        return _tables("utilisation.csv") if self._with_utilisation else []

    # What they are made of

    @cached_property
    def _with_utilisation(self) -> list[tuple[str, Experiment]]:
        """The sweeps whose closed-book and oracle versions are there too."""
        return [
            (model, experiment)
            for model, name in self._sweeps.pairs
            for experiment in [self._study.experiments[name]]
            if {(model, experiment.closed_book), (model, experiment.oracle)} <= self._sweeps.pairs.keys()
        ]

    @property
    def utilisation_scores(self) -> list[str]:
        """The scores of each sweep whose closed-book and oracle versions are there too."""
        return [_scores(model, experiment.name) for model, experiment in self._with_utilisation]

    @property
    def closed_book_scores(self) -> list[str]:
        """The scores of the closed-book version of each of these sweeps."""
        return [_scores(model, str(experiment.closed_book)) for model, experiment in self._with_utilisation]

    @property
    def oracle_scores(self) -> list[str]:
        """The scores of the oracle version of each of these sweeps."""
        return [_scores(model, str(experiment.oracle)) for model, experiment in self._with_utilisation]

    @property
    def counts(self) -> list[str]:
        """The token counts of each sweep whose model has a tokenizer."""
        return self._sweeps.files("results/token_counts/{model}/{experiment}.csv", self._models.counted)

    @property
    def checked_examples(self) -> list[str]:
        """The examples of one cell of each size: all cells of a size have the same questions."""
        return [example_file(experiment, cell) for experiment, cell in self._first_of_size]

    @property
    def checked_experiments(self) -> list[str]:
        """The experiment of each of `checked_examples`."""
        return [experiment.name for experiment, _ in self._first_of_size]

    @property
    def _first_of_size(self) -> list[tuple[Experiment, Cell]]:
        firsts = []
        for experiment in self._study.experiments.values():
            first = {cell.size: cell for cell in reversed(experiment.cells)}
            firsts += [(experiment, first[size]) for size in sorted(first)]
        return firsts


def _tables(*names: str) -> list[str]:
    return [f"results/tables/{name}" for name in names]


def _scores(model: str, experiment: str) -> str:
    return f"results/scores/{model}/{experiment}.parquet"
