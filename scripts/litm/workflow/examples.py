"""Plan of examples: the prompts of each cell of an experiment."""

from litm.base.store import canonical_json
from litm.config.experiments import Experiment
from litm.config.study import Study
from litm.domain.curve import Cell
from litm.workflow.data import DataPlan
from litm.workflow.models import ModelPlan, Prompting
from litm.workflow.project_files import ProjectFiles
from litm.workflow.wildcards import Wildcards


def example_file(experiment: Experiment, cell: Cell) -> str:
    """The examples of one cell."""
    return f"results/examples/{experiment.name}/{cell.size}/{cell.placement}.jsonl.gz"


class ExamplePlan:
    """Inputs and params of the rules that make and check the examples of {experiment}."""

    def __init__(self, study: Study, project: ProjectFiles, data: DataPlan) -> None:
        self._study = study
        self._experiments = study.experiments
        self._project = project
        self._data = data

    def _experiment(self, wildcards: Wildcards) -> Experiment:
        return self._experiments[wildcards.experiment]

    def files(self, wildcards: Wildcards) -> list[str]:
        """The examples of all cells, or of the cells that {model} is asked."""
        experiment = self._experiment(wildcards)
        if model := getattr(wildcards, "model", None):
            experiment = self._study.experiment_of(model, experiment.name)
        return [example_file(experiment, cell) for cell in experiment.cells]

    # One cell

    def dataset(self, wildcards: Wildcards) -> list[str]:
        """The file of questions with {size} documents; none if contexts are generated."""
        experiment = self._experiment(wildcards)
        name = experiment.datasets.get(int(wildcards.size))
        if name and experiment.rerank:
            return [f"results/reranked/{experiment.rerank}/{name}.jsonl.gz"]
        return [self._data.file(name)] if name else []

    def labels(self, wildcards: Wildcards) -> list[str]:
        """The file of labels that selects questions; none to keep all."""
        subset = self._experiment(wildcards).subset
        return [self._data.file(subset)] if subset else []

    def items(self, wildcards: Wildcards) -> list[str]:
        """The file with the number of items in {size} tokens; none if sizes count items."""
        in_tokens = self._experiment(wildcards).tokens_of
        return [f"results/sizes/{wildcards.experiment}/{wildcards.size}.json"] if in_tokens else []

    def prompt(self, wildcards: Wildcards) -> str:
        """The prompt file."""
        return self._project.file("resources", "prompts", f"{self._experiment(wildcards).prompt}.txt")

    def code(self, wildcards: Wildcards) -> list[str]:
        """make_examples.py and the task's module."""
        return self._project.code("make_examples.py", _task_module(self._experiment(wildcards)))

    def score_code(self, wildcards: Wildcards) -> list[str]:
        """score.py and the task's module, which knows the items that a wrong answer may be from."""
        return self._project.code("score.py", _task_module(self._experiment(wildcards)))

    def sample_code(self, wildcards: Wildcards) -> list[str]:
        """sample_questions.py and the task's module, for the same."""
        return self._project.code("sample_questions.py", _task_module(self._experiment(wildcards)))

    def task(self, wildcards: Wildcards) -> str:
        """The name of the task's module."""
        return self._experiment(wildcards).task

    def settings(self, wildcards: Wildcards) -> str:
        """The settings that change the examples, apart from cell, data and prompt file: JSON of `ExampleSettings`."""
        return canonical_json(self._experiment(wildcards).example_settings())

    # The check of all cells

    def generated(self, wildcards: Wildcards) -> str:
        """The option of check_examples.py for generated contexts, whose distractors are all known; else ""."""
        return "" if self._experiment(wildcards).datasets else "--generated"

    def design(self, wildcards: Wildcards) -> str:
        """What varies between positions: the place of the gold item, or the item asked for."""
        return self._experiment(wildcards).design

    def metric(self, wildcards: Wildcards) -> str:
        """The metric that judges answers."""
        return self._experiment(wildcards).metric


class SizePlan:
    """Inputs and params of the rule that finds the number of items in {size} tokens of the model `tokens_of`."""

    def __init__(self, study: Study, project: ProjectFiles, models: ModelPlan) -> None:
        self._experiments = study.experiments
        self._project = project
        self._models = models

    def _prompting(self, wildcards: Wildcards) -> Prompting:
        return self._models.prompting(str(self._experiments[wildcards.experiment].tokens_of))

    def code(self, wildcards: Wildcards) -> list[str]:
        """find_size.py and the task's module."""
        return self._project.code("find_size.py", _task_module(self._experiments[wildcards.experiment]))

    def placements(self, wildcards: Wildcards) -> list[str]:
        """The placements at this size, since the longest of their prompts must fit."""
        cells = self._experiments[wildcards.experiment].cells
        return [cell.placement for cell in cells if cell.size == int(wildcards.size)]

    def tokenizer(self, wildcards: Wildcards) -> str:
        """The file or folder of the tokenizer, "" if it is on the hub."""
        return self._prompting(wildcards).tokenizer

    def tokenizer_files(self, wildcards: Wildcards) -> list[str]:
        """The files of the tokenizer; none if `tokenizer_source` gives its location."""
        return self._prompting(wildcards).tokenizer_files

    def tokenizer_source(self, wildcards: Wildcards) -> list[str]:
        """The file with the location of a tokenizer on the hub or in a GGUF file; none for any other."""
        return self._prompting(wildcards).source

    def template(self, wildcards: Wildcards) -> list[str]:
        """The file of the named prompt template; none for other formats."""
        return self._prompting(wildcards).template

    def prompt_template(self, wildcards: Wildcards) -> str:
        """The name of the prompt template."""
        return self._prompting(wildcards).prompt_template

    def reasoning(self, wildcards: Wildcards) -> str:
        """The reasoning settings: JSON."""
        return self._prompting(wildcards).reasoning


def _task_module(experiment: Experiment) -> str:
    return f"litm.examples.tasks.{experiment.task}"
