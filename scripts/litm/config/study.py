"""The study: the config's selection from the catalogues, checked before any job runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from litm.analysis.published import PublishedTokens, read_published_tokens
from litm.base.messages import UserError, first_of
from litm.config.catalogue import CATALOGUES, Audit, Config, Entries, Report, read_catalogue, read_catalogues
from litm.config.conditions import read_relations, with_conditions, with_names
from litm.config.data import (
    Candidates,
    Corpus,
    Dataset,
    QuestionSet,
    Reranker,
    Retriever,
    check_file_names,
    of_version,
)
from litm.config.experiments import Experiment, read_cells, short_limits
from litm.config.figures import Figure, published_figures, read_figures, wrong_answer_figures
from litm.config.model_files import why_taken
from litm.config.models import ApiModel, Model, RecordedModel
from litm.config.my_data import (
    MY_AS_RETRIEVED,
    MY_EXPERIMENTS,
    MY_POSITIONS,
    MyEntries,
    position_notes,
    read_my_data,
    retrieved_notes,
)
from litm.config.schema import Entry, check_plain, choose, read_entry, string_keys, text_names
from litm.config.yaml_files import read_yaml
from litm.figures.kinds import Page
from litm.placements import AS_RETRIEVED
from litm.prompting.prompt_format import CHAT, RAW
from litm.records import Condition, Curve

#: Kinds that `dataset` of an experiment may name, so that they share their names.
FILES = ("datasets", "questions", "candidates")
#: Experiments that a model runs, each with its sizes, None for all.
Limits = dict[str, tuple[int, ...] | None]


@dataclass(frozen=True)
class Selection:
    """The names of models and experiments, in the config's order.

    only: experiments and sizes of a model that does not run all of them; left_out: one line per reason why selected
    models or experiments are missing.
    """

    models: tuple[str, ...]
    experiments: tuple[str, ...]
    only: Mapping[str, Limits]
    left_out: tuple[str, ...]

    def experiments_of(self, model: str) -> tuple[str, ...]:
        """Experiments that a model runs."""
        return tuple(self.only.get(model, self.experiments))

    def of(self, model: str, experiment: Experiment) -> Experiment:
        """An experiment at the sizes that a model runs."""
        return experiment.of_sizes(self.only.get(model, {}).get(experiment.name))

    def sizes_run(self, experiment: str) -> set[int] | None:
        """Sizes of an experiment that any model runs, None for all."""
        models = [model for model in self.models if experiment in self.experiments_of(model)]
        of_models = [self.only.get(model, {}).get(experiment) for model in models]
        return None if None in of_models else {size for sizes in of_models for size in sizes or ()}


def select(config: Config, entries: Entries, conditions: Mapping[str, Condition], root: Path) -> Selection:
    """The config's selection from `entries`.

    root: the project's folder, where paths of models are searched too. conditions: of experiments with remedies, by
    experiment; `only` includes them with their experiment. Recorded responses and files that are null in the catalogue
    must be supplied by the user: models and experiments without them are left out, and so are those that `only` leaves
    empty. Raises `UserError` for an unknown name and for an empty selection.
    """

    def is_installed(name: str) -> bool:
        return isinstance(model := entries["models"][name], Model) and model.is_here(root)

    own = "a model of your own is an entry of define.models"
    models = choose(config.models, entries["models"], "models", own, is_installed)
    experiments = choose(config.experiments, entries["experiments"], "experiments")
    only = {
        model: _with_conditions(_read_limits(named, entries["experiments"], f"only.{model}"), entries, conditions)
        for model, named in (config.only or {}).items()
        if choose([model], entries["models"], "only") and named is not None
    }
    unrecorded = [name for name in models if getattr(entries["models"][name], "is_to_supply", False)]
    lacking = {name: _to_supply(entries["experiments"][name], entries["datasets"]) for name in experiments}
    pairs = [
        (model, experiment)
        for model in models
        for experiment in experiments
        if model not in unrecorded and not lacking[experiment] and experiment in only.get(model, experiments)
    ]
    run_models, run_experiments = (tuple(dict.fromkeys(pair[part] for pair in pairs)) for part in (0, 1))
    reasons: list[tuple[list[str], str]] = [
        (unrecorded, "their recorded responses are yours to supply: set 'responses' of these in define.models"),
        *(
            ([name], f"a file is yours to supply: set the 'path' of {missing[0]} in define.datasets")
            for name, missing in lacking.items()
            if missing
        ),
        (
            [name for name in models if name not in (*run_models, *unrecorded)],
            "'only' gives these models none of the experiments that are run",
        ),
        (
            [name for name in experiments if name not in run_experiments and not lacking[name]],
            "'only' gives these experiments to none of the models that are run",
        ),
    ]
    left_out = tuple(f"left out: {', '.join(names)} ({reason})" for names, reason in reasons if names)
    if not pairs:
        raise UserError(f"nothing is left to run; {'; '.join(left_out)}")
    limited = {
        name: {one: only[name][one] for one in run_experiments if one in only[name]}
        for name in run_models
        if name in only
    }
    return Selection(run_models, run_experiments, limited, left_out)


def _read_limits(named: Iterable, experiments: Mapping[str, Experiment], where: str) -> Limits:
    """The named experiments with their sizes; `UserError` for an unknown experiment, or a size that it lacks."""
    pairs = [pair for one in named for pair in ([(one, None)] if isinstance(one, str) else one.items())]
    choose((name for name, _ in pairs), experiments, where)
    limits: Limits = {}
    for name, given in pairs:
        there, sizes = _sizes(experiments[name]), None if given is None else tuple(sorted({*given}))
        if unknown := [size for size in sizes or () if size not in there]:
            raise UserError(f"{where}.{name}: the experiment has no size {unknown[0]}; choose from {there}")
        sizes = None if sizes == tuple(there) else sizes
        if limits.setdefault(name, sizes) != sizes:
            raise UserError(f"{where}: {name} occurs twice with different sizes; name it once, with all of its sizes")
    return limits


def _sizes(experiment: Experiment) -> list[int]:
    return sorted({cell.size for cell in read_cells(experiment)})


def _with_conditions(limits: Limits, entries: Entries, conditions: Mapping[str, Condition]) -> Limits:
    """The limits with the conditions of experiments with remedies, each at its own sizes among these."""
    found = dict(limits)
    for name, sizes in limits.items():
        for one in with_names([name], conditions):
            shared = sizes and tuple(size for size in sizes if size in _sizes(entries["experiments"][one]))
            if shared != ():
                found.setdefault(one, shared)
    return found


def _to_supply(experiment: Experiment, datasets: Mapping[str, Dataset]) -> list[str]:
    """The datasets of an experiment that the user must still supply."""
    named = [*experiment.named_datasets, *filter(None, [experiment.subset])]
    return [name for name in named if name in datasets and datasets[name].is_to_supply]


# --- The study


@dataclass(frozen=True)
class Study:
    """The selected models, experiments and figures, and all data entries.

    selection: which models run which experiments. token_models: models, selected or not, whose tokens count the sizes
    of an experiment. figures: those that the config names or implies. more_figures: of wrong answers.
    published_figures: those with published values, selected or not. printed_tokens: lengths of the paper's prompts.
    relations: see `conditions.read_relations`. audited_per_cell: prompts per cell that an audit asks again.
    sampled_per_size: questions per experiment and size that the report shows in full. my_data: lines on the choices for
    the user's own documents; my_questions: the number of their questions. without_format: models whose entries leave
    out their prompt template. conditions: of the selected experiments with remedies, by experiment.
    page: width and text size of figures, None for the default. absent: by model, the words for its package that is not
    installed. uncounted: models without their tokenizer, by the dataset that the user must still supply. examples:
    the config's number of questions.
    """

    selection: Selection
    models: Mapping[str, Model | ApiModel | RecordedModel]
    token_models: Mapping[str, Model | ApiModel]
    experiments: Mapping[str, Experiment]
    published_figures: Mapping[str, Figure]
    printed_tokens: Sequence[PublishedTokens]
    relations: Mapping[str, Any]
    seed: int
    audited_per_cell: int
    sampled_per_size: int
    data_mirror: str | None
    datasets: Mapping[str, Dataset]
    corpora: Mapping[str, Corpus]
    retrievers: Mapping[str, Retriever]
    questions: Mapping[str, QuestionSet]
    candidates: Mapping[str, Candidates]
    rerankers: Mapping[str, Reranker]
    figures: Mapping[str, Figure] = field(default_factory=dict)
    more_figures: Mapping[str, Figure] = field(default_factory=dict)
    my_data: tuple[str, ...] = ()
    my_questions: int = 0
    without_format: frozenset[str] = frozenset()
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    page: Page | None = None
    absent: Mapping[str, str] = field(default_factory=dict)
    uncounted: Mapping[str, Sequence[str]] = field(default_factory=dict)
    examples: int | None = None

    def questions_of(self, experiment: Experiment) -> int | None:
        """The number of questions in an experiment's data, None if only a run can tell."""
        condition = self.conditions.get(experiment.name)
        name = condition.study if condition else experiment.name
        return self.my_questions if self.my_questions and name in MY_EXPERIMENTS else None

    @property
    def sweeps(self) -> list[tuple[str, str]]:
        """Pairs of a selected model and experiment that have responses, model by model."""
        missing = {*self.not_recorded}
        return [pair for pair in self._pairs() if pair not in missing]

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
        return self.selection.of(model, self.experiments[experiment])

    def curves_of(self, model: str, experiment: str) -> list[Curve]:
        """The curves of an experiment that a model runs, with the same names for all models."""
        sizes = self.experiment_of(model, experiment).cell_sizes
        return [curve for curve in self.experiments[experiment].curves if curve.size in sizes]

    @property
    def not_recorded(self) -> list[tuple[str, str]]:
        """Selected pairs without recorded responses."""
        recorded = {name: one.files for name, one in self.models.items() if isinstance(one, RecordedModel)}
        return [pair for pair in self._pairs() if pair[0] in recorded and pair[1] not in recorded[pair[0]]]

    @property
    def left_out(self) -> list[str]:
        """One line per reason why something selected is left out."""
        pairs = ", ".join(map("/".join, self.not_recorded))
        return [
            *self.selection.left_out,
            *([f"no recorded responses, left out: {pairs}"] if pairs else []),
            *(
                f"no tokens are counted: {', '.join(models)} (a file is yours to supply: set the 'path' of {name} in "
                "define.datasets)"
                for name, models in self.uncounted.items()
            ),
        ]

    @property
    def notes(self) -> list[str]:
        """Lines to print before a run: models that are not installed, parts of the selection that are left out, choices
        made by default, numbers of questions below the config's, limits of new tokens that are likely to be too low.
        """
        absent = [f"models.{model}.package: {words}" for model, words in self.absent.items()]
        return [*absent, *self.my_data, *self.left_out, *self.not_raised, *self.prompt_formats, *self.short_limits]

    @property
    def not_raised(self) -> list[str]:
        """A line on the experiments with fewer questions than the config's `examples`, if any."""
        asked, numbers = self.examples or 0, {name: self.most_questions(one) for name, one in self.experiments.items()}
        fewer = [f"{name} {number:,}" for name, number in numbers.items() if 0 < number < asked]
        if not fewer:
            return []
        return [
            f"examples: {asked:,} is more than some have: {first_of(fewer, 3)}; their file has no more, or their entry "
            "says so (define.experiments.NAME.examples)"
        ]

    @property
    def short_limits(self) -> list[str]:
        """Lines on limits of new tokens that are likely to cut right answers, of experiments that are asked."""
        asked = {experiment for model, experiment in self.sweeps if not isinstance(self.models[model], RecordedModel)}
        return list(short_limits(one for name, one in self.experiments.items() if name in asked))

    @property
    def prompt_formats(self) -> list[str]:
        """One line per model that runs here and whose entry leaves out its prompt format."""
        return [
            f"{name}: {why_taken(one.prompt_template)}"
            for name, one in self.models.items()
            if isinstance(one, Model) and one.has_weights and name in self.without_format
        ]

    def curve_questions(self, experiment: Experiment) -> int:
        """The number of questions of an experiment's curves, as far as it is known before a run; 0 without curves."""
        return self.most_questions(experiment) if experiment.has_positions and not experiment.asks_several else 0

    def most_questions(self, experiment: Experiment) -> int:
        """The most questions that an experiment has; 0 if that is not known before a run."""
        return min(filter(None, (experiment.examples, self.questions_of(experiment))), default=0)

    def _pairs(self) -> list[tuple[str, str]]:
        return [(model, experiment) for model in self.models for experiment in self.selection.experiments_of(model)]


