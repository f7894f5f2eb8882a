"""Log-probabilities of the accepted answers of a sweep: one row per prompt."""

from collections.abc import Iterable, Sequence
from math import exp, log
from typing import Any, NamedTuple

import pandas as pd

from litm.records.examples import Example
from litm.records.responses import SweepResponse, measured_answers
from litm.scoring.scores import Sweep, answered, fields_of, typed

#: Columns of what is read of the log-probabilities of a prompt's accepted answers, in nats.
QUANTITIES = ("per_token", "answer", "any_answer")


class LogProbability(NamedTuple):
    """One prompt: a row of a file of log-probabilities; the quantities are missing where it got none.

    answer: of the most probable accepted answer, which has answer_tokens. per_token: of a token of the answer, the
    log-probability divided by the number of tokens, of the accepted answer where it is largest. any_answer: of the sum
    of the probabilities of the accepted answers, without those that begin with another one. cluster: as in `Score`.
    """

    model: str
    experiment: str
    task: str
    size: int
    items: int
    placement: str
    position: int | None
    depth: float | None
    id: str
    target: str
    finish_reason: str
    prompt_tokens: int | None
    excluded: bool
    answer_tokens: int | None = None
    per_token: float | None = None
    answer: float | None = None
    any_answer: float | None = None
    cluster: str | None = None


def quantities(text: str, answers: Sequence[str]) -> dict[str, Any]:
    """`QUANTITIES` and `answer_tokens` of a prompt; text: of its response, see `measured_answers`."""
    measured = measured_answers(text)
    best = max(measured)
    return {
        "per_token": max(value / tokens for value, tokens in measured),
        "answer": best[0],
        "any_answer": _log_sum([measured[index][0] for index in _apart(answers)]),
        "answer_tokens": best[1],
    }


def _apart(answers: Sequence[str]) -> list[int]:
    """Indices of the answers that begin with no other one, whose probabilities add up."""
    distinct = dict(zip(reversed(answers), reversed(range(len(answers))), strict=True))
    return sorted(
        at for text, at in distinct.items() if not any(text != other and text.startswith(other) for other in distinct)
    )


def _log_sum(values: Sequence[float]) -> float:
    most = max(values)
    return most + log(sum(exp(value - most) for value in values))


def log_probability_rows(
    sweep: Sweep, examples: Iterable[Example], responses: Iterable[SweepResponse], where: str = "log-probabilities"
) -> pd.DataFrame:
    """A `LogProbability` per prompt, in the order of the examples.

    Raises `UserError`, beginning with `where`, as `scores.answered`.
    """
    rows = [
        LogProbability(
            **fields_of(sweep, example, response, is_excluded, *example.targets),
            **({} if response.text is None else quantities(response.text, example.targets[0].answers)),
        )
        for example, response, is_excluded in answered(examples, responses, where)
    ]
    return typed(LogProbability, rows)
