"""A user's own questions: a table with a question and its answers per row and, if known, the place of the answer.

The columns are `question`, `answer` (or `answers`: one, several separated by |, or a list) and optionally `file`,
`page` and `text` (words of the passage with the answer); `columns` has their other names. Other columns are kept, for
`cluster` and for `id`s.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

from litm.base.delimited_files import DELIMITERS, delimited
from litm.base.files import file_kind
from litm.base.json_files import read_records, without_surrogates
from litm.base.messages import UserError, counted, first_of, quoted, shortened, single_spaced, without_invisible
from litm.base.table_files import parquet_records
from litm.questions.cells import (
    ALTERED,
    HABITS,
    TRUTH,
    Habit,
    answers_in,
    habit_of,
    is_missing,
    of_numbers,
    parsed,
    written,
)
from litm.questions.columns import COLUMNS, Columns, columns_of, plain_name
from litm.questions.released_format import LINE, Document, QuestionRecord

T = TypeVar("T")
#: Endings of supported files.
KINDS = (*DELIMITERS, ".json", ".jsonl", ".parquet")
#: Columns that a message lists.
LISTED = 12
#: Names of columns with row numbers: none, and those of pandas.
UNNAMED = re.compile(r"|unnamed: \d+|__index_level_\d+__")


@dataclass(frozen=True)
class Row:
    """A row of a file of questions."""

    path: Path
    """File of the row."""
    line: int
    """First line of the row, from 1."""
    values: Mapping[str, Any]
    """Values by column name in lower case."""

    def where(self, column: str | None = None) -> str:
        """The file and the line, and the column if one is given, for messages."""
        return f"{self.path}, line {self.line}" + (f", column '{column}'" if column else "")

    def text(self, column: str | None) -> str:
        """The text of a column, "" if it is empty or missing; `UserError` for any other value."""
        value = self.values.get(column or "")
        if not isinstance(value, str | None):
            raise UserError(f"{self.where(column)}: must be a text, found {quoted(value)}")
        return (value or "").strip()

    def first(self, columns: Sequence[str]) -> str | None:
        """The first of these columns that is filled in, or else the first that there is."""
        there = [name for name in columns if name in self.values]
        return next((name for name in there if not _is_empty(self.values[name])), there[0] if there else None)

    def chosen(self, columns: Sequence[str]) -> list[str]:
        """`first` as a list."""
        return [name for name in (self.first(columns),) if name is not None]

    def with_value(self, column: str, habit: Habit) -> "Row":
        """The row with what a cell of the column means."""
        match = habit.cell.fullmatch(str(self.values.get(column)).strip())
        return replace(self, values={**self.values, column: habit.meant(match)}) if match else self


def _is_empty(value: Any) -> bool:
    return value in (None, "", []) or is_missing(value)


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file in order; `UserError` with file and line for a malformed file or an unsupported kind.

    Rows without text are skipped, and so are row numbers, and columns on the right without a name or text.
    """
    kind = file_kind(path)
    if kind in DELIMITERS:
        yield from _delimited_rows(path)
        return
    if kind not in KINDS:
        raise UserError(
            f"{path}: its name must end in {', '.join(KINDS)}, all but the last also with .gz; save a spreadsheet as "
            "CSV in UTF-8, and call a .txt with tabs .tsv"
        )
    records = enumerate(parquet_records(path), start=1) if kind == ".parquet" else read_records(path)
    for line, record in _by_row(list(records)):
        values = {key.strip().lower(): value for key, value in record.items()}
        if len(values) < len(record):
            raise UserError(
                f"{path}, line {line}: two keys differ only in case ({quoted(', '.join(record))}); rename one"
            )
        yield Row(path, line, {name: value for name, value in values.items() if not UNNAMED.fullmatch(name)})