def load_study(config: Mapping[str, Any], root: Path) -> Study:
    """The study that a config selects from the catalogues in `root`/config.

    Raises `UserError` (one line) for an unknown key or name, a wrong type, or an impossible position.
    """
    check_plain(config, "config")
    read = read_entry(Config, string_keys(config), "config")
    read, mine = _with_my_data(read, root)
    entries = read_catalogues(root, read, mine.entries)
    entries["experiments"], conditions = with_conditions(entries["experiments"])
    read = read.changed(experiments=with_names(read.experiments, conditions))
    selection = select(read, entries, conditions, root)
    entries |= _texts(root)
    _check_references(entries)
    data = _read_data(entries, read.seed, root)
    experiments = _read_experiments(selection, entries, data, read, root)
    models, uncounted = _read_models(selection, entries, experiments, {**data, **_texts(root)}, root)
    study = Study(
        selection=selection,
        models={name: models[name] for name in selection.models},
        token_models={one.tokens_of: models[one.tokens_of] for one in experiments.values() if one.tokens_of},
        experiments=experiments,
        published_figures=published_figures(entries["figures"]),
        printed_tokens=read_published_tokens(root / "resources" / "published" / "token_counts.csv"),
        relations=read_relations(entries["models"], entries["experiments"]),
        seed=read.seed,
        audited_per_cell=(read.audit or Audit()).prompts_per_cell,
        sampled_per_size=(read.report or Report()).questions_per_size,
        data_mirror=_mirror(read.data_mirror),
        my_data=(
            *mine.notes,
            *position_notes(mine, one.cells if (one := experiments.get(MY_POSITIONS)) else ()),
            *retrieved_notes(one.cell_sizes if (one := experiments.get(MY_AS_RETRIEVED)) else ()),
        ),
        my_questions=mine.questions,
        without_format=frozenset(
            name
            for name, one in models.items()
            if not isinstance(one, RecordedModel) and "prompt_template" not in entries["models"][name].model_fields_set
        ),
        conditions={name: one for name, one in conditions.items() if name in experiments},
        page=read.figure_style.page if read.figure_style else None,
        uncounted=uncounted,
        examples=read.examples,
        absent={name: words for name, one in models.items() if isinstance(one, Model) and (words := one.absent(root))},
        **data,
    )
    _check_answered(study)
    figures = read_figures(
        read.figures, entries["figures"], entries["models"], experiments, study.run, study.conditions
    )
    more = {} if read.figures is not None else wrong_answer_figures(figures, study.run, study.conditions)
    return replace(study, figures=figures, more_figures=more)


