"""Scores of a sweep: one row per prompt and target; the accuracy of each cell; whether responses are of the sweep."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from litm.base.intervals import clustered_interval
from litm.base.messages import UserError
from litm.examples.task import Task
from litm.models.devices import AUTO
from litm.prompting.prompt_format import CHAT
from litm.records import (
    FAILED,
    LENGTH,
    MEASURED,
    NOT_RECORDED,
    OVERFLOW,
    REFUSED,
    UNKNOWN,
    Example,
    SweepResponse,
    Target,
    measured_content,
    response_key,
)
from litm.scoring.metrics import FULL, METRICS, first_line
from litm.scoring.wrong_answers import Asked, wrong_answer

RUN_AGAIN = (
    "run again with `--forcerun generate generate_shard import_responses`, which asks only prompts that no journal "
    "has an answer to"
)


@dataclass(frozen=True)
class Origin:
    """What answers are to be made with. source: the model's identity, by identify_model.py; settings: those of the
    model that change an answer; decoding: limit of new tokens, stop rule.
    """

    source: Mapping[str, Any]
    settings: Mapping[str, Any]
    decoding: Mapping[str, Any]


def check_origin(where: str, manifest: Mapping[str, Any], origin: Origin) -> None:
    """Raise `UserError`, beginning with `where`, if a sweep was asked of another model or with other settings.

    manifest: the sweep's manifest. Its file may be a copy from another folder, whose model has the same name.
    """
    made = manifest["identity_fields"]
    # The identity lacks settings that change no answer, see `generation_settings`.
    settings = {name: origin.settings.get(name) for name in made["model"]}
    if settings.get("dtype") == AUTO:
        # The machine that asked chose the format.
        settings["dtype"] = made["model"]["dtype"]
    compared = {
        "model": (made["source"], origin.source),
        "settings": (made["model"], settings),
        "limit or stop rule": (made["decoding"], origin.decoding),
    }
    for what, (then, now) in compared.items():
        if then != now:
            raise UserError(
                f"{where}: these responses have another {what} than the study (a copy from elsewhere?): {RUN_AGAIN}"
            )


def with_checked_keys(
    where: str, manifest: Mapping[str, Any], examples: Iterable[Example], responses: Sequence[SweepResponse]
) -> Iterator[Example]:
    """Yield the examples of a sweep, one at a time: together, long prompts take gigabytes.

    Raises `UserError`, beginning with `where`, for a response that is not of the sweep that the manifest describes.
    Examples without a response are no error here.
    """
    identity = manifest["identity"]
    is_chat = manifest["identity_fields"].get("model", {}).get("prompt_template") == CHAT
    is_measured = any(response.finish_reason == MEASURED for response in responses)
    keys = {response.name: response.key for response in responses}
    for example in examples:
        yield example
        # After its score, whose own refusals say more.
        key = keys.get(example.name)
        content = example.content(is_chat)
        asked = measured_content(content, example.targets[0].answers) if is_measured else content
        if key is not None and key != response_key(identity, asked):
            raise UserError(
                f"{where}: the response to question {example.id}, size {example.size}, {example.placement}, is not of "
                f"the sweep that its manifest describes: {RUN_AGAIN}"
            )


#: Columns of a score file and their types. `correct` and its variants are numbers from 0 to 1 of a graded metric, and
#: missing where nothing was scored, `correct_strict` and `correct_lenient` also where the metric has no such rule,
#: token counts where they are unknown. `preamble`: the first line ends with a colon, so it may only announce the
#: answer; `more_lines`: the answer has further lines. `wrong_kind`: the kind of a wrong answer, see
#: `wrong_answers.KINDS`; `taken_from`: the position of the other item that a wrong answer was taken from, where it is
#: known.
SCORE_COLUMNS = {
    **dict.fromkeys(("model", "experiment", "task", "metric"), "string"),
    **dict.fromkeys(("size", "items"), "int64"),
    "placement": "string",
    "position": "Int64",
    "depth": "Float64",
    **dict.fromkeys(("id", "target"), "string"),
    **dict.fromkeys((f"correct{rule}" for rule in ("", "_first_line", "_full", "_strict", "_lenient")), "boolean"),
    "empty": "bool",
    "finish_reason": "string",
    **dict.fromkeys(("prompt_tokens", "response_tokens"), "Int64"),
    **dict.fromkeys(("excluded", "preamble", "more_lines"), "bool"),
    "wrong_kind": "string",
    "taken_from": "Int64",
}
#: Values of these columns for an answer that is right or was not scored.
NO_KIND = {"wrong_kind": None, "taken_from": None}


@dataclass(frozen=True)
class Sweep:
    """The subject of a score file: the answers of one model to one experiment.

    asks: the task itself, for its wrong answers, None if it is not known.
    """

    model: str
    experiment: str
    task: str
    metric: str
    asks: Task | None = None


def score_sweep(
    sweep: Sweep, examples: Iterable[Example], responses: Iterable[SweepResponse], where: str = "responses"
) -> pd.DataFrame:
    """One row per prompt and target, in the order of the examples; columns as in `SCORE_COLUMNS`.

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
        rows.extend(_rows(sweep, example, response_to(example, by_prompt, where), is_excluded))
    has_clusters = any(row["cluster"] is not None for row in rows)
    graded = {
        name: "Float64" for name in SCORE_COLUMNS if name.startswith("correct") and METRICS[sweep.metric].is_graded
    }
    columns = SCORE_COLUMNS | graded | ({"cluster": "string"} if has_clusters else {})
    return _table(rows, columns)


