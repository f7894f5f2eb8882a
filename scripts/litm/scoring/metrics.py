"""Metrics: does a response contain the answer?

A metric is a pure function of a text and the accepted answers, and says which part of the response it reads.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from litm.answers.codes import contains_code, contains_no_other_code
from litm.answers.integers import read_integer, read_last_integer
from litm.answers.squad import contains_normalized

FIRST_LINE = "first_line"
FULL = "full"


@dataclass(frozen=True)
class Metric:
    """judge: whether a text holds one of the answers; reads: `first_line` or `full`, what counts of a response.

    strict, lenient: another rule that is shown beside it, None where there is none; both are given the whole response.
    """

    judge: Callable[[str, Sequence[str]], bool]
    reads: str
    strict: Callable[[str, Sequence[str]], bool] | None = None
    lenient: Callable[[str, Sequence[str]], bool] | None = None


def first_line(response: str) -> str:
    """The first line of a response that is not blank, without surrounding spaces; empty if there is none.

    The paper scores the text before the first line end, so that a model cannot score by copying its context.
    Here leading blank lines are skipped first: they are an artefact of chat formats, not an answer.
    """
    return response.strip().split("\n", 1)[0].strip()


def best_subspan_em(text: str, answers: Sequence[str]) -> bool:
    """Whether any gold answer is a substring of the text, both normalised (paper, section 2.2)."""
    return contains_normalized(text, answers)


def best_subspan_em_strict(response: str, answers: Sequence[str]) -> bool:
    """`best_subspan_em` of the response up to its first line end, even if nothing is before it.

    So the paper has it (section 2.2), and the authors' scoring of the responses of MPT and LongChat; from those of
    Llama 2 their script had taken the blank lines before.
    """
    return best_subspan_em(response.split("\n", 1)[0], answers)


def value_in_answer(text: str, answers: Sequence[str]) -> bool:
    """Whether any accepted value is a substring of the text, whatever the case (paper, section 3.1)."""
    lowered = text.lower()
    return any(answer.lower() in lowered for answer in answers)


def exact_code(text: str, answers: Sequence[str]) -> bool:
    """Whether any accepted code is in the text as a token of its own, see `contains_code`.

    Where several codes are asked for, each is judged alone, wherever the answer lists it: codes are random, so one is
    not written without having been read, and a judge by place would count the later ones as wrong whenever an
    earlier one is left out, which would be an effect of position made by the metric.
    """
    return any(contains_code(text, answer) for answer in answers)


def only_code(text: str, answers: Sequence[str]) -> bool:
    """Whether an accepted code is in the text, as `exact_code` finds it, and no other one: listing several is wrong."""
    return exact_code(text, answers) and contains_no_other_code(text, answers)


def exact_integer(text: str, answers: Sequence[str]) -> bool:
    """Whether the whole number that the text gives as its answer, see `read_integer`, is an accepted one."""
    return read_integer(text) in {int(answer) for answer in answers}


def last_integer(text: str, answers: Sequence[str]) -> bool:
    """Whether the whole number that all lines of the text come to, see `read_last_integer`, is an accepted one."""
    return read_last_integer(text) in {int(answer) for answer in answers}


METRICS: dict[str, Metric] = {
    "best_subspan_em": Metric(best_subspan_em, FIRST_LINE, strict=best_subspan_em_strict),
    "value_in_answer": Metric(value_in_answer, FULL),
    # Three codes may be listed on three lines.
    "exact_code": Metric(exact_code, FULL, strict=only_code),
    "only_code": Metric(only_code, FULL, lenient=exact_code),
    # One number has to be chosen, and after its answer a base model goes on with other questions and numbers.
    "exact_integer": Metric(exact_integer, FIRST_LINE),
    # A sum may be reckoned on several lines.
    "last_integer": Metric(last_integer, FULL),
}
