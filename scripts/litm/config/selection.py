"""The selection of models and experiments, without those that lack files the user must supply."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.base.messages import UserError
from litm.config.catalogue import Config
from litm.config.conditions import with_names
from litm.config.data import Dataset
from litm.config.experiments import ExperimentEntry, read_cells
from litm.config.models import Model
from litm.config.recorded_models import RecordedEntry
from litm.config.schema import Entry, choose
from litm.records import Condition

#: Experiments that a model runs, each with its sizes, None for all.
Limits = Mapping[str, tuple[int, ...] | None]


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

    def sizes_of(self, model: str, experiment: str) -> tuple[int, ...] | None:
        """Sizes of an experiment that a model runs, None for all."""
        return self.only[model].get(experiment) if model in self.only else None

    def sizes_run(self, experiment: str) -> set[int] | None:
        """Sizes of an experiment that any model runs, None for all."""
        of_models = [
            self.sizes_of(model, experiment) for model in self.models if experiment in self.experiments_of(model)
        ]
        return None if None in of_models else {size for sizes in of_models for size in sizes or ()}


def select(
    config: Config, entries: Mapping[str, Mapping[str, Any]], conditions: Mapping[str, Condition], root: Path
) -> Selection:
    """The config's selection from `entries` (by kind and name).

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
    only = _read_only(config.only or {}, entries, conditions)
    unrecorded = [name for name in models if _is_unrecorded(entries["models"][name])]
    lacking = {name: _to_supply(entries["experiments"][name], entries["datasets"]) for name in experiments}
    pairs = [
        (model, experiment)
        for model in models
        for experiment in experiments
        if model not in unrecorded and not lacking[experiment] and experiment in only.get(model, experiments)
    ]
    run_models, run_experiments = (list(dict.fromkeys(pair[part] for pair in pairs)) for part in (0, 1))
    idle = [name for name in models if name not in (*run_models, *unrecorded)]
    unused = [name for name in experiments if name not in run_experiments and not lacking[name]]
    lines = [
        _line(unrecorded, "their recorded responses are yours to supply: set 'responses' of these in define.models"),
        *(
            _line([name], f"a file is yours to supply: set the 'path' of {missing[0]} in define.datasets")
            for name, missing in lacking.items()
            if missing
        ),
        _line(idle, "'only' gives these models none of the experiments that are run"),
        _line(unused, "'only' gives these experiments to none of the models that are run"),
    ]
    left_out = tuple(filter(None, lines))
    if not pairs:
        raise UserError(f"nothing is left to run; {'; '.join(left_out)}")
    limited = {
        name: {one: only[name][one] for one in run_experiments if one in only[name]}
        for name in run_models
        if name in only
    }
    return Selection(tuple(run_models), tuple(run_experiments), limited, left_out)


def _read_only(
    only: Mapping[str, Iterable[str | Mapping[str, Iterable[int]]] | None],
    entries: Mapping[str, Mapping],
    conditions: Mapping[str, Condition],
) -> dict[str, Limits]:
    choose(only, entries["models"], "only")
    return {
        model: _with_conditions(_read_limits(named, entries["experiments"], f"only.{model}"), entries, conditions)
        for model, named in only.items()
        if named is not None
    }


def _read_limits(
    named: Iterable[str | Mapping[str, Iterable[int]]], experiments: Mapping[str, ExperimentEntry], where: str
) -> Limits:
    """The named experiments with their sizes; `UserError` for an unknown experiment, or a size that it lacks."""
    pairs: list[tuple[str, Iterable[int] | None]] = []
    for one in named:
        pairs += [(one, None)] if isinstance(one, str) else list(one.items())
    choose((name for name, _ in pairs), experiments, where)
    limits: dict[str, tuple[int, ...] | None] = {}
    for name, given in pairs:
        sizes = None if given is None else _read_sizes(given, experiments[name], f"{where}.{name}")
        if limits.setdefault(name, sizes) != sizes:
            raise UserError(f"{where}: {name} occurs twice with different sizes; name it once, with all of its sizes")
    return limits


def _read_sizes(given: Iterable[int], experiment: ExperimentEntry, where: str) -> tuple[int, ...] | None:
    """The sizes in the experiment's order, None if they are all of its sizes."""
    there, wanted = _sizes(experiment), set(given)
    if unknown := sorted(wanted - {*there}):
        raise UserError(f"{where}: the experiment has no size {unknown[0]}; choose from {there}")
    return None if wanted == {*there} else tuple(sorted(wanted))


def _sizes(experiment: ExperimentEntry) -> list[int]:
    return sorted({cell.size for cell in read_cells(experiment)})


def _with_conditions(limits: Limits, entries: Mapping[str, Mapping], conditions: Mapping[str, Condition]) -> Limits:
    """The limits with the conditions of experiments with remedies, each at its own sizes among these."""
    found = dict(limits)
    for name, sizes in limits.items():
        for one in with_names([name], conditions):
            shared = sizes and tuple(size for size in sizes if size in _sizes(entries["experiments"][one]))
            if shared != ():
                found.setdefault(one, shared)
    return found


def _is_unrecorded(entry: Entry) -> bool:
    return isinstance(entry, RecordedEntry) and entry.is_to_supply


def _to_supply(experiment: ExperimentEntry, datasets: Mapping[str, Dataset]) -> list[str]:
    """The datasets of an experiment that the user must still supply."""
    named = [*experiment.named_datasets, *filter(None, [experiment.subset])]
    return [name for name in named if name in datasets and datasets[name].is_to_supply]


def _line(names: Iterable[str], reason: str) -> str | None:
    listing = ", ".join(names)
    return f"left out: {listing} ({reason})" if listing else None
