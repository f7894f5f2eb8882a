"""Plan of sweeps: the pairs of model and experiment, and their files."""

from collections.abc import Container, Mapping
from pathlib import Path

from litm.analysis.cut_answers import cut_sentences
from litm.base.records import read_result_rows
from litm.config.study import Study
from litm.workflow.cluster_resources import work_of
from litm.workflow.wildcards import Wildcards


class SweepPlan:
    """The pairs of a selected model and an experiment with responses, model by model.

    Recorded responses may cover only some selected experiments, so the pairs are not a full product.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        #: (model, experiment), in the order of the config.
        self.pairs: Mapping[tuple[str, str], None] = dict.fromkeys(study.sweeps)
        self._order = {name: index for index, name in enumerate(study.experiments)}
        #: Upper limit of each sweep's prompts: data may have fewer questions than an experiment asks for.
        self.prompts: Mapping[tuple[str, str], int] = {
            pair: work_of(one, study.questions_of(one)).prompts for pair, one in study.run.items()
        }

    def files(self, pattern: str, models: Container[str] | None = None) -> list[str]:
        """The file `pattern` (with {model} and {experiment}) of each sweep, or of the sweeps of these models."""
        return [
            pattern.format(model=model, experiment=experiment)
            for model, experiment in self.pairs
            if models is None or model in models
        ]

    def priority(self, wildcards: Wildcards) -> float:
        """Between 0 and 1, higher for an earlier experiment of the config: sweeps are asked in this order, after what
        they wait for; the first results are then those that the config names first.
        """
        return 1 - (self._order[wildcards.experiment] + 1) / (len(self._order) + 1)

    def models_of(self, experiment: str) -> list[str]:
        """The models that have responses to an experiment, in the order of the config."""
        return [model for model in self._study.models if (model, experiment) in self.pairs]

    def cut_answers(self) -> list[str]:
        """A sentence for each scored sweep with answers that ended at the limit of new tokens."""
        rows: list[dict] = []
        for path in map(Path, self.files("results/accuracy/{model}/{experiment}.csv")):
            if path.exists():
                rows += read_result_rows(path)
        return cut_sentences(rows, {name: one.max_new_tokens for name, one in self._study.experiments.items()})

    @property
    def model_order(self) -> str:
        """The models in the order of the config: a param, because Snakemake compares inputs as a set."""
        return " ".join(self._study.models)

    @property
    def order(self) -> str:
        """Models and experiments in the order of the config: a param, because Snakemake compares inputs as a set."""
        return f"{self.model_order} / {' '.join(self._study.experiments)}"
