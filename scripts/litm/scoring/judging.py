"""Judging: the verdicts of a judge, and the labels of a person on the same answers.

A judge is a model that is asked about each answer of another one, without the context of the question. Its replies are
kept, billed and resumed like all answers; a reply becomes a verdict here.
"""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.base.delimited_files import read_named_columns
from litm.base.messages import UserError
from litm.base.store import digest
from litm.records.responses import SweepResponse
from litm.scoring.metrics import whole_words
from litm.verdicts import RIGHT, read_verdict

#: How the ids of prompts end whose accepted answers are in reverse order.
SWAPPED = "/swapped"
#: Columns of a label's row.
LABEL_COLUMNS = ("key", "question", "accepted_answers", "answer", "right")
#: Characters of a label's key, and of its beginning, which tells the sweep. The rest are hex digits.
KEY_DIGITS, SWEEP_DIGITS = 21, 9
#: What a key begins with, so that no spreadsheet reads it as a number.
KEY_MARK = "k"
_KEY = re.compile(f"{KEY_MARK}[0-9a-f]{{{KEY_DIGITS - 1}}}")
_YES, _NO = {"yes", "y", "1", "true", "right"}, {"no", "n", "0", "false", "wrong"}


def is_exempt(answer: str, answers: Iterable[str]) -> bool:
    """Whether an answer is right without a judge, where only unclear ones are judged."""
    return whole_words(answer, [*answers])


def read_verdicts(responses: Iterable[SweepResponse]) -> dict[tuple[int, str, str], bool | None]:
    """Whether each judged answer is right, by the name of its prompt; None for a reply that is no verdict."""
    verdicts = {}
    for response in responses:
        said = read_verdict(response.scored_text or "")
        verdicts[response.name] = None if said is None else said == RIGHT
    return verdicts


def sweep_key(model: str, experiment: str) -> str:
    """How the keys of the answers of one sweep begin."""
    return KEY_MARK + digest([model, experiment])[: SWEEP_DIGITS - 1]


def label_key(model: str, experiment: str, name: tuple[int, str, str], answer: str) -> str:
    """The key of an answer in a table of labels, which tells a person neither its model nor its position."""
    return sweep_key(model, experiment) + digest([list(name), answer.strip()])[: KEY_DIGITS - SWEEP_DIGITS]


def check_labels(labels: Iterable[str], model: str, experiment: str, keys: Container[str], where: str) -> None:
    """Raise `UserError` beginning with `where` for labels of answers that this sweep does not have."""
    others = [key for key in labels if key.startswith(sweep_key(model, experiment)) and key not in keys]
    if others:
        raise UserError(
            f"{where}: {len(others)} labels, such as {others[0]}, are of other answers than {model} gives to "
            f"{experiment} now; label these anew (results/labels/{experiment}.csv)"
        )


def read_labels(path: str) -> dict[str, bool]:
    """Whether a person calls an answer right, by its key; rows that are not filled in are left out.

    Raises `UserError` for a file without the columns, a key that occurs twice, another word, and no label at all.
    """
    labels: dict[str, bool] = {}
    lines: dict[str, int] = {}
    for number, row in read_named_columns(Path(path), needed="key"):
        if "right" not in row:
            raise UserError(f"{path}: no column 'right': fill in a copy of results/labels/EXPERIMENT.csv")
        key, word = row["key"].strip(), row["right"].strip().lower()
        if not _KEY.fullmatch(key):
            raise UserError(
                f"{path}, line {number}: {key!r} is no key of results/labels/EXPERIMENT.csv; keep its column"
            )
        if word and word not in _YES | _NO:
            raise UserError(f"{path}, line {number}: 'right' is {row['right']!r}; write yes or no, or leave it empty")
        if word and labels.setdefault(key, word in _YES) != (word in _YES):
            raise UserError(
                f"{path}: lines {lines[key]} and {number} label one answer (key {key}), one as right and one as wrong; "
                "delete the line that is wrong"
            )
        if word:
            lines.setdefault(key, number)
    if not labels:
        raise UserError(f"{path}: no row has a label: fill in its column 'right' with yes or no")
    return labels


@dataclass(frozen=True)
class Judged:
    """What is known of the answers of one sweep apart from their texts."""

    verdicts: Mapping[tuple[int, str, str], bool | None]
    """See `read_verdicts`."""
    only_unclear: bool
    """Whether answers with an accepted answer as whole words are right without a verdict."""
    labels: Mapping[str, bool]
    """See `read_labels`; of all models and experiments."""

    def verdicts_of(self, name: tuple[int, str, str], answer: str | None, answers: Iterable[str]) -> dict[str, Any]:
        """The verdict columns of a score; all None without an answer, and `correct` None without a verdict.

        Raises `UserError` for an answer that the judge was not asked about.
        """
        columns = ("correct", *(f"correct_{kind}" for kind in ("first_line", "full", "strict", "lenient")))
        if answer is None:
            return dict.fromkeys(columns)
        is_strict = is_exempt(answer, answers)
        if not answer.strip():
            verdict: bool | None = False
        elif self.only_unclear and is_strict:
            verdict = True
        elif name in self.verdicts:
            verdict = self.verdicts[name]
        else:
            raise UserError(f"question {name[2]}, size {name[0]}, {name[1]}: the judge has no verdict on its answer")
        return dict(zip(columns, (verdict, verdict, verdict, is_strict, None), strict=True))