def _delimited_rows(path: Path) -> Iterator[Row]:
    delimiter, lines = delimited(path)
    first, header = next(lines, (1, []))
    names, rows = _names(header), list(lines)
    # R's write.table gives row names no header.
    numbers = {fields[0] for _, fields in rows if len(fields) == len(names) + 1 and fields[0].isdecimal()}
    if len(rows) == len(numbers) > 1:
        names = ["", *names]
    named = [name for name in names if not UNNAMED.fullmatch(name)]
    if len(set(named)) < len(named):
        raise UserError(
            f"{path}, line {first}: the header names a column twice ({quoted(', '.join(header))}); rename one"
        )
    for line, line_fields in rows:
        fields = line_fields if any(map(str.strip, line_fields[len(names) :])) else line_fields[: len(names)]
        if not any(map(str.strip, fields)):
            continue
        if len(fields) != len(names):
            raise UserError(
                f"{path}, line {line}: {len(fields)} fields, but the header has {len(names)} "
                f"({shortened(first_of(names, LISTED), 240)}); put a text with {delimiter!r} in it between quotes"
            )
        cells = zip(names, fields, strict=True)
        yield Row(path, line, {name: field for name, field in cells if not UNNAMED.fullmatch(name)})


def _names(header: Sequence[str]) -> list[str]:
    """The column names, without empty ones at the end."""
    names = [name.strip().lower() for name in header]
    while names and not names[-1]:
        names.pop()
    return names


def _by_row(records: list[tuple[int, dict]]) -> Iterator[tuple[int, dict]]:
    """The records, or the rows in a single one, with their numbers: pandas' `to_json` by column (its default), by row
    number and with a list of columns, Hugging Face's `to_dict`, or one list of objects under a key.
    """
    record = records[0][1] if len(records) == 1 else {}
    values = [*record.values()]
    rows: list[Any] = []
    names, data = record.get("columns"), record.get("data")
    if _is_list_of(names, str) and _is_list_of(data, list):
        rows = [dict(zip(names, row, strict=False)) for row in data]
    elif any(plain_name(name) in COLUMNS["question"] for name in record):
        by_label = [dict(enumerate(value)) if isinstance(value, list) else value for value in values]
        if len(values) > 1 and all(isinstance(value, dict) and [*value] == [*by_label[0]] for value in by_label):
            rows = [{name: value[label] for name, value in zip(record, by_label, strict=True)} for label in by_label[0]]
    elif values and all(isinstance(value, dict) for value in values):
        rows = values
    elif len(lists := [value for value in values if isinstance(value, list)]) == 1:
        rows = lists[0]
    yield from enumerate(rows, start=1) if _is_list_of(rows, dict) else records


def _is_list_of(value: Any, kind: type[T]) -> TypeGuard[list[T]]:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, kind) for entry in value)


#: Key of a record with the passages that it names.
NAMED = "named"
#: Keys that a record sets itself; a column with such a name is dropped.
RESERVED = {*COLUMNS, "answers", LINE, NAMED, "ctxs", "gold_id", "nq_annotated_gold"}
#: Columns with the texts of choices, and how promptfoo writes an assertion: `contains: text`.
CHOICES, ASSERTION = ("choices", "options"), re.compile(r"[a-z]+(?:-[a-z]+)*(?:\([^)]*\))?:")
#: Words: longer answers are rarely repeated literally.
LONG_ANSWER = 10
#: Marks of the direction of writing, which a model that answers does not repeat. They stay in documents, where they
#: separate words like other punctuation.
_DIRECTIONS = dict.fromkeys((0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))


@dataclass(frozen=True)
class Named:
    """The passages that a user names as answering."""

    by: str
    """Kind of naming: file, page or text."""
    passages: tuple[str, ...]
    """Ids of the passages, likeliest first."""


@dataclass(frozen=True)
class OwnQuestion:
    """A user's question."""

    text: str
    """Text of the question."""
    answers: tuple[str, ...]
    """Accepted answers."""
    line: int
    """Line in the user's file."""
    file: str | None = None
    """File with the answer, if given."""
    page: int | None = None
    """Page with the answer, if given."""
    words: str | None = None
    """Text with the answer, if given."""
    more: Mapping[str, Any] | None = None
    """Other columns."""

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


@dataclass(frozen=True)
class OwnTable:
    """A user's table of questions."""

    questions: tuple[OwnQuestion, ...]
    """Questions of the table."""
    used: tuple[str, ...]
    """Columns that are used."""
    kept: tuple[str, ...]
    """Other columns."""
    notes: tuple[str, ...] = ()
    """Sentences on how the table was read, and doubts."""


def read_own_questions(path: Path) -> list[OwnQuestion]:
    """The questions of a file, see `read_own_table`."""
    return [*read_own_table(path).questions]


