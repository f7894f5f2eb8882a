"""Relations between models and between experiments, as the catalogues declare them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ENCODER_DECODER = "encoder_decoder"


@dataclass(frozen=True)
class About:
    """The key `about` of a model's entry: parameters in billions, training_length in tokens per prompt."""

    longer_context_of: str | None = None
    tuned_from: str | None = None
    family: str | None = None
    parameters: float | None = None
    architecture: str | None = None
    training_length: int | None = None


@dataclass(frozen=True)
class Related:
    """An experiment's task, its closed-book version, and its version with the question only after the documents."""

    task: str
    closed_book: str | None = None
    query_aware_of: str | None = None


@dataclass(frozen=True)
class Relations:
    """Models and experiments by name; recorded: models whose responses were made elsewhere."""

    models: Mapping[str, About]
    experiments: Mapping[str, Related]
    recorded: frozenset[str] = frozenset()

    @property
    def base_models(self) -> set[str]:
        """Models that others were tuned from."""
        return {about.tuned_from for about in self.models.values() if about.tuned_from}

    def about(self, model: str) -> About:
        """The declarations about a model; empty for a model without an entry."""
        return self.models.get(model, About())


def read_relations(value: Mapping[str, Any]) -> Relations:
    """Relations from JSON: {"models": {name: keys of `About`}, "experiments": {name: keys of `Related`}, "recorded":
    names}.
    """
    return Relations(
        models={name: About(**keys) for name, keys in value["models"].items()},
        experiments={name: Related(**keys) for name, keys in value["experiments"].items()},
        recorded=frozenset(value["recorded"]),
    )
