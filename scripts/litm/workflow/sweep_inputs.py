"""Inputs, params and resources of the rules that make examples and ask models, and of the checks around them."""

import sys
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

from litm.base.extensions import text_file
from litm.config.experiments import Experiment
from litm.config.needs import needs_of
from litm.config.study import Study
from litm.config.sweeps import FILES, AskableModel, Model, Sweep, ending_of
from litm.config.writing import written_sets
from litm.engines.registry import ENGINES, audit_engine
from litm.inference.kept_answers import answer_files
from litm.models.devices import AUTO, format_here
from litm.models.locations import cached_file, tokenizer_files
from litm.planning.memory import memory_mb
from litm.planning.speed import measured_runs, minutes
from litm.planning.tokens import most_work
from litm.prompting.prompt_format import named_template
from litm.records.cells import Cell
from litm.records.conditions import MEASURED
from litm.records.measures import ANSWER, VERDICT, WRITING
from litm.retrieval.candidates import FILL
from litm.workflow.data_inputs import FETCHED, DataInputs, identity_file
from litm.workflow.rules_help import Wildcards, as_json


@dataclass(frozen=True)
class Prompting:
    """Inputs for the tokenization of a model's prompts."""

    own_tokenizer: str
    """A separate tokenizer in the config, "" for none."""
    tokenizer: str
    """The file or folder to load, "" if `source` gives it or there is none."""
    tokenizer_files: list[str]
    """The files of that tokenizer."""
    source: list[str]
    """The file with the model's identity, if that is needed to load the tokenizer (a hub commit, or the folder of an
    unpacked GGUF file).
    """
    template: list[str]
    """The file of a named prompt template."""
    prompt_template: str
    reasoning: Mapping[str, Any]
    """The reasoning settings, and whether code that comes with the model runs."""


def example_file(experiment: Experiment, cell: Cell) -> str:
    """The examples of one cell."""
    return f"results/examples/{experiment.name}/{cell.size}/{cell.placement}.jsonl.gz"


def sweep_files(pattern: str, sweeps: Iterable[tuple[str, str | None]]) -> list[str]:
    """The file `pattern` (with {model} and {experiment}) of each of these sweeps."""
    return [pattern.format(model=model, experiment=experiment) for model, experiment in sweeps]


def answer_settings(model: Model) -> dict:
    """The settings that change an answer, apart from weights, template text and decoding; none for recorded ones."""
    return {} if model.is_recorded else model.answer_settings()


def reasoning(model: Model) -> dict:
    """The treatment of reasoning in the responses."""
    return model.reasoning.settings()


def run_settings(model: AskableModel) -> str:
    """The engine's settings for this machine, as JSON: a text, and a resource because it changes no answer."""
    return as_json(model.run_settings())


def asking_module(model: AskableModel) -> str:
    """The module of the engine that asks a model."""
    return ENGINES[model.engine]


def auditing_module(model: AskableModel) -> str:
    """The module of the engine that asks a model again, one prompt at a time."""
    return ENGINES[audit_engine(model.engine)]


