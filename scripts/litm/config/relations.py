"""Relations between models and between experiments in the catalogues, for the claims about them."""

from collections.abc import Mapping
from typing import Any

from litm.base.messages import UserError
from litm.base.schema import choose
from litm.config.experiments import ExperimentEntry
from litm.config.models import AnyModel
from litm.config.recorded_models import RECORDED

#: Keys of `about` that name another model, and keys of experiments that name another experiment.
MODEL_NAMES = ("longer_context_of", "tuned_from")
EXPERIMENT_KEYS = {"task", "closed_book", "query_aware_of"}


def read_relations(models: Mapping[str, AnyModel], experiments: Mapping[str, ExperimentEntry]) -> dict[str, Any]:
    """`about` of each model that has it; task, closed-book and plain version of each experiment; recorded models.

    It covers all entries of the catalogues, because a model's base may not be selected. Raises `UserError` for an
    unknown name, and for a model or an experiment that names itself.
    """
    about = {name: entry.about.model_dump(exclude_none=True) for name, entry in models.items() if entry.about}
    for name, keys in about.items():
        for key in MODEL_NAMES:
            _check(name, keys.get(key), models, f"models.{name}.about.{key}")
    for name, entry in experiments.items():
        _check(name, entry.query_aware_of, experiments, f"experiments.{name}.query_aware_of")
    related = {
        name: entry.model_dump(include=EXPERIMENT_KEYS, exclude_none=True) for name, entry in experiments.items()
    }
    recorded = sorted(name for name, entry in models.items() if entry.engine == RECORDED)
    return {"models": about, "experiments": related, "recorded": recorded}


def _check(name: str, other: str | None, catalogue: Mapping, where: str) -> None:
    if other is None:
        return
    choose([other], catalogue, where)
    if other == name:
        raise UserError(f"{where}: it is {name} itself; name the other one")
