"""A user's own questions: a table with a question and its answers per row and, if known, the place of the answer.

The columns are `question`, `answer` (or `answers`: one, several separated by |, or a list) and optionally `file`,
`page` and `text` (words of the passage with the answer). Other columns are kept, for `cluster` and for `id`s.
"""

import ast
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from litm.base.files import file_kind
from litm.base.formats import DELIMITERS, delimited, read_records
from litm.base.messages import UserError, quoted, single_spaced, without_invisible
from litm.questions.released_format import LINE, Document, QuestionRecord

#: Endings of supported files.
KINDS = (*DELIMITERS, ".json", ".jsonl")


@dataclass(frozen=True)
class Row:
    """A row. line: its first line, from 1; values: by column name in lower case."""

    path: Path
    line: int
    values: Mapping[str, Any]

    def where(self, column: str | None = None) -> str:
        """The file and the line, and the column if one is given, for messages."""
        return f"{self.path}, line {self.line}" + (f", column '{column}'" if column else "")

    def text(self, column: str | None) -> str:
        """The text of a column, "" if it is empty or missing; `UserError` for any other value."""
        value = self.values.get(column or "")
        if not isinstance(value, str | None):
            raise UserError(f"{self.where(column)}: must be a text, found {quoted(value)}")
        return (value or "").strip()


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file in order; `UserError` with file and line for a malformed file or an unsupported kind.

    Rows without text are skipped, and so are columns on the right without a name or text.
    """
    kind = file_kind(path)
    if kind in (".json", ".jsonl"):
        for line, record in read_records(path):
            yield Row(path, line, {key.strip().lower(): value for key, value in record.items()})
        return
    if kind not in KINDS:
        raise UserError(
            f"{path}: its name must end in {', '.join(KINDS)}, each also with .gz; save a spreadsheet as CSV in UTF-8"
        )
    delimiter, rows = delimited(path)
    first, header = next(rows, (1, []))
    names = _names(header)
    if len(set(names)) < len(names):
        raise UserError(
            f"{path}, line {first}: the header names a column twice ({quoted(', '.join(header))}); rename one"
        )
    for line, given in rows:
        fields = given[: len(names)] if not any(one.strip() for one in given[len(names) :]) else given
        if not any(one.strip() for one in fields):
            continue
        if len(fields) != len(names):
            raise UserError(
                f"{path}, line {line}: {len(fields)} fields, but the header has {len(names)} ({', '.join(names)}); put "
                f"a text with {delimiter!r} in it between quotes"
            )
        yield Row(path, line, dict(zip(names, fields, strict=True)))


def column_names(path: Path) -> list[list[str]]:
    """The columns of a file: those of its header, or the keys of each object."""
    if file_kind(path) in DELIMITERS:
        return [_names(next(delimited(path)[1], (1, []))[1])]
    return [[*row.values] for row in read_rows(path)]


def _names(header: Sequence[str]) -> list[str]:
    """The column names, without empty ones at the end."""
    names = [name.strip().lower() for name in header]
    while names and not names[-1]:
        names.pop()
    return names


#: Columns, with their aliases.
COLUMNS = {
    "question": ("question", "query"),
    "answers": ("answers", "answer"),
    "file": ("file", "source", "document"),
    "page": ("page",),
    "text": ("text", "context", "passage"),
}
#: Key of a record with the passages that it names.
NAMED = "named"
#: Keys that a record sets itself; a column with such a name is dropped.
RESERVED = {*COLUMNS, LINE, NAMED, "ctxs", "gold_id", "nq_annotated_gold"}
#: Words: longer answers are rarely repeated literally.
LONG_ANSWER = 10
#: Marks of the direction of writing, which a model that answers does not repeat. They stay in documents, where they
#: separate words like other punctuation.
_DIRECTIONS = dict.fromkeys((0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))


@dataclass(frozen=True)
class Named:
    """The passages that a user names as answering. by: file, page or text; passages: their ids, likeliest first."""

    by: str
    passages: tuple[str, ...]


@dataclass(frozen=True)
class OwnQuestion:
    """A user's question. line: its line in the file; file, page, words: the place of the answer, as far as given; more:
    other columns.
    """

    text: str
    answers: tuple[str, ...]
    line: int
    file: str | None = None
    page: int | None = None
    words: str | None = None
    more: Mapping[str, Any] | None = None

    def to_record(self, named: Named | None) -> QuestionRecord:
        """The question in the released format, without documents; named: its named passages, if any."""
        fields = {"question": self.text, "answers": list(self.answers), "ctxs": [], **(self.more or {})}
        return QuestionRecord({**fields, LINE: self.line, **({NAMED: asdict(named)} if named else {})})


def named_passages(record: QuestionRecord) -> Named | None:
    """The passages that a record of `OwnQuestion.to_record` names, None for none."""
    named = record.fields.get(NAMED)
    return Named(named["by"], tuple(named["passages"])) if named else None


def line_of(record: QuestionRecord) -> int | None:
    """The record's line in the user's file; None for a record from elsewhere."""
    return record.fields.get(LINE)


def with_gold(record: QuestionRecord, gold: Document) -> QuestionRecord:
    """The question with only its gold document, without the hints that led to it."""
    fields = {key: value for key, value in record.fields.items() if key not in (LINE, NAMED)}
    return QuestionRecord({**fields, "ctxs": [gold.fields]}, record.where)


def read_own_questions(path: Path) -> list[OwnQuestion]:
    """The questions of a file; `UserError` with file, line and column for the first mistake.

    Questions that differ only in white space are the same.
    """
    questions: list[OwnQuestion] = []
    lines: dict[str, int] = {}
    for row in read_rows(path):
        question = _question(row)
        asked = single_spaced(question.text)
        if asked in lines:
            raise UserError(
                f"{row.where()}: the question {quoted(question.text)} is already on line {lines[asked]}; remove one of "
                "them"
            )
        lines[asked] = row.line
        questions.append(question)
    if not questions:
        raise UserError(f"{path}: there are no questions in it; write a row for each, with 'question' and 'answer'")
    return questions


def used_columns(names: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """The column names of a file that are used, and the others. names: see `column_names`."""
    used = [next((alias for alias in aliases if alias in row), "") for aliases in COLUMNS.values() for row in names]
    others = (name for row in names for name in row if name not in used)
    return [*dict.fromkeys(filter(None, used))], [*dict.fromkeys(others)]


def long_answers(questions: Iterable[OwnQuestion]) -> int:
    """The number of questions whose answers all have more than `LONG_ANSWER` words."""
    return sum(min(len(answer.split()) for answer in one.answers) > LONG_ANSWER for one in questions)


def _question(row: Row) -> OwnQuestion:
    columns = {column: _column(aliases, row.values) for column, aliases in COLUMNS.items()}
    for column in ("question", "answers"):
        if columns[column] is None:
            wanted = " or ".join(f"'{alias}'" for alias in COLUMNS[column])
            header = f"{row.path}, header" if file_kind(row.path) in DELIMITERS else row.where()
            raise UserError(f"{header}: no column {wanted}, found {', '.join(row.values) or 'none'}; rename a column")
    file, page = row.text(columns["file"]) or None, _page(row, columns["page"])
    if page is not None and file is None:
        raise UserError(f"{row.where('page')}: a page needs the file it is of; fill in the column 'file'")
    if not (question := row.text(columns["question"])):
        raise UserError(f"{row.where(columns['question'])}: the question is empty; write one or remove the row")
    more = {name: value for name, value in row.values.items() if name not in columns.values() and name not in RESERVED}
    answers, words = _answers(row, str(columns["answers"])), without_invisible(row.text(columns["text"])) or None
    return OwnQuestion(question, answers, row.line, file, page, words, more)


def _column(aliases: Sequence[str], values: Mapping[str, Any]) -> str | None:
    """The name of a column in a row; among several aliases, the first that is filled in."""
    there = [alias for alias in aliases if alias in values]
    return next((alias for alias in there if values[alias] not in (None, "", [])), there[0] if there else None)


def _page(row: Row, column: str | None) -> int | None:
    value = row.values.get(column or "")
    if value is None or not str(value).strip():
        return None
    if isinstance(value, bool) or not str(value).strip().isdecimal():
        raise UserError(f"{row.where(column)}: must be one page, a whole number, found {quoted(value)}")
    return int(value)


def _answers(row: Row, column: str) -> tuple[str, ...]:
    """The answers in a text (separated by |), a number, or a list of them."""
    value, where = row.values[column], row.where(column)
    answers = [_as_text(one) for one in _listed(value, where)]
    if not answers or not all(answers):
        problem = "the answer is empty" if len(answers) < 2 else f"one of the answers is empty in {quoted(value)}"
        raise UserError(f"{where}: {problem}; write one or remove the row")
    return tuple(dict.fromkeys(answers))


def _listed(value: Any, where: str) -> Iterator[Any]:
    if isinstance(value, str):
        listed = _written_list(value)
        yield from value.split("|") if listed is None else listed
    elif isinstance(value, list):
        for one in value:
            if not isinstance(one, str) and not _is_number(one):
                raise UserError(f"{where}: an answer must be a text, found {quoted(one)}")
            yield one
    elif _is_number(value):
        yield value
    elif value is not None:
        raise UserError(f"{where}: must be a text, or a list of texts, found {quoted(value)}")


def _as_text(answer: Any) -> str:
    """An answer as text; pandas writes whole numbers as 1954.0 in a column with gaps."""
    whole = int(answer) if isinstance(answer, float) and answer.is_integer() else answer
    return without_invisible(str(whole)).translate(_DIRECTIONS).strip()


def _is_number(value: Any) -> bool:
    """Whether a value is a JSON number; NaN and infinity, which Python writes, are not."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _written_list(value: str) -> list[str] | None:
    """The list in a table cell, written as JSON or as Python (by pandas); None for other texts."""
    text = value.strip()
    if not text.startswith(('["', "['")):
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError):
            continue
        if isinstance(found, list) and found and all(isinstance(one, str) for one in found):
            return found
    return None
