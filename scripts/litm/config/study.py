"""The study: the config's selection from the catalogues, checked before any job runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from litm.analysis.published import PublishedTokens, read_published_tokens
from litm.base.messages import UserError
from litm.config.catalogue import Audit, Config, Report, read_catalogue, read_catalogues, string_keys
from litm.config.conditions import read_relations, with_conditions, with_names
from litm.config.data import (
    Candidates,
    Corpus,
    Dataset,
    QuestionSet,
    Recorded,
    Reranker,
    Retriever,
    check_file_names,
    check_hits,
    check_one_namespace,
    of_version,
    read_candidates,
    read_corpus,
    read_question_set,
)
from litm.config.experiments import Experiment, ExperimentEntry, read_experiment, short_limits
from litm.config.figures import Figure, published_figures, read_figures, wrong_answer_figures
from litm.config.model_files import why_taken
from litm.config.models import ApiModel, Model
from litm.config.my_data import EXPERIMENTS as MY_EXPERIMENTS
from litm.config.my_data import MY_POSITIONS, MyEntries, position_notes, read_my_data
from litm.config.recorded_models import RecordedEntry, RecordedModel, read_recorded_model
from litm.config.schema import check_plain, choose, read_entry
from litm.config.selection import Selection, select
from litm.config.yaml_files import read_yaml
from litm.figures.kinds import Page
from litm.placements import AS_RETRIEVED
from litm.records import Condition, Curve


@dataclass(frozen=True)
class Data:
    """The checked entries of data and of their retrieval, by kind and name."""

    datasets: Mapping[str, Dataset]
    corpora: Mapping[str, Corpus]
    retrievers: Mapping[str, Retriever]
    questions: Mapping[str, QuestionSet]
    candidates: Mapping[str, Candidates]
    rerankers: Mapping[str, Reranker]

    @property
    def files(self) -> dict[str, Dataset | QuestionSet | Candidates]:
        """What the `dataset` of an experiment may name."""
        return {**self.datasets, **self.questions, **self.candidates}


@dataclass(frozen=True)
class Study(Data):
    """The selected models, experiments and figures, and all data entries.

    selection: which models run which experiments. token_models: models, selected or not, whose tokens count the sizes
    of an experiment. figures: those that the config names or implies. more_figures: of wrong answers.
    published_figures: those with published values, selected or not. printed_tokens: lengths of the paper's prompts.
    relations: see `relations.read_relations`. audited_per_cell: prompts per cell that an audit asks again.
    sampled_per_size: questions per experiment and size that the report shows in full. my_data: lines on the choices for
    the user's own documents; my_questions: the number of their questions. without_format: models whose entries leave
    out their prompt template. conditions: of the selected experiments with remedies, by experiment.
    page: width and text size of figures, None for the default. absent: by model, the words for its package that is not
    installed. uncounted: models without their tokenizer, by the dataset that the user must still supply.
    """

    selection: Selection
    models: Mapping[str, Model | ApiModel | RecordedModel]
    token_models: Mapping[str, Model | ApiModel]
    experiments: Mapping[str, Experiment]
    figures: Mapping[str, Figure]
    more_figures: Mapping[str, Figure]
    published_figures: Mapping[str, Figure]
    printed_tokens: Sequence[PublishedTokens]
    relations: Mapping[str, Any]
    seed: int
    audited_per_cell: int
    sampled_per_size: int
    data_mirror: str | None
    my_data: tuple[str, ...] = ()
    my_questions: int = 0
    without_format: frozenset[str] = frozenset()
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    page: Page | None = None
    absent: Mapping[str, str] = field(default_factory=dict)
    uncounted: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def questions_of(self, experiment: Experiment) -> int | None:
        """The number of questions in an experiment's data, None if only a run can tell."""
        condition = self.conditions.get(experiment.name)
        name = condition.study if condition else experiment.name
        return self.my_questions if self.my_questions and name in MY_EXPERIMENTS else None

    @property
    def sweeps(self) -> list[tuple[str, str]]:
        """Pairs of a selected model and experiment that have responses, model by model."""
        return [pair for pair in self._pairs() if self._covers(*pair)]

    @property
    def run(self) -> dict[tuple[str, str], Experiment]:
        """These pairs, each with its experiment at the sizes that the model runs."""
        return {pair: self.experiment_of(*pair) for pair in self.sweeps}

    @property
    def all_figures(self) -> dict[str, Figure]:
        """All figures except the one of all indexes."""
        return {**self.figures, **self.more_figures}

    @property
    def stand_ins(self) -> list[str]:
        """Models that are none, to try a config with: nothing is concluded from their answers if there are others."""
        found = [name for name, one in self.models.items() if isinstance(one, Model) and not one.has_weights]
        return found if len(found) < len(self.models) else []

    def experiment_of(self, model: str, experiment: str) -> Experiment:
        """An experiment at the sizes that a model runs."""
        return _run_by(model, self.experiments[experiment], self.selection)

    def curves_of(self, model: str, experiment: str) -> list[Curve]:
        """The curves of an experiment that a model runs, with the same names for all models."""
        sizes = {cell.size for cell in self.experiment_of(model, experiment).cells}
        return [curve for curve in self.experiments[experiment].curves if curve.size in sizes]

    @property
    def not_recorded(self) -> list[tuple[str, str]]:
        """Selected pairs without recorded responses."""
        return [pair for pair in self._pairs() if not self._covers(*pair)]

    @property
    def left_out(self) -> list[str]:
        """One line per reason why something selected is left out."""
        pairs = ", ".join(map("/".join, self.not_recorded))
        uncounted = [
            f"no tokens are counted: {', '.join(models)} (a file is yours to supply: set the 'path' of {name} in "
            "define.datasets)"
            for name, models in self.uncounted.items()
        ]
        return [
            *self.selection.left_out,
            *([f"no recorded responses, left out: {pairs}"] if pairs else []),
            *uncounted,
        ]

    @property
    def notes(self) -> list[str]:
        """Lines to print before a run: models that are not installed, parts of the selection that are left out, choices
        made by default, limits of new tokens that are likely to be too low.
        """
        absent = [f"models.{model}.package: {words}" for model, words in self.absent.items()]
        return [*absent, *self.my_data, *self.left_out, *self.prompt_formats, *self.short_limits]

    @property
    def short_limits(self) -> list[str]:
        """Lines on limits of new tokens that are likely to cut right answers, of experiments that are asked."""
        asked = {experiment for model, experiment in self.sweeps if not isinstance(self.models[model], RecordedModel)}
        return list(short_limits(one for name, one in self.experiments.items() if name in asked))

    @property
    def prompt_formats(self) -> list[str]:
        """One line per model that runs here and whose entry leaves out its prompt format."""
        left_out = [model for model in self.models.values() if isinstance(model, Model) and model.has_weights]
        return [
            f"{model.name}: {why_taken(model.prompt_template)}"
            for model in left_out
            if model.name in self.without_format
        ]

    def _pairs(self) -> list[tuple[str, str]]:
        return [(model, experiment) for model in self.models for experiment in self.selection.experiments_of(model)]

    def _covers(self, model: str, experiment: str) -> bool:
        entry = self.models[model]
        return not isinstance(entry, RecordedModel) or experiment in entry.files


