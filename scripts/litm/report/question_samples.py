"""A sample of questions for the page: prompts at every position with the gold items marked, answers and verdicts.

A record is one question of an experiment at one size: {id, size, pieces, cells}. Prompts of a question share most of
their text, so `pieces` holds each sentence or line once, and a prompt is a list of indices into it. A cell is
{placement, question, prompt, targets, responses}, and `is_chat` if the prompt also has messages. A target is
{name, position, answers, span}, with the span in UTF-16 units, as a browser counts. A response is {model, text,
verdicts (one per target: true, false, or null if not scored), finish_reason, excluded}, with `answer` if only that part
of the text was scored, and with `taken` {position, span} if the scores name the item that a wrong answer was taken from
(`taken_from`); span is null if the prompt does not contain that item in one piece.
"""

import base64
import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter, itemgetter

import pandas as pd

from litm.base.groups import grouped
from litm.records.examples import Example, OtherItem, Target
from litm.records.responses import SweepResponse

#: Characters for the questions, whatever figures and tables take.
SAMPLE_CHARACTERS = 16_000_000
#: End of a line or a sentence.
_END = re.compile(r"(?<=\n)|(?<=[.!?] )")


def sampled_ids(scores: pd.DataFrame, questions: int, seed: int) -> dict[int, list[str]]:
    """Ids of a random sample of the questions, by size; it depends only on the seed and the ids.

    Ids are in the order of SHA-256 of `{seed}/explorer/{id}`, so a smaller sample is the beginning of a larger one.
    """

    def order(id: str) -> str:
        # The sample's former name is kept, so that a seed still draws the same questions.
        return hashlib.sha256(f"{seed}/explorer/{id}".encode()).hexdigest()

    return {
        size: sorted(scores.loc[scores["size"] == size, "id"].unique(), key=order)[:questions]
        for size in scores["size"].unique().tolist()
    }


def question_records(
    examples: Iterable[Example],
    responses: Mapping[str, Iterable[SweepResponse]],
    scores: pd.DataFrame,
    ids: Mapping[int, Sequence[str]],
    other_items: Callable[[str, Target], Sequence[OtherItem]] | None = None,
) -> Iterator[dict]:
    """Yield the record of each sampled question, size by size in the order of the sample.

    responses: by model; scores: rows of `scoring.score_sweep` for all these models; other_items: of the task.
    """
    wanted = {(size, id) for size, of_size in ids.items() for id in of_size}
    cells = grouped((example for example in examples if (example.size, example.id) in wanted), attrgetter("size", "id"))
    answers = _answers(responses, scores, wanted)
    for size, of_size in ids.items():
        for id in of_size:
            yield _record(size, id, cells[size, id], answers, other_items)


def _answers(
    responses: Mapping[str, Iterable[SweepResponse]], scores: pd.DataFrame, wanted: set[tuple[int, str]]
) -> dict[tuple[int, str, str], list[dict]]:
    """Answers by size, id and placement, in the order of the models."""
    chosen = scores[[key in wanted for key in zip(scores["size"], scores["id"], strict=True)]]
    verdicts = {
        key: (group["correct"].tolist(), bool(group["excluded"].iloc[0]), group["taken_from"].tolist())
        for key, group in chosen.groupby(["model", "size", "id", "placement"], sort=False)
    }
    answers: dict[tuple[int, str, str], list[dict]] = {}
    for model, of_model in responses.items():
        for response in of_model:
            size, placement, id = response.name
            if (size, id) not in wanted:
                continue
            correct, excluded, taken_from = verdicts[model, size, id, placement]
            answer: dict = {
                "model": model,
                "text": response.text,
                # A graded answer that is neither right nor wrong is a number.
                "verdicts": [
                    None if pd.isna(value) else bool(value) if value in (0, 1) else float(value) for value in correct
                ],
                "finish_reason": response.finish_reason,
                "excluded": excluded,
            }
            if response.scored_text != response.text:
                answer["answer"] = response.scored_text
            # An answer to several targets is not taken from one item.
            if len(taken_from) == 1 and not pd.isna(taken_from[0]):
                answer["taken"] = {"position": int(taken_from[0])}
            answers.setdefault((size, id, placement), []).append(answer)
    return answers