def read_own_table(path: Path) -> OwnTable:
    """The questions of a file; `UserError` with file, line and column for the first mistake.

    Questions that differ only in white space are the same.
    """
    raw_rows = list(read_rows(path))
    names = [*dict.fromkeys(name for row in raw_rows for name in row.values)]
    filled = {name for row in raw_rows for name, value in row.values.items() if not _is_empty(value)}
    columns = columns_of(names, filled, str(path))
    rows, notes = _meant(raw_rows, columns)
    are_lists = all(_is_list(row, name) for row in rows for name in columns.answers)
    questions: list[OwnQuestion] = []
    lines: dict[str, int] = {}
    for row in rows:
        question = _question(row, columns, are_lists)
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
    used = dict.fromkeys(name for role in columns.roles for row in rows for name in row.chosen(role))
    kept = [name for name in names if name not in used]
    return OwnTable(tuple(questions), tuple(used), tuple(kept), (*notes, *_doubts(rows, columns, questions)))


def _is_list(row: Row, column: str) -> bool:
    """Whether a cell is a list or an object, or empty."""
    value = row.values.get(column)
    return _is_empty(value) or isinstance(parsed(value) if isinstance(value, str) else value, list | tuple | dict)


def _meant(rows: Sequence[Row], columns: Columns) -> tuple[list[Row], list[str]]:
    """The rows with the values that a program meant, and sentences on what was changed."""
    notes, meant = [], list(rows)
    if columns.said:
        right, said = (", ".join(map(repr, names)) for names in (columns.answers, columns.said))
        notes.append(f"the right answers are in {right}; not used: {said}")
    read: dict[Habit, list[str]] = {}
    for name in dict.fromkeys(name for row in rows for name in row.values):
        if name in columns.question or name in columns.text:
            continue
        habits = (*HABITS, TRUTH) if name in columns.answers else HABITS
        if habit := habit_of((row.values.get(name) for row in rows), habits):
            read.setdefault(habit, []).append(f"'{name}'")
            meant = [row.with_value(name, habit) for row in meant]
    notes += [f"read in {first_of(names, LISTED)}: {habit.about}" for habit, names in read.items()]
    return meant, notes


def _doubts(rows: Sequence[Row], columns: Columns, questions: Sequence[OwnQuestion]) -> Iterator[str]:
    """Sentences on what may not be meant."""
    answers = [answer for question in questions for answer in question.answers]
    cells = [value for row in rows for name in columns.answers if isinstance(value := row.values.get(name), str)]
    if altered := [answer for answer in answers if ALTERED.fullmatch(answer)]:
        yield (
            f"{counted(len(altered), 'answer')} may have been altered by a spreadsheet or another encoding "
            f"({first_of([*map(quoted, altered)], 3)}); compare with the documents"
        )
    numbers = [cell for cell in cells if of_numbers(parsed(cell))]
    if numbers and all(_is_list(row, name) for row in rows for name in columns.answers):
        yield f"each number in a list such as {quoted(numbers[0])} is read as an answer"
    has_choices = any(plain_name(name) in CHOICES for row in rows for name in row.values)
    if has_choices and all(len(answer) == 1 for answer in answers):
        yield "the answers may be the letters or numbers of choices: write the text of the right choice instead"
    several = sum(
        question.words is None and not _is_empty(row.values.get(row.first(columns.text) or ""))
        for row, question in zip(rows, questions, strict=True)
    )
    if several:
        yield f"{counted(several, 'row')} with several passages: none of these is taken as the place of the answer"


def long_answers(questions: Iterable[OwnQuestion]) -> int:
    """The number of questions whose answers all have more than `LONG_ANSWER` words."""
    return sum(min(len(answer.split()) for answer in question.answers) > LONG_ANSWER for question in questions)


def _question(row: Row, columns: Columns, are_lists: bool) -> OwnQuestion:
    """are_lists: whether the answers of all rows are lists or objects."""
    for names, wanted in ((columns.question, "'question' or 'query'"), (columns.answers, "'answers' or 'answer'")):
        if row.first(names) is None:
            header = f"{row.path}, header" if file_kind(row.path) in DELIMITERS else row.where()
            there = shortened(single_spaced(first_of([*row.values], LISTED)), 240) or "none"
            raise UserError(f"{header}: no column {wanted}, found {there}; rename a column")
    used = {row.first(role) for role in columns.roles} | RESERVED
    more = {
        name: ("" if isinstance(value, str) else None) if is_missing(value) else value
        for name, value in row.values.items()
        if name not in used
    }
    file, page = _place(row, row.first(columns.file)) or None, _page(row, row.first(columns.page))
    if page is not None and file is None:
        raise UserError(f"{row.where('page')}: a page needs the file it is of; fill in the column 'file'")
    words = without_invisible(_words(row, row.first(columns.text))) or None
    return OwnQuestion(_asked(row, columns), _answers(row, columns, are_lists), row.line, file, page, words, more)


