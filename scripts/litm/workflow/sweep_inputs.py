"""Inputs, params and resources of the rules that make examples and ask models, and of the checks around them."""

from collections.abc import Callable, Container, Mapping
from dataclasses import asdict, dataclass
from functools import cache, cached_property, partial
from pathlib import Path

from litm.analysis.cut_answers import cut_sentences
from litm.base.records import read_result_rows
from litm.base.store import canonical_json
from litm.config.catalogue import string_keys
from litm.config.experiments import Experiment
from litm.config.models import ApiModel, Model
from litm.config.recorded_models import RecordedModel
from litm.config.study import Study
from litm.domain.curve import Cell
from litm.inference.engines import audit_engine
from litm.inference.other_sweeps import JOURNALS, all_journals
from litm.inference.speed import measured_runs
from litm.models.files import model_files, tokenizer_files
from litm.models.number_format import AUTO, format_here
from litm.workflow.data_inputs import DataPlan
from litm.workflow.needs import needs_of
from litm.workflow.resources import memory_mb, minutes, rate_here, time_lines, work_of
from litm.workflow.rules_help import ProjectFiles, Wildcards


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


@dataclass(frozen=True)
class Prompting:
    """Inputs for the tokenization of a model's prompts.

    own_tokenizer: a separate tokenizer in the config, "" for none; tokenizer: the file or folder to load, "" if
    `source` gives it or there is none; tokenizer_files: its files; source: the file with the model's identity, if that
    is needed to load the tokenizer (a hub commit, or the folder of an unpacked GGUF file); template: the file of a
    named prompt template; reasoning: the reasoning settings, and whether code that comes with the model runs (JSON).
    """

    own_tokenizer: str
    tokenizer: str
    tokenizer_files: list[str]
    source: list[str]
    template: list[str]
    prompt_template: str
    reasoning: str


