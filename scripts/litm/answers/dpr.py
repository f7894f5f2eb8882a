"""Is an answer in this passage? Two ways to say so, for choosing distractors that must not hold it.

`dpr`: DPR's check (Karpukhin et al. 2020, `has_answer`), which made the `hasanswer` flags of the released files:
an answer's tokens appear one after the other among the passage's. Whole words must agree, punctuation counts.
`metric`: the scorer's own check (`best_subspan_em`): the normalised answer is a substring of the normalised passage.
A distractor that passes only this one would be scored as right if a model copied it.

DPR looks at the text of a passage alone; a model sees its title too, and so does the check by the metric.
"""

import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Protocol

import regex

from litm.answers.squad import contains_normalized


class Titled(Protocol):
    """A text with a title: a passage, or a document of a question."""

    @property
    def title(self) -> str: ...

    @property
    def text(self) -> str: ...


#: Whether a text with its title has one of the answers.
Check = Callable[[Titled, Sequence[str]], bool]

#: DPR's SimpleTokenizer: a run of letters, numbers and marks, or any other single character that can be seen.
_TOKEN = regex.compile(r"[\p{L}\p{N}\p{M}]+|[^\p{Z}\p{C}]")


def dpr_tokens(text: str) -> list[str]:
    """The lower-cased tokens of a text in Unicode's NFD form; none of them contains a space."""
    return [token.lower() for token in _TOKEN.findall(unicodedata.normalize("NFD", text))]


@lru_cache(maxsize=16_384)
def _spaced_tokens(text: str) -> str:
    """The tokens between single spaces, one also at either end, so that a run of tokens is a substring."""
    return f" {' '.join(dpr_tokens(text))} "


def contains_answer_dpr(text: str, answers: Sequence[str]) -> bool:
    """Whether the tokens of any answer are a contiguous run among those of the text.

    An answer without tokens (empty, or of invisible characters only) is in no text. Passages and answers are each
    tokenised once and remembered, since neighbouring questions retrieve the same passages.
    """
    passage = _spaced_tokens(text)
    return any(run in passage for run in map(_spaced_tokens, answers) if not run.isspace())


def contains_answer_metric(text: str, answers: Sequence[str]) -> bool:
    """Whether the scorer would find any answer in the text, were the text a response."""
    return contains_normalized(text, answers)


def dpr_check(document: Titled, answers: Sequence[str]) -> bool:
    """Whether DPR would say that a document has an answer: it looks at the text alone."""
    return contains_answer_dpr(document.text, answers)


def metric_check(document: Titled, answers: Sequence[str]) -> bool:
    """Whether a model that copied from a document, of which it sees the title too, could be scored as right."""
    return contains_answer_metric(f"{document.title} {document.text}", answers)


#: By the name that a config gives.
CHECKS: dict[str, Check] = {"dpr": dpr_check, "metric": metric_check}