def load_study(config: Mapping[str, Any], root: Path) -> Study:
    """The study that a config selects from the catalogues in `root`/config.

    Raises `UserError` (one line) for an unknown key or name, a wrong type, or an impossible position.
    """
    check_plain(config, "config")
    read = read_entry(Config, string_keys(config), "config")
    read, mine = _with_my_data(read, root)
    entries = read_catalogues(read, root, mine.entries)
    entries["experiments"], conditions = with_conditions(entries["experiments"], entries["rerankers"])
    read = read.changed(experiments=with_names(read.experiments, conditions))
    selection = select(read, entries, conditions, root)
    data = _read_data(entries, read.seed, root)
    experiments = _read_experiments(selection, entries, data, read, root)
    token_models = [experiment.tokens_of for experiment in experiments.values() if experiment.tokens_of]
    asked = {
        name: entries["models"][name].located(data.datasets, root)
        for name in dict.fromkeys([*selection.models, *token_models])
        if not isinstance(entries["models"][name], RecordedEntry)
    }
    uncounted: dict[str, list[str]] = {}
    for name in selection.models:
        entry = entries["models"][name]
        if not isinstance(entry, RecordedEntry) or entry.tokenizer not in entries["datasets"]:
            continue
        if entries["datasets"][entry.tokenizer].is_to_supply:
            uncounted.setdefault(entry.tokenizer, []).append(name)
            entries["models"][name] = entry.changed(tokenizer=None)
    recorded = {
        name: read_recorded_model(entries["models"][name], entries["experiments"], own, data.datasets, root)
        for name in selection.models
        if name not in asked
        for own in [{one: _run_by(name, experiments[one], selection) for one in selection.experiments_of(name)}]
    }
    study = Study(
        selection=selection,
        models={name: asked.get(name) or recorded[name] for name in selection.models},
        token_models={name: asked[name] for name in token_models},
        experiments=experiments,
        figures={},
        more_figures={},
        published_figures=published_figures(entries["figures"]),
        printed_tokens=read_published_tokens(root / "resources" / "published" / "token_counts.csv"),
        **vars(data),
        relations=read_relations(entries["models"], entries["experiments"]),
        seed=read.seed,
        audited_per_cell=(read.audit or Audit()).prompts_per_cell,
        sampled_per_size=(read.report or Report()).questions_per_size,
        data_mirror=_mirror(read.data_mirror),
        my_data=(*mine.notes, *position_notes(mine, one.cells if (one := experiments.get(MY_POSITIONS)) else ())),
        my_questions=mine.questions,
        without_format=frozenset(n for n in asked if "prompt_template" not in entries["models"][n].model_fields_set),
        conditions={name: one for name, one in conditions.items() if name in experiments},
        page=read.figure_style.page if read.figure_style else None,
        uncounted=uncounted,
        absent={name: words for name, one in asked.items() if isinstance(one, Model) and (words := one.absent(root))},
    )
    _check_answered(study)
    figures = read_figures(read.figures, entries, experiments, study.run, study.conditions)
    more = {} if read.figures is not None else wrong_answer_figures(figures, study.run, study.conditions)
    return replace(study, figures=figures, more_figures=more)


