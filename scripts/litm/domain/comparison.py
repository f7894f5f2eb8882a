"""Comparisons: two conditions with the same questions, the record that the config passes to the tables."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

#: Conditions that are no key of an experiment: the size, the model, and an experiment's references.
SIZE, MODEL, ORACLE, CLOSED_BOOK = "size", "model", "oracle", "closed_book"


@dataclass(frozen=True)
class Comparison:
    """Side a minus side b of one model, at equal sizes; or of two sizes, or two models, of one experiment.

    condition: what differs, keys of experiments joined by ` + `, or one of the words above; setting_a, setting_b:
    values of these keys; sizes: the compared ones, empty for all (`SIZE`, `MODEL` and the references, which have one
    cell).
    """

    condition: str
    experiment_a: str
    experiment_b: str
    setting_a: str = ""
    setting_b: str = ""
    sizes: tuple[int, ...] = ()

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Comparison":
        """The comparison in a JSON object of `to_json`."""
        return cls(**{**record, "sizes": tuple(record["sizes"])})

    def to_json(self) -> dict:
        """The JSON object."""
        return asdict(self)
