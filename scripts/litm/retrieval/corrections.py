"""Corrections of gold passages: a table of questions and the ids of their passages, as the user has edited it."""

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from litm.base.errors import UserError
from litm.base.formatting import quoted
from litm.questions.own_rows import read_rows


@dataclass(frozen=True)
class Correction:
    """The passage that a question is to have, '' to leave the question out; where: file and line."""

    passage: str
    where: str


def read_corrections(path: Path, questions: Collection[str]) -> dict[str, Correction]:
    """The corrections by question; `UserError` with file and line for a question that is not among these, or twice."""
    found: dict[str, Correction] = {}
    for row in read_rows(path):
        where = f"{path}, line {row.line}"
        for column in ("question", "passage"):
            if not isinstance(row.values.get(column, None if column == "question" else ""), str | None):
                raise UserError(f"{where}, column '{column}': must be a text, found {quoted(row.values[column])}")
            if column not in row.values:
                raise UserError(f"{where}: no column '{column}', found {', '.join(row.values)}; name one so")
        question = (row.values["question"] or "").strip()
        if question not in questions:
            close = get_close_matches(question, questions, n=1)
            hint = f" (did you mean {quoted(close[0])}?)" if close else ""
            raise UserError(f"{where}, column 'question': {quoted(question)} is not among the questions{hint}")
        if question in found:
            raise UserError(f"{where}, column 'question': {quoted(question)} is there twice; remove one of them")
        found[question] = Correction((row.values["passage"] or "").strip(), f"{where}, column 'passage'")
    return found
