"""Two conditions of which the same questions are compared: the record that the config hands to the tables."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

#: Conditions that are no key of an experiment: the size, the model, and what an experiment names as its references.
SIZE, MODEL, ORACLE, CLOSED_BOOK = "size", "model", "oracle", "closed_book"


@dataclass(frozen=True)
class Comparison:
    """Side a minus side b of one model, at equal sizes; or of two sizes, or two models, of one experiment.

    condition: what differs, keys of experiments joined by ` + `, or one of the words above; setting_a, setting_b: the
    values of these keys; sizes: those that are compared, empty for all (`SIZE`, `MODEL` and the references, which have
    one cell).
    """

    condition: str
    experiment_a: str
    experiment_b: str
    setting_a: str = ""
    setting_b: str = ""
    sizes: tuple[int, ...] = ()

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Comparison":
        """The comparison of a JSON object, as `to_json` writes it."""
        return cls(**{**record, "sizes": tuple(record["sizes"])})

    def to_json(self) -> dict:
        """The JSON object."""
        return asdict(self)