def _read_data(entries: Mapping[str, Mapping[str, Any]], seed: int, root: Path) -> Data:
    """All entries of data, in the order in which they refer to one another; `UserError` for the first mistake."""
    datasets = {name: entry.located(root) for name, entry in entries["datasets"].items() if not entry.is_to_supply}
    check_file_names(datasets)
    asked = entries["questions"]
    files = [*datasets, *(name for name, entry in asked.items() if entry.dataset is not None)]
    corpora = {name: read_corpus(entry, files, seed, root) for name, entry in entries["corpora"].items()}
    retrievers = {name: entry.located(root) for name, entry in entries["retrievers"].items()}
    questions = {
        name: read_question_set(entry, datasets, corpora, retrievers, asked, root) for name, entry in asked.items()
    }
    for retriever in retrievers.values():
        if isinstance(retriever, Recorded):
            choose([retriever.questions], [*datasets, *questions], f"{retriever.where}.questions")
    candidates = {
        name: read_candidates(entry, [*datasets, *questions], corpora, retrievers, seed)
        for name, entry in entries["candidates"].items()
    }
    rerankers = {name: entry.located(root) for name, entry in entries["rerankers"].items()}
    check_one_namespace(datasets=datasets, questions=questions, candidates=candidates)
    return Data(datasets, corpora, retrievers, questions, candidates, rerankers)


def _read_experiments(
    selection: Selection, entries: Mapping[str, Mapping[str, Any]], data: Data, config: Config, root: Path
) -> dict[str, Experiment]:
    """The selected experiments at the sizes that any model runs; `UserError` for the first mistake."""
    experiments = {}
    for name in selection.experiments:
        entry = _as_configured(entries["experiments"][name], config, data.datasets)
        experiments[name] = read_experiment(entry, config.seed, data.files, root).of_sizes(selection.sizes_run(name))
    _check_curves(experiments.values())
    for experiment in experiments.values():
        _check_names(experiment, entries)
        _check_reranker(experiment, data.rerankers, data.files)
        fused = data.rerankers[experiment.rerank].fused_with if experiment.rerank else ()
        for name in (*experiment.datasets.values(), *fused):
            if name in data.candidates:
                check_hits(data.candidates[name], data.retrievers)
            asked = data.candidates[name].questions if name in data.candidates else name
            _check_examples(experiment, asked, data.questions)
    return experiments


def _run_by(model: str, experiment: Experiment, selection: Selection) -> Experiment:
    return experiment.of_sizes(selection.sizes_of(model, experiment.name))


