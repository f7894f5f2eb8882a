"""Answers in passages: two checks for choosing distractors, which must not contain an answer.

`dpr`: DPR's check (Karpukhin et al. 2020, `has_answer`), which set the `hasanswer` flags of the released files: the
answer's tokens occur in a row among the passage's. Whole words must agree, and punctuation counts.
`metric`: the scorer's own check (`best_subspan_em`): the normalised answer is a substring of the normalised passage. A
distractor that contains an answer only by this check would be scored as correct if a model copied it.

DPR reads only the text of a passage; a model also sees its title, and so does the check by the metric.
"""

import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Protocol

from litm.answers.squad import contains_normalized

if TYPE_CHECKING:
    import regex


class Titled(Protocol):
    """A text with a title: a passage, or a document of a question."""

    @property
    def title(self) -> str: ...

    @property
    def text(self) -> str: ...


#: Function: whether a text with its title contains one of the answers.
Check = Callable[[Titled, Sequence[str]], bool]


@cache
def _token() -> "regex.Pattern[str]":
    """DPR's SimpleTokenizer: a run of letters, numbers and marks, or any other single visible character."""
    # Imported here: the rules import this module, and Snakemake does not bring the package.
    import regex

    return regex.compile(r"[\p{L}\p{N}\p{M}]+|[^\p{Z}\p{C}]")


def dpr_tokens(text: str) -> list[str]:
    """The lower-cased tokens of a text in Unicode's NFD form; none of them contains a space."""
    return [token.lower() for token in _token().findall(unicodedata.normalize("NFD", text))]


@lru_cache(maxsize=16_384)
def _spaced_tokens(text: str) -> str:
    """The tokens with single spaces between them and at both ends, so that a run of tokens is a substring."""
    return f" {' '.join(dpr_tokens(text))} "


def contains_answer_dpr(text: str, answers: Sequence[str]) -> bool:
    """Whether the tokens of any answer are a contiguous run among those of the text.

    An answer without tokens (empty, or only invisible characters) is in no text. Tokenised passages and answers are
    cached, because neighbouring questions retrieve the same passages.
    """
    passage = _spaced_tokens(text)
    return any(run in passage for run in map(_spaced_tokens, answers) if not run.isspace())


def contains_answer_metric(text: str, answers: Sequence[str]) -> bool:
    """Whether the scorer would find any answer in the text if it were a response."""
    return contains_normalized(text, answers)


def dpr_check(document: Titled, answers: Sequence[str]) -> bool:
    """Whether DPR finds an answer in the document, whose title it ignores."""
    return contains_answer_dpr(document.text, answers)


def metric_check(document: Titled, answers: Sequence[str]) -> bool:
    """Whether a model that copied from the document, title included, could be scored as correct."""
    return contains_answer_metric(f"{document.title} {document.text}", answers)


#: Checks by their names in a config.
CHECKS: dict[str, Check] = {"dpr": dpr_check, "metric": metric_check}
