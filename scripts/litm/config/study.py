"""The study: all that a config selects from the catalogues, checked before any job runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from litm.config.api_models import ApiModel, read_api_model
from litm.config.catalogue import check_name, choose, merge_catalogue, string_keys, validate
from litm.config.data import (
    Candidates,
    Corpus,
    Dataset,
    QuestionSet,
    Retriever,
    check_file_names,
    check_hits,
    check_one_namespace,
    read_candidates,
    read_corpus,
    read_dataset,
    read_question_set,
    read_retriever,
)
from litm.config.engine_keys import check_engine_keys, has_no_model, is_api, is_recorded, with_defaults
from litm.config.experiments import Experiment, read_experiment
from litm.config.figures import Figure, published_figures, read_figures
from litm.config.models import Model, read_model
from litm.config.recorded import RecordedModel, read_recorded_model
from litm.config.relations import read_relations
from litm.config.selection import Selection, is_to_supply, select
from litm.errors import UserError

#: Unless the config says otherwise.
AUDITED_PER_CELL, EXPLORED_PER_SIZE = 5, 20
CATALOGUES = ("models", "experiments", "figures", "datasets", "corpora", "retrievers", "questions", "candidates")


@dataclass(frozen=True)
class Study:
    """The selected models, experiments and figures, and the data there are.

    selection: which models run which experiments; token_models: models, selected or not, whose tokens an experiment's
    sizes count; published_figures: those that there are published values of, selected or not; relations: see
    `relations.read_relations`; audited_per_cell: prompts of a cell that an audit asks again; explored_per_size:
    questions of an experiment's size that the report shows in full.
    """

    selection: Selection
    models: Mapping[str, Model | ApiModel | RecordedModel]
    token_models: Mapping[str, Model | ApiModel]
    experiments: Mapping[str, Experiment]
    figures: Mapping[str, Figure]
    published_figures: Mapping[str, Figure]
    datasets: Mapping[str, Dataset]
    corpora: Mapping[str, Corpus]
    retrievers: Mapping[str, Retriever]
    questions: Mapping[str, QuestionSet]
    candidates: Mapping[str, Candidates]
    relations: Mapping[str, Mapping]
    seed: int
    audited_per_cell: int
    explored_per_size: int
    data_mirror: str | None

    @property
    def sweeps(self) -> list[tuple[str, str]]:
        """The pairs of a selected model and experiment that there are responses to, model by model."""
        return [pair for pair in self._pairs() if self._covers(*pair)]

    @property
    def not_recorded(self) -> list[tuple[str, str]]:
        """The other pairs: those of which the model's recorded responses have none."""
        return [pair for pair in self._pairs() if not self._covers(*pair)]

    @property
    def left_out(self) -> list[str]:
        """A line for each reason why something that the config selects is not here."""
        pairs = ", ".join(map("/".join, self.not_recorded))
        return [*self.selection.left_out, *([f"no recorded responses, left out: {pairs}"] if pairs else [])]

    def _pairs(self) -> list[tuple[str, str]]:
        return [(model, experiment) for model in self.models for experiment in self.selection.experiments_of(model)]

    def _covers(self, model: str, experiment: str) -> bool:
        entry = self.models[model]
        return not isinstance(entry, RecordedModel) or experiment in entry.files


def load_study(config: Mapping[str, Any], root: Path) -> Study:
    """The study that a config selects from the catalogues in `root`/config.

    Raises `UserError`, one line, for an unknown key or name, a wrong type, or an impossible position.
    """
    config = string_keys(config)
    validate(config, root / "config" / "schemas" / "config.schema.yaml", "config")
    entries = _catalogues(config, root)
    seed = config["seed"]
    selection = select(config, entries)
    datasets = {
        name: read_dataset(name, entry, root) for name, entry in entries["datasets"].items() if not is_to_supply(entry)
    }
    check_file_names(datasets)
    corpora = {name: read_corpus(name, entry, datasets, seed, root) for name, entry in entries["corpora"].items()}
    retrievers = {name: read_retriever(name, entry, root) for name, entry in entries["retrievers"].items()}
    questions = {
        name: read_question_set(name, entry, datasets, corpora) for name, entry in entries["questions"].items()
    }
    candidates = {
        name: read_candidates(name, entry, [*datasets, *questions], corpora, retrievers, seed)
        for name, entry in entries["candidates"].items()
    }
    check_one_namespace(datasets=datasets, questions=questions, candidates=candidates)
    files = {**datasets, **questions, **candidates}
    experiments = {
        name: read_experiment(name, entries["experiments"][name], seed, files, root) for name in selection.experiments
    }
    _check_curves(experiments.values())
    for experiment in experiments.values():
        _check_names(experiment, entries)
        for name in experiment.datasets.values():
            if name in candidates:
                check_hits(candidates[name], retrievers)
    token_models = [experiment.tokens_of for experiment in experiments.values() if experiment.tokens_of]
    run = {
        name: _read_asked(name, entries["models"][name], datasets, root)
        for name in dict.fromkeys([*selection.models, *token_models])
        if not is_recorded(entries["models"][name])
    }
    recorded = {
        name: read_recorded_model(name, entries["models"][name], entries["experiments"], own, datasets, root)
        for name in selection.models
        if name not in run
        for own in [{one: experiments[one] for one in selection.experiments_of(name)}]
    }
    study = Study(
        selection=selection,
        models={name: run.get(name) or recorded[name] for name in selection.models},
        token_models={name: run[name] for name in token_models},
        experiments=experiments,
        figures={},
        published_figures=published_figures(entries["figures"]),
        datasets=datasets,
        corpora=corpora,
        retrievers=retrievers,
        questions=questions,
        candidates=candidates,
        relations=read_relations(entries["models"], entries["experiments"]),
        seed=seed,
        audited_per_cell=(config.get("audit") or {}).get("prompts_per_cell", AUDITED_PER_CELL),
        explored_per_size=(config.get("report") or {}).get("questions_per_size", EXPLORED_PER_SIZE),
        data_mirror=_mirror(config.get("data_mirror")),
    )
    _check_answered(study)
    return replace(study, figures=read_figures(config.get("figures"), entries, experiments, study.sweeps))


