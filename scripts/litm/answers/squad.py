"""SQuAD's normalisation of answers, used by the scorer and by the choice of distractors."""

import re
import string
from collections.abc import Sequence
from functools import lru_cache

#: Includes the characters that stay: for missing ones, `translate` would repeat a failed lookup in every text.
_PUNCTUATION = {code: chr(code) for code in range(128)} | str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalize_answer(text: str) -> str:
    """SQuAD's normalisation (Rajpurkar et al. 2016): lower case, no punctuation, no articles, single spaces."""
    return _without_articles(_without_punctuation(text))


def contains_normalized(text: str, answers: Sequence[str]) -> bool:
    """Whether any answer is a substring of the text, both normalised.

    An answer that normalises to nothing, such as "*" or "A", would be in every text; it is searched as written, as a
    separate word.
    """
    bare = _without_punctuation(text)
    return any(
        _contains(bare, normalized) if (normalized := _normalized(answer)) else _is_word_of(answer.strip(), text)
        for answer in answers
    )


@lru_cache
def _normalized(answer: str) -> str:
    """Cached, because an answer is searched in many texts."""
    return normalize_answer(answer)


def _without_punctuation(text: str) -> str:
    return text.lower().translate(_PUNCTUATION)


def _without_articles(bare: str) -> str:
    return " ".join(_ARTICLES.sub(" ", bare).split())


def _contains(bare: str, normalized: str) -> bool:
    # Most texts lack the longest word of the answer and skip the rest of the normalisation.
    return max(normalized.split(), key=len) in bare and normalized in _without_articles(bare)


def _is_word_of(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None