def _record(size: int, id: str, examples: Sequence[Example], answers: Mapping, other_items: Callable | None) -> dict:
    pieces: dict[str, int] = {}
    cells = [
        {
            "placement": example.placement,
            "question": example.question,
            "prompt": [pieces.setdefault(piece, len(pieces)) for piece in _END.split(example.prompt)],
            **({} if example.messages is None else {"is_chat": True}),
            "targets": [_target(target, example.prompt) for target in example.targets],
            "responses": [
                _marked(response, example, other_items) for response in answers.get((size, id, example.placement), [])
            ],
        }
        for example in examples
    ]
    return {"id": id, "size": size, "pieces": list(pieces), "cells": cells}


def _marked(response: dict, example: Example, other_items: Callable | None) -> dict:
    """The response, with the span of the item it was taken from."""
    if "taken" not in response:
        return response
    position = response["taken"]["position"]
    items = other_items(example.prompt, example.targets[0]) if other_items else ()
    text = next((item.text for item in items if item.position == position), "")
    start = example.prompt.find(text) if text else -1
    span = None if start < 0 else _utf16_span((start, start + len(text)), example.prompt)
    return {**response, "taken": {"position": position, "span": span}}


def _target(target: Target, prompt: str) -> dict:
    return {
        "name": target.name,
        "position": target.position,
        "answers": list(target.answers),
        "span": None if target.span is None else _utf16_span(target.span, prompt),
    }


def _utf16_span(span: tuple[int, int], prompt: str) -> list[int]:
    return [len(prompt[:end].encode("utf-16-le")) // 2 for end in span]


@dataclass(frozen=True)
class Sample:
    """The sample of questions as the page shows it."""

    opened: str | None
    """The experiment that is shown first."""
    questions: Mapping[str, str]
    """Packed records by experiment."""
    most: Mapping[str, int]
    """The most questions per size, by experiment."""
    formats: Mapping[str, Mapping]
    """Prompt formats by model."""
    most_megabytes: int


def sample(
    samples: Mapping[str, Sequence[Mapping]], figures: Sequence[Mapping], formats: Mapping[str, Mapping]
) -> Sample:
    """The sample of questions, with as many as there is room for.

    samples: records of `question_records` by experiment. figures: settings; the first one's experiment is shown first.
    """
    questions, left = pack(samples, SAMPLE_CHARACTERS)
    drawn = [name for figure in figures for name in figure["experiments"] if name in questions]
    of_a_size = {name: most_of_a_size(records) for name, records in samples.items()}
    return Sample(
        opened=next(iter(drawn), None),
        questions=questions,
        most={name: most if left is None else min(most, left) for name, most in of_a_size.items()},
        formats=formats,
        most_megabytes=SAMPLE_CHARACTERS // 1_000_000,
    )


def pack(samples: Mapping[str, Sequence[Mapping]], most_characters: int) -> tuple[dict[str, str], int | None]:
    """Records as gzip in base64 by experiment, `most_characters` in total, and the number of questions kept per size.

    That number is None for all, else the largest half, quarter, ... of the sample that fits.
    """
    half = max(map(most_of_a_size, samples.values()), default=0)
    questions = None
    while True:
        texts = {name: packed(first_of_each_size(records, half)) for name, records in samples.items()}
        if sum(map(len, texts.values())) <= most_characters or half == 0:
            return texts, questions
        half //= 2
        questions = half


def first_of_each_size(records: Iterable[Mapping], questions: int) -> list[Mapping]:
    """The first `questions` records of each size, in their order."""
    return [record for _, of_size in groupby(records, itemgetter("size")) for record in islice(of_size, questions)]


def most_of_a_size(records: Iterable[Mapping]) -> int:
    """The most questions that a size has."""
    return max(Counter(record["size"] for record in records).values(), default=0)


def packed(value: object) -> str:
    """JSON as gzip in base64; equal values give equal text."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
