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
    """Side a minus side b of one model, at equal sizes; or of two sizes, or two models, of one experiment."""

    condition: str
    """What differs: keys of experiments joined by ` + `, or one of the words above."""
    experiment_a: str
    """Name of the experiment of side a."""
    experiment_b: str
    """Name of the experiment of side b."""
    setting_a: str = ""
    """Values of the differing keys on side a; of two models, the name of side a."""
    setting_b: str = ""
    """Values of the differing keys on side b; of two models, the name of side b."""
    sizes: tuple[int, ...] = ()
    """The compared sizes, empty for all (`SIZE`, `MODEL` and the references, which have one cell)."""

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Comparison":
        """The comparison in a JSON object of its fields."""
        return cls(**{**record, "sizes": tuple(record["sizes"])})


#: The order of retrieval, or of a reranker, best first.
RANKED = "ranked"
#: The order that puts the best documents where the curve of a model is highest.
MEASURED = "measured"


@dataclass(frozen=True)
class Cut:
    """A cut by score, where higher scores are better; the best document is always kept."""

    score: float | None = None
    """Documents below this score are left out."""
    margin: float | None = None
    """Documents more than this below the best are left out."""

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
    """An experiment's treatment of retrieved documents."""

    study: str
    """Name of the experiment whose remedies it belongs to, possibly itself."""
    experiment: str
    """Name of the experiment."""
    order: str = RANKED
    """Order of the documents in the context."""
    reranker: str | None = None
    """Name of the reranker, None if the same as the study's."""
    cut: str = ""
    """The `Cut` in words, "" for none."""
    prompt: str | None = None
    """Name of the prompt, None if the same as the study's."""
    lacks_answer: bool = False
    """Whether the documents with the answer are taken out of its contexts."""

    @property
    def treatment(self) -> tuple[str | None, ...]:
        """The values of `REMEDIES`."""
        return tuple(getattr(self, key) for key in REMEDIES)

    @property
    def is_plain(self) -> bool:
        """Whether the documents are read as retrieved."""
        return self.treatment == PLAIN

    @property
    def differing(self) -> tuple[str, ...]:
        """The keys in which it differs from reading documents as retrieved."""
        return tuple(key for key, usual in zip(REMEDIES, PLAIN, strict=True) if getattr(self, key) != usual)


#: Keys of a condition that are remedies, in the order in which they are named.
REMEDIES = ("order", "reranker", "cut", "prompt")
#: Their values without a remedy.
PLAIN = Condition("", "").treatment
