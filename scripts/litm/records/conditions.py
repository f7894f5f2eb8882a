"""What is compared: pairs of experiments, and the conditions of remedies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Conditions that are no key of an experiment: the size, the model, and an experiment's references.
SIZE, MODEL, ORACLE, CLOSED_BOOK = "size", "model", "oracle", "closed_book"
#: The task of each reference.
REFERENCE_TASKS = {ORACLE: "oracle_qa", CLOSED_BOOK: "closed_book_qa"}


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
        """The comparison in a JSON object of its fields."""
        return cls(**{**record, "sizes": tuple(record["sizes"])})


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
