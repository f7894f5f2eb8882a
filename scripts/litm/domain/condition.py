"""Conditions of retrieval-augmented reading: the treatment of retrieved documents before a model reads them. These
records are shared by the config, the examples and the tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

#: The order of retrieval, or of a reranker, best first.
RANKED = "ranked"


@dataclass(frozen=True)
class Cut:
    """A cut by score, where higher scores are better.

    score: documents below this score are left out; margin: so are documents more than this below the best. The best
    document is always kept.
    """

    score: float | None = None
    margin: float | None = None

    def kept(self, scores: Sequence[float]) -> int:
        """The number of documents kept, given their scores, best first: up to the first one that is left out."""
        for place, score in enumerate(scores[1:], start=1):
            if self.score is not None and score < self.score:
                return place
            if self.margin is not None and scores[0] - score > self.margin:
                return place
        return len(scores)

    def __str__(self) -> str:
        """In words: `scores of at least 10, scores at most 3 below the best`."""
        parts = [(self.score, "scores of at least {}"), (self.margin, "scores at most {} below the best")]
        return ", ".join(text.format(score_in_words(value)) for value, text in parts if value is not None)


def score_in_words(value: float) -> str:
    """`3` for 3 and 3.0, and all digits of other scores, so that different scores have different names."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


@dataclass(frozen=True)
class Condition:
    """An experiment's treatment of retrieved documents. study: the experiment whose remedies it belongs to, possibly
    itself; reranker, prompt: None if the same as the study's; cut: in words, "" for none.
    """

    study: str
    experiment: str
    order: str = RANKED
    reranker: str | None = None
    cut: str = ""
    prompt: str | None = None

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Condition":
        """The condition in a JSON object of `to_json`."""
        return cls(**record)

    def to_json(self) -> dict:
        """The JSON object."""
        return asdict(self)

    @property
    def is_plain(self) -> bool:
        """Whether the documents are read as retrieved."""
        return not self.differing

    @property
    def differing(self) -> tuple[str, ...]:
        """The keys in which it differs from reading documents as retrieved."""
        plain = Condition(self.study, self.experiment)
        return tuple(key for key in REMEDIES if getattr(self, key) != getattr(plain, key))


#: Keys of a condition that are remedies, in the order in which they are named.
REMEDIES = ("order", "reranker", "cut", "prompt")