class ModelPlan:
    """Inputs and params of the rules that identify {model} and count its tokens."""

    def __init__(self, study: Study, project: ProjectFiles, data: DataPlan) -> None:
        #: Models to ask, and models used only for counting tokens, which need not be selected.
        self.asked: Mapping[str, Model | ApiModel] = {
            name: model
            for name, model in {**study.token_models, **study.models}.items()
            if not isinstance(model, RecordedModel)
        }
        self._datasets = study.datasets
        self._project = project
        self._data = data
        recorded = [model for model in study.models.values() if isinstance(model, RecordedModel) and model.tokenizer]
        self._prompting = {model.name: self._read_prompting(model) for model in (*self.asked.values(), *recorded)}
        #: Those whose tokens can be counted: all but those of a server or with recorded responses without a tokenizer.
        self.counted = [name for name, one in self._prompting.items() if one.tokenizer_files or one.source]

    def _read_prompting(self, model: Model | ApiModel | RecordedModel) -> Prompting:
        own = model.tokenizer or ""
        if own in self._datasets:
            own = self._data.file(own)
        if not isinstance(model, Model):
            folder = own if Path(own).is_dir() else None
            location, is_elsewhere = own, False
        else:
            is_elsewhere = bool(model.hub) or model.is_gguf
            folder = None if own or is_elsewhere else model.path
            location = own or folder or ""
        # Counting tokens needs no weights, only the tokenizer's files.
        files = [str(file) for file in tokenizer_files(Path(folder))] if folder else [own] if own else []
        return Prompting(
            own_tokenizer=own,
            tokenizer=location,
            tokenizer_files=files,
            source=[f"results/models/{model.name}.json"] if is_elsewhere and not files else [],
            template=(
                [self._project.file("resources", "prompt_templates", f"{model.template_name}.txt")]
                if model.template_name
                else []
            ),
            prompt_template=model.prompt_template,
            reasoning=canonical_json(
                {} if isinstance(model, RecordedModel) else {**model.reasoning.settings(), **model.trust()}
            ),
        )

    def prompting(self, name: str) -> Prompting:
        """The tokenization inputs of the model of this name."""
        return self._prompting[name]

    # Identity

    def source(self, wildcards: Wildcards) -> list[str]:
        """The file with the model's identity; none for recorded responses."""
        return [f"results/models/{wildcards.model}.json"] if wildcards.model in self.asked else []

    def folder(self, wildcards: Wildcards) -> list[str]:
        """The files of a model in a folder, or its GGUF file; none for a hub or server model."""
        model = self.asked[wildcards.model]
        if isinstance(model, ApiModel) or not model.path:
            return []
        return [str(file) for file in model_files(Path(model.path), model.trust_remote_code)]

    def identified_tokenizer(self, wildcards: Wildcards) -> list[str]:
        """The tokenizer in a model's identity; the tokenizer that counts a server model's tokens is not part of it."""
        own = self._prompting[wildcards.model].own_tokenizer
        return [own] if own and not isinstance(self.asked[wildcards.model], ApiModel) else []

    def location(self, wildcards: Wildcards) -> str:
        """The location of the model: JSON."""
        return canonical_json(self.asked[wildcards.model].location())

    # Tokenization

    def own_tokenizer(self, wildcards: Wildcards) -> str:
        """The separate tokenizer in the config, "" for none."""
        return self._prompting[wildcards.model].own_tokenizer

    def tokenizer(self, wildcards: Wildcards) -> str:
        """The tokenizer's file or folder, "" if `tokenizer_source` gives it or there is none."""
        return self._prompting[wildcards.model].tokenizer

    def tokenizer_files(self, wildcards: Wildcards) -> list[str]:
        """The tokenizer's files; none if `tokenizer_source` gives its location, or there is none."""
        return self._prompting[wildcards.model].tokenizer_files

    def tokenizer_source(self, wildcards: Wildcards) -> list[str]:
        """The file with the location of a tokenizer on the hub or in a GGUF file; none for any other."""
        return self._prompting[wildcards.model].source

    def template(self, wildcards: Wildcards) -> list[str]:
        """The file of the named prompt template; none for a raw prompt or the model's own chat template."""
        return self._prompting[wildcards.model].template

    def prompt_template(self, wildcards: Wildcards) -> str:
        """The name of the prompt template."""
        return self._prompting[wildcards.model].prompt_template

    def reasoning(self, wildcards: Wildcards) -> str:
        """The reasoning settings: JSON."""
        return self._prompting[wildcards.model].reasoning

    def context_window(self, wildcards: Wildcards) -> int:
        """The context window in tokens, 0 if the config sets none."""
        return self.asked[wildcards.model].context_window or 0


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


def gpus_of(model: Model | ApiModel) -> int:
    """The number of GPUs of a job; 0 for a model on a CPU or a server."""
    return 0 if isinstance(model, ApiModel) or model.device == "cpu" else model.gpus


def gpu_model_of(model: Model | ApiModel) -> str:
    """The GPU type to request from a cluster, "" for any."""
    return "" if isinstance(model, ApiModel) else model.gpu_model or ""


def _parts_of(model: Model | ApiModel) -> int:
    """The number of jobs of a sweep."""
    return 1 if isinstance(model, ApiModel) else model.shards


