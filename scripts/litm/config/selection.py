"""Which models run which experiments: what the config selects, without what the user has still to supply."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from litm.base.schema import Entry, choose
from litm.config.config import Config
from litm.config.datasets import Dataset
from litm.config.experiments import ExperimentEntry
from litm.config.recorded_models import RecordedEntry
from litm.errors import UserError


@dataclass(frozen=True)
class Selection:
    """The names of models and experiments, in the config's order.

    only: for a model that does not run all of the experiments, those that it runs; left_out: a line for each reason why
    something is selected and not here.
    """

    models: tuple[str, ...]
    experiments: tuple[str, ...]
    only: Mapping[str, tuple[str, ...]]
    left_out: tuple[str, ...]

    def experiments_of(self, model: str) -> tuple[str, ...]:
        """The experiments that a model runs."""
        return self.only.get(model, self.experiments)


def select(config: Config, entries: Mapping[str, Mapping[str, Any]]) -> Selection:
    """What the config selects of the catalogues' entries, by kind and name.

    Recorded responses and files that are null in the catalogue are yours to supply: a model, or an experiment, without
    them is left out, and so is one that `only` leaves nothing of. Raises `UserError` for an unknown name, and where
    nothing is left.
    """
    models = choose(config.models, entries["models"], "models", "a model of your own is an entry of define.models")
    experiments = choose(config.experiments, entries["experiments"], "experiments")
    only = _read_only(config.only or {}, entries)
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
    limited = {name: tuple(one for one in run_experiments if one in only[name]) for name in run_models if name in only}
    return Selection(tuple(run_models), tuple(run_experiments), limited, left_out)


def _read_only(only: Mapping[str, Iterable[str] | None], entries: Mapping[str, Mapping]) -> dict[str, list[str]]:
    choose(only, entries["models"], "only")
    return {
        model: choose(names, entries["experiments"], f"only.{model}")
        for model, names in only.items()
        if names is not None
    }


def _is_unrecorded(entry: Entry) -> bool:
    return isinstance(entry, RecordedEntry) and entry.is_to_supply


def _to_supply(experiment: ExperimentEntry, datasets: Mapping[str, Dataset]) -> list[str]:
    """The datasets that an experiment needs and that are the user's to supply."""
    named = [*experiment.named_datasets, *filter(None, [experiment.subset])]
    return [name for name in named if name in datasets and datasets[name].is_to_supply]


def _line(names: Iterable[str], reason: str) -> str | None:
    listing = ", ".join(names)
    return f"left out: {listing} ({reason})" if listing else None
