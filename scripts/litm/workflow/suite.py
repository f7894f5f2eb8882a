"""Plan of the suite's formats: a summary of each curve of a model, and the suite's layout of results."""

from dataclasses import asdict

from litm.base.messages import UserError
from litm.base.store import canonical_json
from litm.config.items import item_noun
from litm.config.study import Study
from litm.domain.curve import Curve
from litm.workflow.examples import example_file
from litm.workflow.sweeps import SweepPlan
from litm.workflow.wildcards import Wildcards


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
