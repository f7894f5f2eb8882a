"""The selection: the models and experiments that a config names, and which models run which experiments."""

from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path

from litm.base.messages import UserError
from litm.base.schema import choose
from litm.config.catalogue import Config, Entries
from litm.config.conditions import with_names
from litm.config.data import Dataset
from litm.config.experiment_cells import read_cells
from litm.config.experiments import Experiment
from litm.config.sweeps import Selection

#: Experiments that a model runs, each with its sizes, None for all.
Limits = dict[str, tuple[int, ...] | None]


def select(config: Config, entries: Entries, root: Path) -> Selection:
    """The config's selection from `entries`.

    root: the project's folder, where paths of models are searched too. `only` includes the conditions of remedies with
    their experiment. Recorded responses and files that are null in the catalogue must be supplied by the user: models
    and experiments without them are left out, and so are those that `only` leaves empty. Raises `UserError` for an
    unknown name and for an empty selection.
    """

    def is_installed(name: str) -> bool:
        return entries["models"][name].is_here(root)

    hint = "a model of your own is an entry of define.models"
    models = choose(config.models, entries["models"], "models", hint, is_installed)
    experiments = choose(config.experiments, entries["experiments"], "experiments")
    only = {
        model: _read_limits(named, entries["experiments"], f"only.{model}")
        for model, named in (config.only or {}).items()
        if choose([model], entries["models"], "only") and named is not None
    }
    unrecorded = [name for name in models if getattr(entries["models"][name], "is_to_supply", False)]
    lacking = {name: _to_supply(entries["experiments"][name], entries["datasets"]) for name in experiments}
    pairs = {
        (model, experiment): only.get(model, {}).get(experiment)
        for model in models
        for experiment in experiments
        if model not in unrecorded and not lacking[experiment] and experiment in only.get(model, experiments)
    }
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
    sizes = {pair: pairs[pair] for pair in product(run_models, run_experiments) if pair in pairs}
    return Selection(sizes, left_out)


def _read_limits(named: Iterable, experiments: Mapping[str, Experiment], where: str) -> Limits:
    """The named experiments with their sizes, and their conditions, each at its own sizes among these; `UserError` for
    an unknown experiment, or a size that it lacks.
    """
    pairs = [pair for item in named for pair in ([(item, None)] if isinstance(item, str) else item.items())]
    choose((name for name, _ in pairs), experiments, where)
    limits: Limits = {}
    for name, named_sizes in pairs:
        there, sizes = _sizes(experiments[name]), None if named_sizes is None else tuple(sorted({*named_sizes}))
        if unknown := [size for size in sizes or () if size not in there]:
            raise UserError(f"{where}.{name}: the experiment has no size {unknown[0]}; choose from {there}")
        sizes = None if sizes == tuple(there) else sizes
        if limits.setdefault(name, sizes) != sizes:
            raise UserError(f"{where}: {name} occurs twice with different sizes; name it once, with all of its sizes")
    all_limits = dict(limits)
    for name, limit in limits.items():
        for condition in with_names([name], experiments):
            shared = limit and tuple(size for size in limit if size in _sizes(experiments[condition]))
            if shared != ():
                all_limits.setdefault(condition, shared)
    return all_limits


def _sizes(experiment: Experiment) -> list[int]:
    return sorted({cell.size for cell in read_cells(experiment)})


def _to_supply(experiment: Experiment, datasets: Mapping[str, Dataset]) -> list[str]:
    """The datasets of an experiment that the user must still supply."""
    named = [*experiment.named_datasets, *filter(None, [experiment.subset])]
    return [name for name in named if name in datasets and datasets[name].is_to_supply]