def response_to(example: Example, responses: Mapping[tuple[int, str, str], SweepResponse], where: str) -> SweepResponse:
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
            **{name: getattr(sweep, name) for name in ("model", "experiment", "task", "metric")},
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
            **(kind_of_answer(sweep, example, target, response) if verdicts["correct"] == 0 else NO_KIND),
        }


def kind_of_answer(sweep: Sweep, example: Example, target: Target, response: SweepResponse) -> dict:
    """The columns `wrong_kind` and `taken_from` of a wrong answer."""
    text, metric = str(response.scored_text), METRICS[sweep.metric]
    others = sweep.asks.other_items(example.prompt, target) if sweep.asks and sweep.asks.other_items else ()
    has_other = any(metric.judge(text, other.answers) for other in example.targets if other is not target)
    item = target.text_in(example.prompt)
    asked = Asked(example.prompt, example.question, item, others, has_other, sweep.asks)
    wrong = wrong_answer(text if metric.reads == FULL else first_line(text), response.finish_reason, asked)
    return {"wrong_kind": wrong.kind, "taken_from": wrong.taken_from}


def judge(metric_name: str, response: str | None, answers: Sequence[str]) -> dict[str, float | None]:
    """Verdicts on a response: of the metric on the first line, on the full text and (`correct`) on the part it reads;
    of its strict and its lenient rule. None where the metric has no such rule or there is no response.
    """
    if response is None:
        return dict.fromkeys(("correct", *(f"correct_{one}" for one in ("first_line", "full", "strict", "lenient"))))
    metric = METRICS[metric_name]
    in_first_line = metric.verdict(metric.judge, first_line(response), answers)
    in_full = metric.verdict(metric.judge, response, answers)
    return {
        "correct": in_full if metric.reads == FULL else in_first_line,
        "correct_first_line": in_first_line,
        "correct_full": in_full,
        "correct_strict": metric.strict and metric.verdict(metric.strict, response, answers),
        "correct_lenient": metric.lenient and metric.verdict(metric.lenient, response, answers),
    }