def _asked(row: Row, columns: Columns) -> str:
    """The text of the question, also in an object of a framework: `{"question": ...}`."""
    column = row.first(columns.question)
    value = row.values[str(column)]
    is_object = isinstance(value, str) and value.lstrip()[:2] in ('{"', "{'", "[{")
    inside = (parsed(value) if is_object else None) or value
    if isinstance(inside, dict):
        inside = next((inside[key] for key in inside if plain_name(key) in COLUMNS["question"]), inside)
    question = Row(row.path, row.line, {str(column): inside}).text(column)
    if not question or is_missing(question):
        raise UserError(f"{row.where(column)}: the question is empty; write one or remove the row")
    return question


def _place(row: Row, column: str | None) -> str:
    return "" if is_missing(row.values.get(column or "")) else row.text(column)


def _words(row: Row, column: str | None) -> str:
    """The words of the passage, "" for a list of several passages."""
    value = row.values.get(column or "")
    inside = (parsed(value) if isinstance(value, str) else None) or value
    if isinstance(inside, list | tuple | dict):
        only = inside[0] if len(inside) == 1 and not isinstance(inside, dict) else ""
        return only.strip() if isinstance(only, str) else ""
    return _place(row, column)


def _page(row: Row, column: str | None) -> int | None:
    value = row.values.get(column or "")
    if _is_empty(value) or not str(value).strip():
        return None
    # pandas writes 3.0 in a column with gaps, and Excel 3,0.
    if isinstance(value, bool) or not (whole := re.fullmatch(r"(\d{1,9})(?:[.,]0)?", str(value).strip())):
        raise UserError(f"{row.where(column)}: must be one page, a whole number, found {quoted(value)}")
    return int(whole[1])


def _answers(row: Row, columns: Columns, are_lists: bool) -> tuple[str, ...]:
    """The answers in the columns of a row, which must agree."""
    filled = [name for name in columns.answers if not _is_empty(row.values.get(name))]
    by_column = {name: _answers_in(row, name, are_lists) for name in filled or [str(row.first(columns.answers))]}
    (first, answers), *others = by_column.items()
    for name, other in others:
        if set(other) != set(answers):
            raise UserError(
                f"{row.where()}: the columns '{first}' and '{name}' have different answers; rename the one with the "
                "right ones to 'ground_truth'"
            )
    return answers


def _answers_in(row: Row, column: str, are_lists: bool) -> tuple[str, ...]:
    """The answers in a text (separated by |), a number, or a list of them."""
    value, where = row.values[column], row.where(column)
    if is_missing(value) and isinstance(value, str):
        raise UserError(
            f"{where}: {quoted(value.strip())} may mean that there is no answer; write one or remove the row, or write "
            f'["{value.strip()}"] if that is the answer'
        )
    if isinstance(value, str) and column.startswith("__expected") and ASSERTION.match(value):
        raise UserError(f"{where}: {quoted(value)} is an assertion of promptfoo; write the answer alone")
    inside = written(value, where) if isinstance(value, str) else None if is_missing(value) else value
    # An interval, or coordinates, beside other texts.
    is_text = of_numbers(inside) and not are_lists and isinstance(value, str) and value.lstrip()[0] in "[({"
    if isinstance(value, str) and (inside is None or is_text):
        inside = value.split("|")
    answers = [_as_text(answer) for answer in answers_in(inside, where)]
    if not answers or not all(answers):
        problem = "the answer is empty" if len(answers) < 2 else f"one of the answers is empty in {quoted(value)}"
        raise UserError(f"{where}: {problem}; write one or remove the row")
    return tuple(dict.fromkeys(answers))


def _as_text(answer: Any) -> str:
    """An answer as text; pandas writes whole numbers as 1954.0 in a column with gaps."""
    whole = int(answer) if isinstance(answer, float) and answer.is_integer() else answer
    return without_invisible(without_surrogates(str(whole))).translate(_DIRECTIONS).strip()