def _read_asked(name: str, entry: Mapping, datasets: Mapping[str, Dataset], root: Path) -> Model | ApiModel:
    read = read_api_model if is_api(entry) else read_model
    return read(name, entry, datasets, root)


def _catalogues(config: Mapping, root: Path) -> dict[str, dict[str, dict]]:
    """All entries by kind and name, with the config's own, checked against the schemas."""
    entries = {
        kind: merge_catalogue(
            string_keys(yaml.safe_load((root / "config" / f"{kind}.yaml").read_text(encoding="utf-8"))),
            (config.get("define") or {}).get(kind) or {},
        )
        for kind in CATALOGUES
    }
    defaults = config.get("model_defaults") or {}
    # With an engine, which every entry has.
    validate({"engine": "", **defaults}, root / "config" / "schemas" / "models.schema.yaml", "config.model_defaults")
    entries["models"] = {name: with_defaults(entry, defaults) for name, entry in entries["models"].items()}
    for kind in CATALOGUES:
        for name, entry in entries[kind].items():
            check_name(name, kind)
            validate(entry, root / "config" / "schemas" / f"{kind}.schema.yaml", f"{kind}.{name}")
    for name, entry in entries["models"].items():
        check_engine_keys(name, entry)
    return entries


def _check_names(experiment: Experiment, entries: Mapping[str, Mapping]) -> None:
    where = f"experiments.{experiment.name}"
    for key, name in (("closed_book", experiment.closed_book), ("oracle", experiment.oracle)):
        if name is not None:
            choose([name], entries["experiments"], f"{where}.{key}")
    if experiment.tokens_of is not None:
        choose([experiment.tokens_of], entries["models"], f"{where}.tokens_of")
        model = entries["models"][experiment.tokens_of]
        if is_recorded(model):
            raise UserError(f"{where}.tokens_of: {experiment.tokens_of} has recorded responses and no tokenizer")
        if is_api(model) and "tokenizer" not in model:
            raise UserError(
                f"{where}.tokens_of: {experiment.tokens_of} is run by a server: set the model's 'tokenizer'"
            )
        if has_no_model(model):
            raise UserError(f"{where}.tokens_of: {experiment.tokens_of} has no tokenizer")


def _check_answered(study: Study) -> None:
    """Raise `UserError` for an experiment that is selected, but that no selected model has responses to."""
    answered = {experiment for _, experiment in study.sweeps}
    for name in study.experiments:
        if name not in answered:
            raise UserError(
                f"experiments: none of the selected models ({', '.join(study.models)}) has responses to {name}; add a "
                f"file of them to models.{next(iter(study.models))}.responses, select a model that can be asked, or "
                f"take {name} out of 'experiments'"
            )


def _check_curves(experiments: Iterable[Experiment]) -> None:
    """Summaries are folders named after curves: `a_10` must not be both an experiment and a size of `a`."""
    owner: dict[str, str] = {}
    for experiment in experiments:
        for curve in experiment.curves:
            if owner.setdefault(curve.name, experiment.name) != experiment.name:
                raise UserError(
                    f"experiments.{experiment.name}: {owner[curve.name]} has a curve of the name {curve.name} too; "
                    f"rename one of the two experiments"
                )


def _mirror(folder: str | None) -> str | None:
    if folder is not None and not Path(folder).expanduser().is_dir():
        raise UserError(f"config.data_mirror: {folder} is not a folder")
    return folder
