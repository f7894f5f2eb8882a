"""Metrics: does a response contain the answer?

A metric is a pure function of a text and the accepted answers, and says which part of the response it reads.
"""

import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")

FIRST_LINE = "first_line"
FULL = "full"


@dataclass(frozen=True)
class Metric:
    """judge: whether a text holds one of the answers; reads: `first_line` or `full`, what counts of a response."""

    judge: Callable[[str, Sequence[str]], bool]
    reads: str


def first_line(response: str) -> str:
    """The first line of a response that is not blank, without surrounding spaces; empty if there is none.

    The paper scores the text before the first line end, so that a model cannot score by copying its context.
    Here leading blank lines are skipped first: they are an artefact of chat formats, not an answer.
    """
    return response.strip().split("\n", 1)[0].strip()


def normalize_answer(text: str) -> str:
    """SQuAD's normalisation (Rajpurkar et al. 2016): lower case, no punctuation, no articles, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def best_subspan_em(text: str, answers: Sequence[str]) -> bool:
    """Whether any gold answer is a substring of the text, both normalised (paper, section 2.2).

    An answer that normalises to nothing, such as "*" or "A", would be in every text; it is looked for as
    written, as a word of its own.
    """
    normalized_text = normalize_answer(text)
    return any(
        normalized in normalized_text if (normalized := normalize_answer(answer)) else _is_word_of(answer.strip(), text)
        for answer in answers
    )


def _is_word_of(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def value_in_answer(text: str, answers: Sequence[str]) -> bool:
    """Whether any accepted value is a substring of the text, whatever the case (paper, section 3.1)."""
    lowered = text.lower()
    return any(answer.lower() in lowered for answer in answers)


METRICS: dict[str, Metric] = {
    "best_subspan_em": Metric(best_subspan_em, FIRST_LINE),
    "value_in_answer": Metric(value_in_answer, FULL),
}
