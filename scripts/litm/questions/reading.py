"""Reading of question files line by line, each question once."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar

from litm.base.messages import UserError, quoted
from litm.base.records import read_jsonl


class HasText(Protocol):
    @property
    def text(self) -> str: ...


T = TypeVar("T", bound=HasText)


def read_distinct(path: str | Path, parse: Callable[[dict, str], T], limit: int | None = None) -> Iterator[T]:
    """Yield `parse(record, where)` for the first `limit` lines, all if None; `where` begins any error message.

    Raises `UserError` for a question that repeats an earlier line.
    """
    seen: dict[str, int] = {}
    for number, record in islice(read_jsonl(path), limit):
        where = f"{path}, line {number}"
        question = parse(record, where)
        if question.text in seen:
            raise UserError(f"{where}: the question {quoted(question.text)} is already on line {seen[question.text]}")
        seen[question.text] = number
        yield question
