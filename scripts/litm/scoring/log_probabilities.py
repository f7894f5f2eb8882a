"""Log-probabilities of the accepted answers of a sweep: one row per prompt."""

from collections.abc import Iterable, Mapping, Sequence
from math import exp, log

import pandas as pd

from litm.records import OVERFLOW, Example, SweepResponse, measured_answers
from litm.scoring.scores import response_to

#: What is read of the log-probabilities of a prompt's accepted answers, in nats.
QUANTITIES = {
    "per_token": "of a token of the answer: the log-probability of an accepted answer divided by its number of tokens, "
    "of the answer where it is largest",
    "answer": "of the most probable accepted answer",
    "any_answer": "of the sum of the probabilities of the accepted answers, without those that begin with another one",
}
#: Columns of a file of log-probabilities and their types, apart from `cluster`. A quantity is missing where the prompt
#: got no log-probability; answer_tokens: of the most probable answer.
COLUMNS = {
    **dict.fromkeys(("model", "experiment", "task"), "string"),
    **dict.fromkeys(("size", "items"), "int64"),
    "placement": "string",
    "position": "Int64",
    "depth": "Float64",
    **dict.fromkeys(("id", "target", "finish_reason"), "string"),
    "prompt_tokens": "Int64",
    "excluded": "bool",
    "answer_tokens": "Int64",
    **dict.fromkeys(QUANTITIES, "Float64"),
}


def quantities(text: str, answers: Sequence[str]) -> dict[str, float | int]:
    """`QUANTITIES` and `answer_tokens` of a prompt; text: of its response, see `measured_answers`."""
    measured = measured_answers(text)
    best = max(measured)
    return {
        "per_token": max(value / tokens for value, tokens in measured),
        "answer": best[0],
        "any_answer": _log_sum([measured[one][0] for one in _apart(answers)]),
        "answer_tokens": best[1],
    }


def _apart(answers: Sequence[str]) -> list[int]:
    """Indices of the answers that begin with no other one, whose probabilities add up."""
    distinct = dict(zip(reversed(answers), reversed(range(len(answers))), strict=True))
    return sorted(
        at for text, at in distinct.items() if not any(text != one and text.startswith(one) for one in distinct)
    )


def _log_sum(values: Sequence[float]) -> float:
    most = max(values)
    return most + log(sum(exp(value - most) for value in values))


def log_probability_rows(
    model: str,
    experiment: str,
    task: str,
    examples: Iterable[Example],
    responses: Iterable[SweepResponse],
    where: str = "log-probabilities",
) -> pd.DataFrame:
    """One row per prompt, in the order of the examples; columns as in `COLUMNS`, and `cluster` if examples have any.

    A question that did not fit at one placement of a size is `excluded` at all placements of that size, as in scores.
    Raises `UserError`, beginning with `where`, as `scores.response_to`.
    """
    by_prompt = {response.name: response for response in responses}
    too_long = {(size, id) for (size, _, id), one in by_prompt.items() if one.finish_reason == OVERFLOW}
    rows = [
        {"model": model, "experiment": experiment, "task": task}
        | _row(example, response_to(example, by_prompt, where), (example.size, example.id) in too_long)
        for example in examples
    ]
    has_clusters = any(row["cluster"] is not None for row in rows)
    columns: Mapping[str, str] = COLUMNS | ({"cluster": "string"} if has_clusters else {})
    return pd.DataFrame(rows, columns=list(columns)).astype(columns)


def _row(example: Example, response: SweepResponse, is_excluded: bool) -> dict:
    (target,) = example.targets
    return {
        "size": example.size,
        "items": example.context_items,
        "placement": example.placement,
        "position": target.position,
        "depth": target.depth,
        "id": example.id,
        "target": target.name,
        "finish_reason": response.finish_reason,
        "prompt_tokens": response.prompt_tokens,
        "excluded": is_excluded,
        "cluster": example.cluster,
        **({} if response.text is None else quantities(response.text, target.answers)),
    }
