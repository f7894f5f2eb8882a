"""Scores of a sweep: one row per prompt and target, from examples and responses."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from litm.base.messages import UserError
from litm.domain.example import Example, Target
from litm.domain.finish_reason import OVERFLOW
from litm.domain.other_item import OtherItem
from litm.domain.response import SweepResponse
from litm.scoring.metrics import FULL, METRICS, first_line
from litm.scoring.origin import RUN_AGAIN
from litm.scoring.wrong_answers import Asked, wrong_answer

#: Columns of a score file and their types. `correct` and its variants are missing where nothing was scored,
#: `correct_strict` and `correct_lenient` also where the metric has no such rule, token counts where they are unknown.
#: `preamble`: the first line ends with a colon, so it may only announce the answer; `more_lines`: the answer has
#: further lines. `wrong_kind`: the kind of a wrong answer, see `wrong_kinds.KINDS`; `taken_from`: the position of the
#: other item that a wrong answer was taken from, where it is known.
COLUMNS = {
    "model": "string",
    "experiment": "string",
    "task": "string",
    "metric": "string",
    "size": "int64",
    "items": "int64",
    "placement": "string",
    "position": "Int64",
    "depth": "Float64",
    "id": "string",
    "target": "string",
    "correct": "boolean",
    "correct_first_line": "boolean",
    "correct_full": "boolean",
    "correct_strict": "boolean",
    "correct_lenient": "boolean",
    "empty": "bool",
    "finish_reason": "string",
    "prompt_tokens": "Int64",
    "response_tokens": "Int64",
    "excluded": "bool",
    "preamble": "bool",
    "more_lines": "bool",
    "wrong_kind": "string",
    "taken_from": "Int64",
}

#: Function of a prompt and a target: the items that are not the target's gold item, see `litm.examples.other_items`.
OtherItems = Callable[[str, Target], Sequence[OtherItem]]

#: Values of these columns for an answer that is right or was not scored.
NO_KIND = {"wrong_kind": None, "taken_from": None}


@dataclass(frozen=True)
class Sweep:
    """The subject of a score file: the answers of one model to one experiment.

    other_items: the task's function, None where a wrong answer cannot be traced to an item.
    """

    model: str
    experiment: str
    task: str
    metric: str
    other_items: OtherItems | None = None


def score_sweep(
    sweep: Sweep, examples: Iterable[Example], responses: Iterable[SweepResponse], where: str = "responses"
) -> pd.DataFrame:
    """One row per prompt and target, in the order of the examples; columns as in `COLUMNS`.

    A question that did not fit at one placement of a size is `excluded` at all placements of that size, so
    that positions are always compared on the same questions. The column `cluster` is added if examples have clusters.
    Raises `UserError`, beginning with `where` (the file of the responses), for an example without a response and for
    a response to another prompt.
    """
    by_prompt = {response.name: response for response in responses}
    overflowed = {(size, id) for (size, _, id), r in by_prompt.items() if r.finish_reason == OVERFLOW}
    rows: list[dict] = []
    for example in examples:
        is_excluded = (example.size, example.id) in overflowed
        rows.extend(_rows(sweep, example, _response_to(example, by_prompt, where), is_excluded))
    columns = {**COLUMNS, "cluster": "string"} if any(row["cluster"] is not None for row in rows) else COLUMNS
    return pd.DataFrame(rows, columns=list(columns)).astype(columns)


def _response_to(
    example: Example, responses: Mapping[tuple[int, str, str], SweepResponse], where: str
) -> SweepResponse:
    response = responses.get(example.name)
    named = f"question {example.id}, size {example.size}, {example.placement}"
    if response is None:
        raise UserError(f"{where}: no response to {named}: {RUN_AGAIN}")
    # Files written by earlier versions have no digest of the prompt.
    if response.prompt_sha256 not in (None, example.prompt_sha256):
        raise UserError(
            f"{where}: the response to {named}, answers another prompt than the example has now: {RUN_AGAIN}"
        )
    return response


def _rows(sweep: Sweep, example: Example, response: SweepResponse, is_excluded: bool) -> Iterator[dict]:
    text = response.scored_text
    for target in example.targets:
        verdicts = judge(sweep.metric, text, target.answers)
        yield {
            "model": sweep.model,
            "experiment": sweep.experiment,
            "task": sweep.task,
            "metric": sweep.metric,
            "size": example.size,
            "items": example.context_items,
            "placement": example.placement,
            "position": target.position,
            "depth": target.depth,
            "id": example.id,
            "target": target.name,
            **verdicts,
            "empty": text is not None and not text.strip(),
            "finish_reason": response.finish_reason,
            "prompt_tokens": response.prompt_tokens,
            "response_tokens": response.response_tokens,
            "excluded": is_excluded,
            "preamble": text is not None and first_line(text).endswith(":"),
            "more_lines": text is not None and "\n" in text.strip(),
            "cluster": example.cluster,
            **(kind_of_answer(sweep, example, target, response) if verdicts["correct"] is False else NO_KIND),
        }


def kind_of_answer(sweep: Sweep, example: Example, target: Target, response: SweepResponse) -> dict:
    """The columns `wrong_kind` and `taken_from` of a wrong answer."""
    text = str(response.scored_text)
    metric = METRICS[sweep.metric]
    asked = Asked(
        example.prompt,
        example.question,
        target.text_in(example.prompt),
        sweep.other_items(example.prompt, target) if sweep.other_items else (),
        any(metric.judge(text, other.answers) for other in example.targets if other is not target),
    )
    wrong = wrong_answer(text if metric.reads == FULL else first_line(text), response.finish_reason, asked)
    return {"wrong_kind": wrong.kind, "taken_from": wrong.taken_from}


def judge(metric_name: str, response: str | None, answers: Sequence[str]) -> dict[str, bool | None]:
    """Verdicts on a response: of the metric on the first line, on the full text and (`correct`) on the part it reads;
    of its strict and its lenient rule. None where the metric has no such rule or there is no response.
    """
    if response is None:
        return dict.fromkeys(("correct", *(f"correct_{one}" for one in ("first_line", "full", "strict", "lenient"))))
    metric = METRICS[metric_name]
    in_first_line = metric.judge(first_line(response), answers)
    in_full = metric.judge(response, answers)
    return {
        "correct": in_full if metric.reads == FULL else in_first_line,
        "correct_first_line": in_first_line,
        "correct_full": in_full,
        "correct_strict": metric.strict and metric.strict(response, answers),
        "correct_lenient": metric.lenient and metric.lenient(response, answers),
    }