#: Columns that identify a cell of the accuracy table.
CELL = ["model", "experiment", "task", "metric", "size", "items", "placement", "position", "depth", "target"]
#: Columns of a sweep's accuracies and their types.
ACCURACY_COLUMNS = {
    **dict.fromkeys(["model", "experiment", "task", "metric"], "string"),
    **dict.fromkeys(["size", "items"], "int64"),
    "placement": "string",
    "position": "Int64",
    "depth": "Float64",
    "target": "string",
    "n": "int64",
    **dict.fromkeys(["accuracy", "ci_low", "ci_high", "accuracy_first_line", "accuracy_full"], "Float64"),
    **dict.fromkeys(["accuracy_strict", "accuracy_lenient"], "Float64"),
    "n_empty": "int64",
    **dict.fromkeys(["n_cut", "n_refused"], "Int64"),
    **dict.fromkeys(["n_failed", "n_not_recorded", "n_left_out", "n_preamble"], "int64"),
}


def accuracy_table(scores: pd.DataFrame) -> pd.DataFrame:
    """One row per cell (and target), in the order of the scores: accuracy, interval, counts of special answers.

    Columns as in `ACCURACY_COLUMNS`; those in `CELL` identify the cell.

    n: questions counted. n_left_out: questions left out because they did not fit at some placement. n_failed: questions
    that were asked and got no answer. n_not_recorded: questions that recorded responses lack. n_empty, n_cut,
    n_refused: counted answers that were empty, ended at the limit of new tokens, or were withheld or cut by a
    provider's filter (each may be wrong for that reason alone); n_cut and n_refused are missing where finish reasons
    are unknown. n_preamble: counted answers whose first line ends with a colon.
    Accuracies are fractions, or means of a graded metric; ci_low and ci_high are their 95 % limits, see
    `clustered_interval`.
    """
    rows = [_cell_row(cell, group) for cell, group in scores.groupby(CELL, sort=False, dropna=False)]
    return _table(rows, ACCURACY_COLUMNS)


def _table(rows: list[dict], columns: Mapping[str, str]) -> pd.DataFrame:
    """The rows with columns of these types; `ValueError` for a row without one of them."""
    if rows and (missing := set(columns) - set(rows[0])):
        raise ValueError(f"rows of scores without {', '.join(sorted(missing))}, which their columns declare")
    return pd.DataFrame(rows, columns=list(columns)).astype(columns)


def _cell_row(cell: tuple, group: pd.DataFrame) -> dict:
    failed = ~group["excluded"] & (group["finish_reason"] == FAILED)
    not_recorded = ~group["excluded"] & (group["finish_reason"] == NOT_RECORDED)
    counted = group[~group["excluded"] & ~failed & ~not_recorded]
    n, correct = len(counted), counted["correct"].to_numpy(dtype=float, na_value=0)
    clusters = pd.factorize(counted["cluster"])[0] if "cluster" in counted else None
    low, high = clustered_interval(correct, clusters) if n else (None, None)
    return {
        **dict(zip(CELL, cell, strict=True)),
        "n": n,
        "accuracy": float(correct.sum()) / n if n else None,
        "ci_low": low,
        "ci_high": high,
        "accuracy_first_line": counted["correct_first_line"].sum() / n if n else None,
        "accuracy_full": counted["correct_full"].sum() / n if n else None,
        **{f"accuracy_{rule}": _share(counted[f"correct_{rule}"]) for rule in ("strict", "lenient")},
        "n_empty": int(counted["empty"].sum()),
        "n_cut": _ended(counted, LENGTH),
        "n_refused": _ended(counted, REFUSED),
        "n_failed": int(failed.sum()),
        "n_not_recorded": int(not_recorded.sum()),
        "n_left_out": int(group["excluded"].sum()),
        "n_preamble": int(counted["preamble"].sum()),
    }


def _share(verdicts: pd.Series) -> float | None:
    """The fraction of right answers; None if the rule judged none of them."""
    return verdicts.sum() / len(verdicts) if len(verdicts) and verdicts.notna().all() else None


def _ended(counted: pd.DataFrame, reason: str) -> int | None:
    """The number of answers that ended for a reason; None if any reason is unknown."""
    reasons = counted["finish_reason"]
    return None if (reasons == UNKNOWN).any() else int((reasons == reason).sum())
