"""The sweeps of a study (pairs of model and experiment), and files that there is one of for each sweep."""

import csv
from collections.abc import Container, Mapping
from pathlib import Path

from litm.analysis.cut_answers import cut_sentences
from litm.config.study import Study
from litm.workflow.cluster_resources import work_of


class SweepPlan:
    """The pairs of a selected model and an experiment that have responses, model by model.

    Recorded responses need not cover all selected experiments, so that a product of models and experiments would have
    pairs that do not exist.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        #: (model, experiment), in the order of the config.
        self.pairs: Mapping[tuple[str, str], None] = dict.fromkeys(study.sweeps)
        #: Prompts of each, at most: data may have fewer questions than an experiment takes.
        self.prompts: Mapping[tuple[str, str], int] = {pair: work_of(one).prompts for pair, one in study.run.items()}

    def files(self, pattern: str, models: Container[str] | None = None) -> list[str]:
        """The file that `pattern` names (with {model} and {experiment}) of each sweep, or of those of these models."""
        return [
            pattern.format(model=model, experiment=experiment)
            for model, experiment in self.pairs
            if models is None or model in models
        ]

    def models_of(self, experiment: str) -> list[str]:
        """The models that have responses to an experiment, in the order of the config."""
        return [model for model in self._study.models if (model, experiment) in self.pairs]

    def cut_answers(self) -> list[str]:
        """A sentence for each sweep that is scored and some of whose answers ended at the limit of new tokens."""
        rows: list[dict] = []
        for path in map(Path, self.files("results/accuracy/{model}/{experiment}.csv")):
            if path.exists():
                with path.open(encoding="utf-8", newline="") as file:
                    rows += csv.DictReader(file)
        return cut_sentences(rows, {name: one.max_new_tokens for name, one in self._study.experiments.items()})

    @property
    def model_order(self) -> str:
        """The models in the order of the config: a param, as Snakemake compares inputs as a set."""
        return " ".join(self._study.models)

    @property
    def order(self) -> str:
        """Models and experiments in the order of the config: a param, as Snakemake compares inputs as a set."""
        return f"{self.model_order} / {' '.join(self._study.experiments)}"