class SweepInputs:
    """The sweeps of a study: a selected model on all cells of an experiment.

    A sweep is asked by one job, or by a job per shard ({part}, such as `1_of_3`) and one that gathers their answers.
    project_file: gives the path of a file of the project; runs_here: whether jobs run on this machine, known once the
    rules are read.
    """

    def __init__(
        self,
        study: Study,
        data: DataInputs,
        project_file: Callable[..., str],
        runs_here: Callable[[], bool] = lambda: True,
    ) -> None:
        self._study = study
        self._data = data
        self._project_file = project_file
        self._runs_here = runs_here
        #: The selected models, and models beside them, for counting tokens or as judges; those to ask among them.
        self.models = {**study.token_models, **study.asked_models, **study.beside}
        self.asked = {name: model for name, model in self.models.items() if not model.is_recorded}
        recorded = [name for name in (*study.models, *study.beside) if name not in self.asked]
        #: Those with recorded verdicts, and those with recorded responses.
        self.scored = [name for name in recorded if getattr(self.models[name], "scores", None)]
        self.recorded = [name for name in recorded if name not in self.scored]
        self.answering = [name for name in self.models if name not in self.scored]
        self.prompting = {
            name: self._prompting_of(model)
            for name, model in self.models.items()
            if name in self.asked or model.tokenizer
        }
        #: Those whose tokens can be counted: all but those of a server or with recorded responses without a tokenizer.
        self.counted = [
            name for name, prompting in self.prompting.items() if prompting.tokenizer_files or prompting.source
        ]
        #: What is measured, by the wildcard {ending} of its files.
        self.measures = {ending_of(measure): measure for measure in FILES}
        self._order = {name: index for index, name in enumerate([*study.writings, *study.experiments, *study.judgings])}
        # Read when they are needed, and once.
        self._runs = cache(partial(measured_runs, Path("results")))

    def _prompting_of(self, model: Model) -> Prompting:
        own_tokenizer = model.tokenizer or ""
        if own_tokenizer in self._study.datasets:
            own_tokenizer = self._data.file(own_tokenizer)
        is_elsewhere = model.is_local and (bool(model.hub) or model.is_gguf)
        location = own_tokenizer or ("" if is_elsewhere else getattr(model, "path", None) or "")
        # Counting tokens needs no weights, only the tokenizer's files.
        files = [location] if location else []
        if location and Path(location).is_dir():
            files = [str(file) for file in tokenizer_files(Path(location))]
        named = named_template(model.prompt_template)
        return Prompting(
            own_tokenizer=own_tokenizer,
            tokenizer=location,
            tokenizer_files=files,
            source=[f"results/models/{model.name}.json"] if is_elsewhere and not files else [],
            template=[self._project_file(text_file("prompt_templates", named))] if named else [],
            prompt_template=model.prompt_template,
            reasoning={} if model.is_recorded else {**reasoning(model), **model.trust()},
        )

    # Sweeps

    def files(self, pattern: str, models: Container[str] | None = None) -> list[str]:
        """The file `pattern` (with {model} and {experiment}) of each sweep, or of the sweeps of these models."""
        return sweep_files(pattern, [pair for pair in self._study.pairs() if models is None or pair[0] in models])

    def models_of(self, wildcards: Wildcards) -> list[str]:
        """The models that have responses to {experiment}, in the order of the config."""
        return self._study.models_of(wildcards.experiment)

    def files_of(self, pattern: str) -> Callable[[Wildcards], list[str]]:
        """The file `pattern` (with {model} and {experiment}) of each of these models."""
        return lambda wildcards: sweep_files(pattern, product(self.models_of(wildcards), [wildcards.experiment]))

    def sweep(self, wildcards: Wildcards, measure: str | None = None) -> Sweep:
        """The sweep of {model} on {experiment} of a measure, by default the one that {ending} names."""
        wanted = measure or self.measures[wildcards.ending]
        return self._study.sweep(wildcards.model, wildcards.experiment, wanted)

    def priority(self, wildcards: Wildcards) -> float:
        """Between 0 and 1, higher for an earlier experiment of the config: sweeps are asked in this order, after what
        they wait for; the first results are then those that the config names first.
        """
        return 1 - (self._order[wildcards.experiment] + 1) / (len(self._order) + 1)

    # Examples

    @property
    def filled(self) -> dict[str, dict[str, tuple[str, str]]]:
        """A file of candidates that may have been filled up at random and one of the examples made of it, by experiment
        and size, as JSON has them.
        """
        fills = {candidates.name for candidates in self._data.used if candidates.too_few == FILL}
        return {
            name: {
                str(cell.size): (self._data.file(experiment.datasets[cell.size]), example_file(experiment, cell))
                for cell in experiment.cells
                if cell.size
            }
            for name, experiment in self._study.experiments.items()
            if fills.intersection(experiment.datasets.values())
        }

    def examples(self, wildcards: Wildcards) -> list[str]:
        """The examples of all cells of {experiment}, or of the cells that {model} is asked; or other prompts."""
        if asking := self._study.asked_apart.get(wildcards.experiment):
            return [asking.prompts]
        experiment = self._study.experiments[wildcards.experiment]
        if not experiment.has_prompts:
            return []
        if model := getattr(wildcards, "model", None):
            experiment = self._study.experiment_of(model, experiment.name)
        return [example_file(experiment, cell) for cell in experiment.cells]

    def dataset(self, wildcards: Wildcards) -> list[str]:
        """The file of questions with {size} documents; none if contexts are generated."""
        experiment = self._study.experiments[wildcards.experiment]
        name = experiment.datasets.get(int(wildcards.size))
        if name and experiment.rerank:
            return [f"results/reranked/{experiment.rerank}/{name}.jsonl.gz"]
        return [self._data.file(name)] if name else []

    def length(self, wildcards: Wildcards) -> list[str]:
        """The file with the number of items in {size} tokens; none if sizes count items."""
        in_tokens = self._study.experiments[wildcards.experiment].tokens_of
        return [f"results/sizes/{wildcards.experiment}/{wildcards.size}.json"] if in_tokens else []

    def prompt(self, experiment: Experiment) -> str:
        """The prompt file of an experiment."""
        return self._project_file(text_file("prompts", experiment.prompt))

    def curve(self, experiment: Experiment) -> list[str]:
        """The scores that the measured order of an experiment is estimated on; none for another order."""
        if experiment.order != MEASURED or not experiment.measured_on:
            return []
        return [FILES[ANSWER].for_sweep(experiment.measured_on.model, experiment.measured_on.experiment).scores]

    def placements(self, wildcards: Wildcards) -> list[str]:
        """The placements at a size, since the longest of their prompts must fit."""
        cells = self._study.experiments[wildcards.experiment].cells
        return [cell.placement for cell in cells if cell.size == int(wildcards.size)]

    # Models

    def identified_tokenizer(self, wildcards: Wildcards) -> list[str]:
        """The tokenizer in a model's identity; the tokenizer that counts a server model's tokens is not part of it."""
        own_tokenizer = self.prompting[wildcards.model].own_tokenizer
        return [own_tokenizer] if own_tokenizer and not self.asked[wildcards.model].is_served else []

    def source(self, wildcards: Wildcards) -> list[str]:
        """The file with the model's identity; none for recorded responses."""
        return [f"results/models/{wildcards.model}.json"] if wildcards.model in self.asked else []

    @property
    def sources(self) -> list[str]:
        """The identities of all models that the selection asks, encodes or reranks with: each determines the hub commit
        once, while there is a network.
        """
        used = dict.fromkeys(filter(None, (experiment.rerank for experiment in self._study.experiments.values())))
        others = [*needs_of(self._study).retrievers, *(self._study.rerankers[name] for name in used)]
        return [
            *(f"results/models/{name}.json" for name in self.asked),
            *(file for other in others for file in identity_file(other)),
        ]

    # Asking

    def number_format(self, wildcards: Wildcards) -> str:
        """The number format that this machine takes for a model whose entry leaves it open; "" on a cluster, whose
        nodes choose it. A study on another machine then asks again.
        """
        model = self.asked[wildcards.model]
        if not model.has_weights or model.dtype != AUTO or not self._runs_here():
            return ""
        return format_here(AUTO, model.device).name

    def part_responses(self, measure: str) -> Callable[[Wildcards], list[str]]:
        """The responses of the shards for the job that gathers them; none for a shard or an undivided sweep."""

        def files(wildcards: Wildcards) -> list[str]:
            pattern = FILES[measure].for_sweep(wildcards.model, wildcards.experiment).part_responses
            count = self.asked[wildcards.model].shards if self.gathers(wildcards) else 0
            return [pattern.format(part=f"{number}_of_{count}") for number in range(1, count + 1)]

        return files

    def gathers(self, wildcards: Wildcards) -> bool:
        """Whether a job only gathers the answers of shards."""
        return self.asked[wildcards.model].shards > 1 and shard_of(wildcards) is None

    def gpus(self, wildcards: Wildcards) -> int:
        """The number of GPUs of a job; 0 for gathering shards."""
        return 0 if self.gathers(wildcards) else self.asked[wildcards.model].used_gpus

    def gpu_model(self, wildcards: Wildcards) -> str:
        """The GPU type to request from a cluster, "" for any."""
        return "" if self.gathers(wildcards) else self.asked[wildcards.model].gpu_model or ""

    def needs(self, measure: str) -> dict[str, Callable[[Wildcards, int], int]]:
        """Memory (MB) and time limit (minutes) of the jobs of a measure, as resources."""

        def mem_mb(wildcards: Wildcards, attempt: int) -> int:
            return memory_mb(self.asked[wildcards.model], attempt, most_work(self.sweep(wildcards, measure)))

        def runtime(wildcards: Wildcards, attempt: int) -> int:
            work = most_work(self.sweep(wildcards, measure))
            return minutes(self.asked[wildcards.model], work, attempt, self._runs(wildcards.model))

        return {"mem_mb": mem_mb, "runtime": runtime}

    # Recorded responses

    def _recorded(self, wildcards: Wildcards) -> list[tuple[str, list[Cell]]]:
        model = self.models[wildcards.model]
        files = model.files if model.is_recorded else {}
        if wildcards.experiment not in files:
            sys.exit(f"error: models.{wildcards.model}.responses: no responses to {wildcards.experiment}")
        return files[wildcards.experiment]

    def recorded_files(self, wildcards: Wildcards) -> list[str]:
        """The files of the responses, each a dataset or the user's own."""
        named = self._study.datasets
        return [self._data.file(file) if file in named else file for file, _ in self._recorded(wildcards)]

    def recorded_cells(self, wildcards: Wildcards) -> str:
        """The cells that each file covers: JSON, a list of [size, placement] per file."""
        return as_json([[[cell.size, cell.placement] for cell in cells] for _, cells in self._recorded(wildcards)])

    def recorded_rows(self, wildcards: Wildcards) -> dict | None:
        """The values of the records of {experiment} in its files, by their names there; None for all."""
        return self.models[wildcards.model].rows.get(wildcards.experiment)  # type: ignore[union-attr]

    def decoding_of_log(self, wildcards: Wildcards) -> dict | None:
        """The decoding of {experiment}, if {model} is a framework's log; None for other recorded responses."""
        model = self.models[wildcards.model]
        has_log = model.is_recorded and model.log
        return self._study.experiments[wildcards.experiment].decoding() if has_log else None

    # Judges

    def judge_template(self, wildcards: Wildcards) -> list[str]:
        """The file of the prompt with which {experiment} is judged."""
        return self._judge_prompt(self._study.experiments[wildcards.experiment])

    def _judge_prompt(self, experiment: Experiment) -> list[str]:
        judge = experiment.judge
        return [judge.prompt or self._project_file("resources", "judging", "judge.txt")] if judge else []

    def labels(self, wildcards: Wildcards) -> list[str]:
        """The user's labels of answers to {experiment}."""
        judge = self._study.experiments[wildcards.experiment].judge
        return [judge.labels] if judge and judge.labels else []

    def verdicts(self, wildcards: Wildcards) -> list[str]:
        """The file of a judge's verdicts on the answers of {model} to {experiment}; none without a judge."""
        return [
            FILES[VERDICT].for_sweep(judging.experiment.judge.model, judging.name).responses
            for judging in self._study.judgings.values()
            if (judging.model, judging.experiment.name) == (wildcards.model, wildcards.experiment)
            and judging.experiment.judge
        ]

    # Written questions

    def written(self, wildcards: Wildcards) -> list[str]:
        """The replies of the model that writes the questions {written}."""
        return self._writing(wildcards, is_check=False)

    def checked(self, wildcards: Wildcards) -> list[str]:
        """The answers of the model that checks them."""
        return self._writing(wildcards, is_check=True)

    def _writing(self, wildcards: Wildcards, is_check: bool) -> list[str]:
        return [
            FILES[WRITING].for_sweep(writing.asker, writing.name).responses
            for writing in self._study.writings.values()
            if (writing.questions.name, writing.is_check) == (wildcards.written, is_check)
        ]

    # The estimate

    def estimate_source(self, wildcards: Wildcards) -> list[str]:
        """The file with the model's identity.

        None for a model of the hub that was never asked and whose window and tokenizer the config gives: then the hub
        is not asked either, and answers under another name are not looked up.
        """
        model = self.asked[wildcards.model]
        is_elsewhere = model.is_local and not model.path
        is_known = is_elsewhere and model.context_window and self.prompting[wildcards.model].tokenizer_files
        return self.source(wildcards) if not is_known or self.was_asked(wildcards.model) else []

    def was_asked(self, model: str) -> bool:
        """Whether there are answers of a model of this name."""
        return any(file.name.startswith(f"{model}+") for file in self.answer_files)

    def counted_examples(self, wildcards: Wildcards) -> list[str]:
        """The examples whose prompts are counted: of a judge's sweep, those of the answers to judge."""
        judging = self._study.judgings.get(wildcards.experiment)
        if not judging:
            return self.examples(wildcards)
        return [example_file(judging.experiment, cell) for cell in judging.experiment.cells]

    def counted_judge(self, wildcards: Wildcards) -> list[str]:
        """The file of the prompt of a judge; none for another sweep."""
        judging = self._study.judgings.get(wildcards.experiment)
        return self._judge_prompt(judging.experiment) if judging else []

    def counted_answers(self, wildcards: Wildcards) -> dict | None:
        """The file of the judged answers, and the settings that select them; None for a sweep without a judge."""
        judging = self._study.judgings.get(wildcards.experiment)
        if not judging or not judging.experiment.judge:
            return None
        judge = judging.experiment.judge
        return {"responses": judging.responses, "swap": judge.swap, "only_unclear": judge.only_unclear}

    def counted_now(self, wildcards: Wildcards) -> list[str]:
        """The estimate of each sweep that asks something, and whose model, data and judged answers are here."""
        here = {name for name, model in self.asked.items() if _is_here(model)}
        # A measured order is made of answers, and so are the questions that a model writes.
        asked = {
            name
            for name, experiment in self._study.experiments.items()
            if experiment.order != MEASURED
            and not any(written_sets(experiment, self._study.candidates, self._study.questions))
        }
        with_data = {name for name in asked if self._has_data(name)}
        judged = {
            name
            for name, judging in self._study.judgings.items()
            if judging.experiment.name in with_data and Path(judging.responses).is_file()
        }
        return [
            sweep.files.estimate
            for sweep in self._study.sweeps
            if sweep.model.name in here and sweep.experiment.name in with_data | judged
        ]

    def _has_data(self, name: str) -> bool:
        """Whether an experiment's examples can be made without a download, and without a corpus in shards."""
        alone = {name: self._study.experiments[name]}
        needs = needs_of(replace(self._study, models={}, judges={}, token_models={}, beside={}, experiments=alone))
        is_small = all(corpus.shards == 1 for corpus in needs.corpora)
        return is_small and all(
            file.availability(Path(FETCHED), self._study.data_mirror) for file in needs.remote_files
        )

    def answered(self, wildcards: Wildcards) -> int:
        """Bytes of all kept answers, whose growth shows new ones, and of those to judge; they are no inputs."""
        judging = self._study.judgings.get(wildcards.experiment)
        judged = [Path(judging.responses)] if judging else []
        return sum(file.stat().st_size for file in [*self.answer_files, *judged])

    @cached_property
    def answer_files(self) -> list[Path]:
        """The files of kept answers, as they are when they are first looked for."""
        return answer_files(self.answer_folders)

    @property
    def answer_folders(self) -> tuple[str, ...]:
        """The folders of kept answers."""
        return self._study.answer_folders


def _is_here(model: AskableModel) -> bool:
    """Whether a model needs no download."""
    hub = model.is_local and model.hub
    return not hub or cached_file(hub, "config.json", model.revision) is not None


def shard_of(wildcards: Wildcards) -> str | None:
    """The wildcard {part}, which only jobs for shards have."""
    return getattr(wildcards, "part", None)


def prices(study: Study) -> dict[str, dict | None]:
    """Prices of models on servers, those of caches too, None if the config has none."""
    return {name: model.all_prices for name, model in study.models.items() if model.is_served}
