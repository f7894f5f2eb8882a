"""The summaries and exports of the curves of a model, and their inputs."""

import sys
from collections.abc import Callable
from dataclasses import asdict

from litm.config.figures import item_noun
from litm.config.study import Study
from litm.config.sweeps import FILES
from litm.records.cells import Curve
from litm.records.measures import ANSWER
from litm.workflow.rules_help import Wildcards, as_json
from litm.workflow.sweep_inputs import example_file

#: Templates of exported tasks, by whether a model judges the answers, and the keys of an experiment that its task has.
#: lm-evaluation-harness has no metric that is a model.
TASK_TEMPLATES = {
    False: ("inspect_task.py", "lm_eval_task.yaml", "lm_eval_utils.py"),
    True: ("inspect_judged_task.py",),
}
TASK_KEYS = ("name", "task", "title", "metric", "max_new_tokens", "stop")


class ExportFiles:
    """The summaries and exports of a study, by {model}."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._curves: dict[str, list[Curve]] = {model: [] for model in study.models}
        for model, name in study.pairs():
            self._curves[model] += study.curves_of(model, name)

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
            "scores": FILES[ANSWER].scores.format(model=model, experiment=experiment.name),
            "responses": FILES[ANSWER].responses.format(model=model, experiment=experiment.name),
        }