def _as_configured(entry: ExperimentEntry, config: Config, datasets: Mapping[str, Dataset]) -> ExperimentEntry:
    """The entry with the config's settings for all experiments: version of the data, number of questions."""
    entry = entry.with_datasets(lambda name: of_version(name, config.data_version, datasets))
    if config.examples is None:
        return entry
    most = entry.examples if entry.named_datasets and entry.examples else config.examples
    return entry.changed(examples=min(config.examples, most))


def _with_my_data(config: Config, root: Path) -> tuple[Config, MyEntries]:
    """The config with the experiments on the user's own documents, unless it names others; and their entries."""
    if config.my_data is None:
        return config, MyEntries({}, ())
    models = read_catalogue("models", config, root, {})
    selected = {name: models[name] for name in config.models if name in models}
    mine = read_my_data(config.my_data, selected, root)
    default = read_yaml(root / "config" / "config.yaml")
    if config.experiments == tuple(default["experiments"]):
        config = config.changed(experiments=MY_EXPERIMENTS)
    return config, mine


def _check_names(experiment: Experiment, entries: Mapping[str, Mapping]) -> None:
    where = f"experiments.{experiment.name}"
    for key, name in (("closed_book", experiment.closed_book), ("oracle", experiment.oracle)):
        if name is not None:
            choose([name], entries["experiments"], f"{where}.{key}")
    choose(experiment.compared_with, entries["experiments"], f"{where}.compared_with")
    if experiment.name in experiment.compared_with:
        raise UserError(f"{where}.compared_with: it is {experiment.name} itself; name the other one")
    if experiment.tokens_of is not None:
        choose([experiment.tokens_of], entries["models"], f"{where}.tokens_of")
        model = entries["models"][experiment.tokens_of]
        if isinstance(model, RecordedEntry):
            raise UserError(f"{where}.tokens_of: {experiment.tokens_of} has recorded responses and no tokenizer")
        if isinstance(model, ApiModel) and model.tokenizer is None:
            raise UserError(
                f"{where}.tokens_of: {experiment.tokens_of} is run by a server: set the model's 'tokenizer'"
            )
        if isinstance(model, Model) and not model.has_weights:
            raise UserError(f"{where}.tokens_of: {experiment.tokens_of} has no tokenizer")


def _check_examples(experiment: Experiment, name: str, questions: Mapping[str, QuestionSet]) -> None:
    """Raise `UserError` for more examples than a limited question set has."""
    taken = questions[name].questions if name in questions else None
    if taken is not None and (experiment.examples or 0) > taken:
        raise UserError(
            f"experiments.{experiment.name}.examples: {experiment.examples}, but {name} has {taken} questions; raise "
            f"define.questions.{name}.questions, or leave it out for all (null)"
        )


def _check_reranker(experiment: Experiment, rerankers: Mapping[str, Reranker], files: Mapping[str, Any]) -> None:
    if experiment.rerank is None:
        return
    choose([experiment.rerank], rerankers, f"experiments.{experiment.name}.rerank", "yours is one of define.rerankers")
    reranker = rerankers[experiment.rerank]
    where = f"rerankers.{reranker.name}.fused_with"
    for name in choose(reranker.fused_with, files, where):
        if isinstance(files[name], Candidates) and files[name].kind != AS_RETRIEVED:
            raise UserError(f"{where}: {name} is 'kind: {files[name].kind}', no ranking; name 'kind: {AS_RETRIEVED}'")


def _check_answered(study: Study) -> None:
    """Raise `UserError` for a selected experiment without responses of any selected model."""
    answered = {experiment for _, experiment in study.sweeps}
    for name in study.experiments:
        if name not in answered:
            raise UserError(
                f"experiments: none of the selected models ({', '.join(study.models)}) has responses to {name}; add a "
                f"file of them to models.{next(iter(study.models))}.responses, select a model that can be asked, or "
                f"remove {name} from 'experiments'"
            )


def _check_curves(experiments: Iterable[Experiment]) -> None:
    """Raise `UserError` for two curves with one name, which summaries use as folder: `a_10` may be a size of `a`."""
    owner: dict[str, str] = {}
    for experiment in experiments:
        for curve in experiment.curves:
            if owner.setdefault(curve.name, experiment.name) != experiment.name:
                raise UserError(
                    f"experiments.{experiment.name}: {owner[curve.name]} also has a curve named {curve.name}; rename "
                    "one of the two experiments"
                )


def _mirror(folder: str | None) -> str | None:
    if folder is not None and not Path(folder).expanduser().is_dir():
        raise UserError(f"config.data_mirror: {folder} is not a folder")
    return folder