class InferencePlan:
    """Inputs, params and resources of the rules that ask {model} the prompts of {experiment}.

    A sweep is asked by one job, or by a job per shard ({part}, such as `1_of_3`) and one that gathers their answers.
    """

    def __init__(
        self, study: Study, project: ProjectFiles, models: ModelPlan, runs_here: Callable[[], bool] = lambda: True
    ) -> None:
        self._runs_here = runs_here
        self._study = study
        self._experiments = study.experiments
        self._project = project
        self._models = models.asked
        # Read when they are needed, and once.
        self._runs = cache(partial(measured_runs, Path("results")))
        self._work = {pair: work_of(one, study.questions_of(one)) for pair, one in study.run.items()}

    def code(self, wildcards: Wildcards) -> list[str]:
        """generate.py and the engine's module."""
        return self._project.code("generate.py", f"litm.inference.engines.{self._models[wildcards.model].engine}")

    # Settings that change an answer, or its treatment

    def settings(self, wildcards: Wildcards) -> str:
        """The settings that change an answer, apart from weights, template text and decoding: JSON; `{}` for recorded
        responses.
        """
        model = self._models.get(wildcards.model)
        return canonical_json(model.answer_settings() if model else {})

    def number_format(self, wildcards: Wildcards) -> str:
        """The number format that this machine takes for a model whose entry leaves it open; "" on a cluster, whose
        nodes choose it.

        A param, so that a study on another machine asks again.
        """
        model = self._models.get(wildcards.model)
        if not isinstance(model, Model) or not model.has_weights or model.dtype != AUTO or not self._runs_here():
            return ""
        return format_here(AUTO, model.device).name

    def decoding(self, wildcards: Wildcards) -> str:
        """The limit of new tokens and the stop rule: JSON."""
        return canonical_json(self._experiments[wildcards.experiment].decoding())

    def on_failure(self, wildcards: Wildcards) -> str:
        """The treatment of prompts without an answer."""
        return self._models[wildcards.model].on_failure

    def on_overflow(self, wildcards: Wildcards) -> str:
        """The treatment of prompts that do not fit the context window."""
        return self._experiments[wildcards.experiment].on_overflow

    def times(self, shares: Mapping[tuple[str, str], float]) -> list[str]:
        """Lines on the time that sweeps take on this machine, see `time_lines`; none on a cluster."""
        return time_lines(self._study, shares) if self._runs_here() else []

    # Shards

    def part_responses(self, wildcards: Wildcards) -> list[str]:
        """The responses of the shards, for the job that gathers them; none for a shard or an undivided sweep."""
        count = _parts_of(self._models[wildcards.model])
        if not self._gathers(wildcards):
            return []
        folder = f"results/parts/{wildcards.model}/{wildcards.experiment}"
        return [f"{folder}/{number}_of_{count}.jsonl.gz" for number in range(1, count + 1)]

    def part_option(self, wildcards: Wildcards) -> str:
        """The option of generate.py for a shard, or for gathering shards; "" for an undivided sweep."""
        if part := _part(wildcards):
            return f"--shard {part}"
        return "--gather" if self._gathers(wildcards) else ""

    def _gathers(self, wildcards: Wildcards) -> bool:
        return _parts_of(self._models[wildcards.model]) > 1 and _part(wildcards) is None

    # Settings that change no answer

    def run(self, wildcards: Wildcards) -> str:
        """The engine's settings for this machine: JSON."""
        return canonical_json(self._models[wildcards.model].run_settings())

    def gpus(self, wildcards: Wildcards) -> int:
        """The number of GPUs of a job; 0 for gathering shards."""
        return 0 if self._gathers(wildcards) else gpus_of(self._models[wildcards.model])

    def gpu_model(self, wildcards: Wildcards) -> str:
        """The GPU type to request from a cluster, "" for any."""
        return "" if self._gathers(wildcards) else gpu_model_of(self._models[wildcards.model])

    def threads(self, wildcards: Wildcards) -> int:
        """The number of threads of a job; 1 for asking a server."""
        model = self._models[wildcards.model]
        return 1 if isinstance(model, ApiModel) else model.threads

    def memory(self, wildcards: Wildcards, attempt: int) -> int:
        """Memory (MB) of a job."""
        work = self._work[wildcards.model, wildcards.experiment]
        return memory_mb(self._models[wildcards.model], attempt, work)

    def minutes(self, wildcards: Wildcards, attempt: int) -> int:
        """Time limit (minutes) of a job."""
        work = self._work[wildcards.model, wildcards.experiment]
        return minutes(self._models[wildcards.model], work, attempt, self._runs(wildcards.model))


def _part(wildcards: Wildcards) -> str | None:
    """The wildcard {part}, which only jobs for shards have."""
    return getattr(wildcards, "part", None)


def config_text(config: Mapping) -> str:
    """A config as JSON, the input of doctor.py."""
    return canonical_json(string_keys(config))


