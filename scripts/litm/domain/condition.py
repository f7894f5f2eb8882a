"""A condition of retrieval-augmented reading: what is done with the documents that were retrieved, before a model reads
them. The records that the config, the examples and the tables share.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

#: The order in which documents were retrieved, best first, or in which a reranker has put them.
RANKED = "ranked"


@dataclass(frozen=True)
class Cut:
    """Which of the documents are left out because of their scores, of which a higher one is better.

    score: those below this score; margin: those that are more than this below the best one. The best document is always
    kept.
    """

    score: float | None = None
    margin: float | None = None

    def kept(self, scores: Sequence[float]) -> int:
        """How many documents are left of those with these scores, best first: up to the first that is left out."""
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
    """`3` for 3 and 3.0, and all digits of other scores, so that no two of them are called the same."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


@dataclass(frozen=True)
class Condition:
    """What an experiment does with what was retrieved. study: the experiment whose remedies it is one of, which may be
    itself; reranker, prompt: None where it is what the study has; cut: in words, "" for none.
    """

    study: str
    experiment: str
    order: str = RANKED
    reranker: str | None = None
    cut: str = ""
    prompt: str | None = None

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Condition":
        """The condition of a JSON object, as `to_json` writes it."""
        return cls(**record)

    def to_json(self) -> dict:
        """The JSON object."""
        return asdict(self)

    @property
    def is_plain(self) -> bool:
        """Whether the documents are read as they were retrieved."""
        return not self.differing

    @property
    def differing(self) -> tuple[str, ...]:
        """In which keys it differs from reading documents as they were retrieved."""
        plain = Condition(self.study, self.experiment)
        return tuple(key for key in REMEDIES if getattr(self, key) != getattr(plain, key))


#: The keys of a condition that are remedies, in the order in which they are named.
REMEDIES = ("order", "reranker", "cut", "prompt")