def _texts(root: Path) -> dict[str, dict[str, None]]:
    """The names of texts that entries refer to, by kind."""
    prompts, templates = (text_names(root / "resources" / kind) for kind in ("prompts", "prompt_templates"))
    return {"prompts": dict.fromkeys(prompts), "prompt_templates": dict.fromkeys([RAW, CHAT, *templates])}


def _supplied(entries: Entries) -> dict[str, Mapping[str, Any]]:
    """The entries without datasets that the user must still supply."""
    return {**entries, "datasets": {name: one for name, one in entries["datasets"].items() if not one.is_to_supply}}


def _check_references(entries: Entries) -> None:
    """Raise `UserError` for a name of another entry that is unknown.

    Experiments and models that name a file that the user must still supply are left out instead.
    """
    for kind in CATALOGUES:
        known = entries if kind in ("models", "experiments") else _supplied(entries)
        for entry in entries[kind].values():
            entry.check_references(known)


def _read_data(entries: Entries, seed: int, root: Path) -> dict[str, dict[str, Any]]:
    """All entries of data, with their paths, by kind and name; `UserError` for the first mistake."""
    known = _supplied(entries)
    kinds = ("datasets", "corpora", "retrievers", "questions", "candidates", "rerankers")
    data = {kind: {name: one.located(root, known) for name, one in known[kind].items()} for kind in kinds}
    check_file_names(data["datasets"])
    owner: dict[str, str] = {}
    for kind in FILES:
        for name in data[kind]:
            if owner.setdefault(name, kind) != kind:
                raise UserError(f"{kind}.{name}: {owner[name]} has an entry of that name too; rename one")
    for kind in ("corpora", "candidates"):
        data[kind] = {name: one.changed(seed=seed) for name, one in data[kind].items()}
    data["questions"] = {
        name: one.with_source(data["corpora"], data["questions"]) for name, one in data["questions"].items()
    }
    return data