class EstimatePlan:
    """Inputs and params of the rules that estimate the remaining work and cost of {model} on {experiment}."""

    def __init__(self, study: Study, models: ModelPlan, sweeps: SweepPlan) -> None:
        self._study = study
        self._models = models
        self._sweeps = sweeps

    def source(self, wildcards: Wildcards) -> list[str]:
        """The file with the model's identity.

        None if it was never asked and the config gives its identity: then the hub is not asked either, and answers
        under another name are not looked up.
        """
        model = self._models.asked[wildcards.model]
        is_stored = not isinstance(model, ApiModel) and model.path
        is_known = model.context_window and self._models.tokenizer_files(wildcards) and not is_stored
        was_asked = any(journal.relative_to(JOURNALS).parts[0] == wildcards.model for journal in self._journals)
        is_needed = not is_known or was_asked
        return [f"results/models/{wildcards.model}.json"] if is_needed else []

    def journal(self, wildcards: Wildcards) -> str:
        """The path of the sweep's journal, which may not exist yet."""
        return f"results/journal/{wildcards.model}/{wildcards.experiment}.jsonl"

    def answered(self, wildcards: Wildcards) -> int:
        """Bytes of all journals, whose growth shows new answers; journals are no inputs.

        All journals, because an answer may be found in any.
        """
        return sum(file.stat().st_size for file in self._journals)

    @cached_property
    def _journals(self) -> list[Path]:
        return all_journals(JOURNALS)

    @property
    def sweeps(self) -> list[str]:
        """The estimate of each sweep that asks something."""
        return self._sweeps.files("results/estimates/{model}/{experiment}.json", self._models.asked)

    @property
    def rates(self) -> str:
        """Stated tokens per second of each selected model, null if missing: JSON."""
        asked = self._models.asked
        return canonical_json({name: asked[name].tokens_per_second for name in self._study.models if name in asked})

    def predicted(self, wildcards: Wildcards) -> str:
        """The rate of each selected model by a rule of thumb, null without weights here: JSON."""
        asked = self._models.asked
        rates = {name: rate_here(asked[name]) for name in self._study.models if name in asked}
        return canonical_json({name: rate and asdict(rate) for name, rate in rates.items()})

    @property
    def prices(self) -> str:
        """Stated prices of each selected model on a server, null if missing: JSON."""
        return canonical_json(
            {name: model.prices for name, model in self._study.models.items() if isinstance(model, ApiModel)}
        )


class AuditPlan:
    """Inputs, params and resources of the rules that ask {model} a sample of {experiment} again."""

    def __init__(self, project: ProjectFiles, models: ModelPlan) -> None:
        self._project = project
        self._models = models

    def code(self, wildcards: Wildcards) -> list[str]:
        """ask_again.py and the module of the auditing engine."""
        engine = audit_engine(self._models.asked[wildcards.model].engine)
        return self._project.code("ask_again.py", f"litm.inference.engines.{engine}")

    def gpus(self, wildcards: Wildcards) -> int:
        """The number of GPUs of the job, which asks alone even if the sweep is divided."""
        return gpus_of(self._models.asked[wildcards.model])

    def gpu_model(self, wildcards: Wildcards) -> str:
        """The GPU type to request from a cluster, "" for any."""
        return gpu_model_of(self._models.asked[wildcards.model])


class FetchPlan:
    """Inputs of the rule that downloads everything that a study needs."""

    def __init__(self, study: Study, data: DataPlan, models: ModelPlan) -> None:
        needs = needs_of(study)
        #: The remote files.
        self.files = [data.file(dataset.name) for dataset in needs.remote_files]
        #: Files with the hub commit of each model and encoder, determined once, while there is a network.
        self.sources = [
            *(f"results/models/{name}.json" for name in models.asked),
            *(f"results/retrievers/{one.name}.json" for one in needs.retrievers if one.method == "dense"),
            *(f"results/rerankers/{name}.json" for name in _cross_encoders(study)),
        ]


def _cross_encoders(study: Study) -> list[str]:
    names = dict.fromkeys(filter(None, (experiment.rerank for experiment in study.experiments.values())))
    return [name for name in names if study.rerankers[name].method == "cross_encoder"]
