"""The study: the config's selection from the catalogues, checked before any job runs."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from litm.analysis.published import PublishedTokens, read_published_tokens
from litm.base.extensions import files, merged, use
from litm.base.json_files import read_lines
from litm.base.messages import UserError, first_of
from litm.base.schema import check_plain, extension_folder, read_entry, string_keys, text_names
from litm.config.beside import read_beside, with_others
from litm.config.catalogue import CATALOGUES, Audit, Config, Entries, Report, read_catalogue, read_catalogues
from litm.config.conditions import read_relations, with_conditions, with_names
from litm.config.data import Corpus, Dataset, QuestionSet, check_file_names, of_version
from litm.config.experiment_checks import check_measured_orders, checked_experiment, short_limits
from litm.config.experiments import Experiment
from litm.config.figures import Figure, published_figures, read_figures
from litm.config.my_data import MyEntries, read_my_data
from litm.config.my_haystack import read_haystack
from litm.config.my_session import read_session_entries
from litm.config.recorded_cells import with_recorded_cells, with_sizes
from litm.config.retrieval import Candidates, Reranker, Retriever
from litm.config.selection import select
from litm.config.sweeps import AskableModel, Selection, Sweeps
from litm.config.writing import writings_of, written_sets
from litm.config.yaml_files import read_yaml
from litm.engines.model_entries import AnyModel
from litm.engines.model_files import why_taken
from litm.figures.kinds import Page
from litm.placements import AS_RETRIEVED
from litm.prompting.prompt_format import CHAT, RAW
from litm.questions.own_questions import read_rows
from litm.records.measures import ANSWER, LOG_PROBABILITY

#: The folder of a study's own answers.
OWN_ANSWERS = "results/answers"
#: Kinds that `dataset` of an experiment may name, so that they share their names.
FILES = ("datasets", "questions", "candidates")
#: Kinds of entries with data, and what is made of it.
DATA = ("datasets", "corpora", "retrievers", "questions", "candidates", "rerankers")


@dataclass(frozen=True)
class Study(Sweeps):
    """The selected models, experiments and figures, and all data entries."""

    token_models: Mapping[str, AskableModel]
    """Models, selected or not, whose tokens count the sizes of an experiment."""
    published_figures: Mapping[str, Figure]
    """Figures with published values, selected or not."""
    printed_tokens: Sequence[PublishedTokens]
    """Lengths of the paper's prompts."""
    relations: Mapping[str, Any]
    """Relations of models and experiments, see `conditions.read_relations`."""
    seed: int
    """Seed of all random choices."""
    audited_per_cell: int
    """Number of prompts per cell that an audit asks again."""
    sampled_per_size: int
    """Number of questions per experiment and size that the report shows in full."""
    data_mirror: str | None
    """Folder that is searched for remote files before they are downloaded."""
    answer_folders: tuple[str, ...]
    """Folders of kept answers; new ones go into the first that can be written."""
    datasets: Mapping[str, Dataset]
    """All files of data by name, needed or not; so are the next five."""
    corpora: Mapping[str, Corpus]
    """Collections of passages."""
    retrievers: Mapping[str, Retriever]
    """Methods that find passages."""
    questions: Mapping[str, QuestionSet]
    """Sets of questions with their gold passages."""
    candidates: Mapping[str, Candidates]
    """Sets of documents for each question of a set."""
    rerankers: Mapping[str, Reranker]
    """Methods that order candidates."""
    figures: Mapping[str, Figure] = field(default_factory=dict)
    """Figures that the config names or implies, except the one of all indexes."""
    my_data: tuple[str, ...] = ()
    """Lines on the choices for the user's own documents."""
    page: Page | None = None
    """Width and text size of figures, None for the default."""
    absent: Mapping[str, str] = field(default_factory=dict)
    """Words for the package of each model whose package is not installed."""
    uncounted: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Models without their tokenizer, by the dataset that the user must still supply."""
    examples: int | None = None
    """The config's number of questions."""

    @property
    def left_out(self) -> list[str]:
        """One line per reason why something selected is left out."""
        pairs = ", ".join(map("/".join, self.not_recorded))
        unmeasured = ", ".join(f"{model} ({why})" for model, why in self.not_measured.items())
        return [
            *self.selection.left_out,
            *([f"no log-probabilities, left out: {unmeasured}"] if unmeasured else []),
            *([f"no recorded responses, left out: {pairs}"] if pairs else []),
            *(
                f"no file of recorded responses of {' to '.join(sweep.pair)} at {first_of(cells, 4)}: not recorded"
                for sweep in self.sweeps_of(ANSWER)
                if sweep.model.is_recorded and (cells := sweep.model.without_file(sweep.experiment))
            ),
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
        alone = ["no report, which is of answers: 'measure' asks for none"] if self.sweeps and not self.answered else []
        others = [*self.not_raised, *self.prompt_formats, *self.short_limits]
        return [*absent, *self.my_data, *self.left_out, *alone, *others]

    @property
    def not_raised(self) -> list[str]:
        """A line on the experiments with fewer questions than the config's `examples`, if any."""
        asked, numbers = (self.examples or 0, {name: entry.most_questions for name, entry in self.experiments.items()})
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
        asked = {sweep.experiment.name for sweep in self.sweeps_of(ANSWER) if sweep.is_asked}
        return list(short_limits(experiment for name, experiment in self.experiments.items() if name in asked))

    @property
    def prompt_formats(self) -> list[str]:
        """One line per model that runs here and whose entry leaves out its prompt format."""
        return [
            f"{name}: {why_taken(model.prompt_template)}"
            for name, model in self.models.items()
            if model.has_weights and model.leaves_format_out
        ]


def load_study(config: Mapping[str, Any], root: Path) -> Study:
    """The study that a config selects from the catalogues in `root`/config.

    Raises `UserError` (one line) for an unknown key or name, a wrong type, or an impossible position.
    """
    check_plain(config, "config")
    read = read_entry(Config, string_keys(config), "config")
    use(extension_folder(name, root) for name in read.extensions)
    read, mine = _with_my_data(with_others(read, root), root)
    entries = read_catalogues(root, read, mine.entries)
    my_entries = {name: entries["experiments"][name] for name in mine.experiments}
    clustered = [entry for entry in my_entries.values() if entry.cluster]
    shared = {name: entry.cluster for entry in clustered for name in (entry.closed_book, entry.oracle)}
    # References ask the same questions, so that their intervals have the same clusters.
    my_entries = {name: entry.changed(cluster=entry.cluster or shared.get(name)) for name, entry in my_entries.items()}
    entries["experiments"] = with_conditions(entries["experiments"] | my_entries)
    read = read.changed(experiments=with_names(read.experiments, entries["experiments"]))
    entries["experiments"], sizes = with_recorded_cells(read, entries, root)
    selection = with_sizes(select(read, entries, root), sizes)
    entries |= _texts(root)
    _check_references(entries)
    data = _read_data(entries, read.seed, root)
    experiments = _read_experiments(selection, entries, data, read, root)
    _check_clusters(experiments.values(), mine)
    _check_metrics(experiments)
    writings = writings_of(
        entry for asked in experiments.values() for entry in written_sets(asked, data["candidates"], data["questions"])
    )
    writers = dict.fromkeys(writing.asker for writing in writings.values())
    models, uncounted = _read_models(selection, entries, experiments, {**entries, **data}, root, writers)
    study = Study(
        selection=selection,
        models={name: models[name] for name in selection.models},
        judges={entry.judge.model: models[entry.judge.model] for entry in experiments.values() if entry.judge},
        writers={name: models[name] for name in writers},
        writings=writings,
        beside=read_beside(read, entries, experiments, {**entries, **data}, root),
        token_models={entry.tokens_of: models[entry.tokens_of] for entry in experiments.values() if entry.tokens_of},
        experiments=experiments,
        published_figures=published_figures(entries["figures"]),
        printed_tokens=read_published_tokens(root / "resources" / "published" / "token_counts.csv"),
        relations=read_relations(entries["models"], entries["experiments"]),
        seed=read.seed,
        audited_per_cell=(read.audit or Audit()).prompts_per_cell,
        sampled_per_size=(read.report or Report()).questions_per_size,
        data_mirror=_mirror(read.data_mirror),
        answer_folders=answer_folders(read.answers),
        my_data=tuple(mine.lines({name: entry.cells for name, entry in experiments.items()})),
        conditions={
            name: entry.condition
            for name, entry in entries["experiments"].items()
            if entry.condition and name in experiments
        },
        page=read.figure_style.page if read.figure_style else None,
        uncounted=uncounted,
        examples=read.examples,
        absent={name: words for name, model in models.items() if model.is_local and (words := model.absent(root))},
        **data,
    )
    _check_answered(study)
    return replace(study, figures=read_figures(read.figures, entries["figures"], study))


def _texts(root: Path) -> dict[str, dict[str, None]]:
    """The names of texts that entries refer to, by kind."""

    def names_of(kind: str, *built_in: str) -> dict[str, None]:
        names = dict.fromkeys([*built_in, *text_names(root / "resources" / kind)])
        return merged(kind, names, ((file, {file.stem: None}) for file in files(kind)))

    return {"prompts": names_of("prompts"), "prompt_templates": names_of("prompt_templates", RAW, CHAT)}


def _supplied(entries: Entries) -> dict[str, Mapping[str, Any]]:
    """The entries without datasets that the user must still supply."""
    return {**entries, "datasets": {name: file for name, file in entries["datasets"].items() if not file.is_to_supply}}


def _check_references(entries: Entries) -> None:
    """Raise `UserError` for a name of another entry that is unknown.

    Experiments and models that name a file that the user must still supply are left out instead.
    """
    for kind in CATALOGUES:
        available = entries if kind in ("models", "experiments") else _supplied(entries)
        for entry in entries[kind].values():
            entry.check_references(available)


def _read_data(entries: Entries, seed: int, root: Path) -> dict[str, dict[str, Any]]:
    """All entries of data, with their paths, by kind and name; `UserError` for the first mistake."""
    available = _supplied(entries)
    data = {kind: {name: entry.located(root, available) for name, entry in available[kind].items()} for kind in DATA}
    check_file_names(data["datasets"])
    owner: dict[str, str] = {}
    for kind in FILES:
        for name in data[kind]:
            if owner.setdefault(name, kind) != kind:
                raise UserError(f"{kind}.{name}: {owner[name]} has an entry of that name too; rename one")
    for kind in ("corpora", "candidates"):
        data[kind] = {name: entry.changed(seed=seed) for name, entry in data[kind].items()}
    data["questions"] = {
        name: entry.with_source(data["corpora"], data["questions"]) for name, entry in data["questions"].items()
    }
    return data


def _read_experiments(
    selection: Selection, entries: Entries, data: Mapping[str, Mapping], config: Config, root: Path
) -> dict[str, Experiment]:
    """The selected experiments at the sizes that any model runs; `UserError` for the first mistake."""
    experiments: dict[str, Experiment] = {}
    files = {name: entry for kind in FILES for name, entry in data[kind].items()}
    count = _counter(files)
    for name in selection.experiments:
        entry = _as_configured(entries["experiments"][name], config, data["datasets"])
        selected = checked_experiment(entry, config.seed, files, root).of_sizes(selection.sizes_run(name))
        counts = [count(file) for file in {*selected.datasets.values()}]
        if selected.judge:
            _check_judge(selected, entries["models"])
            selected = selected.changed(judge=selected.judge.placed(f"{selected.where}.judge").located(root, {}))
        experiments[name] = selected.changed(
            known_questions=max(counts, default=0) if all(counts) and not selected.held_out else 0
        )
    check_measured_orders(experiments, selection.sizes)
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


def _counter(files: Mapping[str, Any]) -> Callable[[str], int]:
    """The function from the name of one of these files to the most questions that it has; 0 if that is not known before
    a run, and for a damaged file, which its job reports. Each local file is read once.
    """

    @cache
    def count(name: str) -> int:
        entry = files[name]
        if isinstance(entry, Candidates):
            return count(entry.questions)
        is_dataset = isinstance(entry, Dataset)
        if not is_dataset and (entry.questions or entry.gold_of):
            return entry.questions or count(entry.gold_of)
        path = entry.path if is_dataset else entry.file
        read: Callable[[Path], Iterable] = read_lines if is_dataset else read_rows
        try:
            return sum(1 for _ in read(Path(path))) if path else 0
        except (UserError, OSError):
            return 0

    return count


def _read_models(
    selection: Selection,
    entries: Entries,
    experiments: Mapping[str, Experiment],
    available: Entries,
    root: Path,
    writers: Iterable[str],
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """The selected models, those that count tokens, that judge and that write questions, with the paths of their files;
    and models whose tokenizer the user must still supply, by its dataset. available: data and names of texts by kind.
    Raises `UserError` for a writer that cannot be asked.
    """
    models: dict[str, Any] = {}
    uncounted: dict[str, list[str]] = {}
    counting = [experiment.tokens_of for experiment in experiments.values() if experiment.tokens_of]
    judging = [experiment.judge.model for experiment in experiments.values() if experiment.judge]
    for name in writers:
        if entries["models"][name].is_recorded:
            raise UserError(f"config.my_data.questions: {name} has recorded responses; name a model that can be asked")
    for name in dict.fromkeys([*selection.models, *counting, *judging, *writers]):
        entry = entries["models"][name]
        if not entry.is_recorded:
            models[name] = entry.located(root, available)
            continue
        dataset = entries["datasets"].get(entry.tokenizer or "")
        if dataset is not None and dataset.is_to_supply:
            uncounted.setdefault(dataset.name, []).append(name)
            entry = entry.changed(tokenizer=None)
        run = {
            experiment: selection.as_run_by(name, experiments[experiment])
            for model, experiment in selection.sizes
            if model == name
        }
        models[name] = entry.with_files(run, root, available)
    return models, uncounted


def _as_configured(entry: Experiment, config: Config, datasets: Mapping[str, Dataset]) -> Experiment:
    """The entry with the config's settings for all experiments: version of the data, number of questions."""
    entry = entry.with_datasets(lambda name: of_version(name, config.data_version, datasets))
    if config.examples is None or not entry.has_prompts:
        return entry
    most = entry.examples if entry.named_datasets and entry.examples else config.examples
    return entry.changed(examples=min(config.examples, most))


def _with_my_data(config: Config, root: Path) -> tuple[Config, MyEntries]:
    """The config with the experiments on the user's own documents, unless it names others; and their entries."""
    if config.my_data is None:
        return config, MyEntries({})
    models = read_catalogue("models", root, config)
    config.my_data.placed("config.my_data").check_references({"models": models})
    without_questions = read_session_entries if config.my_data.session else read_haystack
    read = read_my_data if config.my_data.questions else without_questions
    mine = read(config.my_data, {name: models[name] for name in config.models if name in models}, root)
    default = read_yaml(root / "config" / "config.yaml")
    if config.experiments == tuple(default["experiments"]):
        config = config.changed(experiments=mine.experiments)
    return config, mine


def _check_tokens(experiment: Experiment, models: Mapping[str, AnyModel]) -> None:
    """Raise `UserError` for a model in `tokens_of` without a tokenizer."""
    model = models.get(experiment.tokens_of or "")
    if model is not None and model.not_counting:
        raise UserError(f"{experiment.where}.tokens_of: {experiment.tokens_of} {model.not_counting}")


def _check_judge(experiment: Experiment, models: Mapping[str, Any]) -> None:
    """Raise `UserError` for a judge that cannot be asked."""
    name = experiment.judge.model if experiment.judge else ""
    if models[name].is_recorded:
        raise UserError(
            f"{experiment.where}.judge.model: {name} has recorded responses; name a model that can be asked, or read "
            "verdicts of others with litm.curves (docs/judged.md)"
        )


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
    measured = {experiment for _, experiment in study.pairs(LOG_PROBABILITY)}
    for name, experiment in study.experiments.items():
        if LOG_PROBABILITY in experiment.measure and name not in measured:
            reasons = ", ".join(f"{model}: {why}" for model, why in study.not_measured.items())
            raise UserError(
                f"{experiment.where}.measure: none of the selected models can measure {LOG_PROBABILITY} ({reasons}); "
                "select one that can, or remove it"
            )
        if ANSWER in experiment.measure and name not in study.answered:
            raise UserError(
                f"experiments: none of the selected models ({', '.join(study.models)}) has responses to {name}; add a "
                f"file of them to models.{next(iter(study.models))}.responses, select a model that can be asked, or "
                f"remove {name} from 'experiments'"
            )


def _check_clusters(experiments: Iterable[Experiment], mine: MyEntries) -> None:
    """Raise `UserError` for a cluster on the user's own questions that neither they nor documents have."""
    files = {name for kind in mine.entries.keys() & {*FILES} for name in mine.entries[kind]}
    for entry in experiments:
        if (
            entry.cluster
            and files.issuperset(entry.datasets.values())
            and entry.cluster not in (*mine.kept, "title", "id")
        ):
            words = f"the questions have no column {entry.cluster!r} (also kept: {', '.join(mine.kept) or 'none'})"
            raise UserError(f"{entry.where}.cluster: {words}; name another, or take 'cluster' out")


def _check_metrics(experiments: Mapping[str, Experiment]) -> None:
    """Raise `UserError` for an experiment whose references have another metric: they could not be compared with it."""
    for entry, key in product(experiments.values(), ("closed_book", "oracle")):
        other = experiments.get(getattr(entry, key) or "")
        if other and other.metric != entry.metric:
            raise UserError(
                f"{entry.where}.metric: {entry.metric}, but its {key} {other.name} is scored by {other.metric}; "
                f"give both the same 'metric', or set '{key}' to null"
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


def answer_folders(shared: str | None = None) -> tuple[str, ...]:
    """The folders of kept answers, a shared one first. shared: the config's, before that of the environment."""
    shared = shared or os.environ.get("LITM_ANSWERS")
    if shared and not Path(shared).expanduser().is_dir():
        raise UserError(
            f"config.answers: {shared} is not a folder: make it first, with its rights for those who share it"
        )
    return (*([str(Path(shared).expanduser())] if shared else []), OWN_ANSWERS)


def _mirror(folder: str | None) -> str | None:
    if folder is not None and not Path(folder).expanduser().is_dir():
        raise UserError(f"config.data_mirror: {folder} is not a folder")
    return folder