def _read_experiments(
    selection: Selection, entries: Entries, data: Mapping[str, Mapping], config: Config, root: Path
) -> dict[str, Experiment]:
    """The selected experiments at the sizes that any model runs; `UserError` for the first mistake."""
    experiments: dict[str, Experiment] = {}
    files = {name: one for kind in FILES for name, one in data[kind].items()}
    for name in selection.experiments:
        entry = _as_configured(entries["experiments"][name], config, data["datasets"])
        experiments[name] = entry.of_study(config.seed, files, root).of_sizes(selection.sizes_run(name))
    _check_curves(experiments.values())
    for experiment in experiments.values():
        _check_tokens(experiment, entries["models"])
        fused = data["rerankers"][experiment.rerank].fused_with if experiment.rerank else ()
        for name in fused:
            if isinstance(files[name], Candidates) and files[name].kind != AS_RETRIEVED:
                raise UserError(
                    f"rerankers.{experiment.rerank}.fused_with: {name} is 'kind: {files[name].kind}', no ranking; name "
                    f"'kind: {AS_RETRIEVED}'"
                )
        for name in (*experiment.datasets.values(), *fused):
            if name in data["candidates"]:
                data["candidates"][name].check_hits(data["retrievers"])
            asked = data["candidates"][name].questions if name in data["candidates"] else name
            _check_examples(experiment, asked, data["questions"])
    return experiments


def _read_models(
    selection: Selection, entries: Entries, experiments: Mapping[str, Experiment], known: Entries, root: Path
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """The selected models, and those that count tokens, with the paths of their files; and models whose tokenizer the
    user must still supply, by its dataset. known: data and names of texts by kind.
    """
    models: dict[str, Any] = {}
    uncounted: dict[str, list[str]] = {}
    counting = [one.tokens_of for one in experiments.values() if one.tokens_of]
    for name in dict.fromkeys([*selection.models, *counting]):
        entry = entries["models"][name]
        if not isinstance(entry, RecordedModel):
            models[name] = entry.located(root, known)
            continue
        dataset = entries["datasets"].get(entry.tokenizer or "")
        if dataset is not None and dataset.is_to_supply:
            uncounted.setdefault(dataset.name, []).append(name)
            entry = entry.changed(tokenizer=None)
        own = {one: selection.of(name, experiments[one]) for one in selection.experiments_of(name)}
        models[name] = entry.with_files(own, root, known)
    return models, uncounted


def _as_configured(entry: Experiment, config: Config, datasets: Mapping[str, Dataset]) -> Experiment:
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
    models = read_catalogue("models", root, config)
    mine = read_my_data(config.my_data, {name: models[name] for name in config.models if name in models}, root)
    default = read_yaml(root / "config" / "config.yaml")
    if config.experiments == tuple(default["experiments"]):
        config = config.changed(experiments=MY_EXPERIMENTS)
    return config, mine


def _check_tokens(experiment: Experiment, models: Mapping[str, Entry]) -> None:
    """Raise `UserError` for a model in `tokens_of` without a tokenizer."""
    model, name = models.get(experiment.tokens_of or ""), experiment.tokens_of
    wrong = {
        "has recorded responses and no tokenizer": isinstance(model, RecordedModel),
        "is run by a server: set the model's 'tokenizer'": isinstance(model, ApiModel) and model.tokenizer is None,
        "has no tokenizer": isinstance(model, Model) and not model.has_weights,
    }
    for words, is_wrong in wrong.items():
        if is_wrong:
            raise UserError(f"{experiment.where}.tokens_of: {name} {words}")


def _check_examples(experiment: Experiment, name: str, questions: Mapping[str, QuestionSet]) -> None:
    """Raise `UserError` for more examples than a limited question set has."""
    taken = questions[name].questions if name in questions else None
    if taken is not None and (experiment.examples or 0) > taken:
        raise UserError(
            f"{experiment.where}.examples: {experiment.examples}, but {name} has {taken} questions; raise "
            f"define.questions.{name}.questions, or leave it out for all (null)"
        )


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
