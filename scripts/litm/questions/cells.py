"""Cells of tables as other programs write them: lists and objects, numbers, truth values, marks of missing values."""

import ast
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from litm.base.messages import UserError, quoted

#: Texts for a missing value: of pandas, R and SQL, and the errors of spreadsheets.
MISSING = re.compile(
    r"nan|NaN|NAN|NaT|None|NULL|null|NA|N/A|n/a|<NA>|character\(0\)|#(?:N/A|NAME\?|REF!|VALUE!|DIV/0!|NUM!|NULL!)"
)
#: Beginning of a text that may be a list or an object; and of a list of texts or an object, which is no answer as such.
WRITTEN = re.compile(
    r"(?:array|c|list|set|tuple|frozenset|deque|dict_values|Index|Decimal|tensor|(?:np|numpy)\.\w+)\(|[\[({]|b['\"]"
)
OF_TEXTS = re.compile(
    r"\[\s*b?['\"]|\{\s*['\"]|(?:array|dict_values|Index|tensor)\(\s*\[|c\(\s*\"|frozenset\(\{"
    # Objects as Python, Spark and JavaScript show them, a column of pandas, and JSON in JSON.
    r"|[\[(]?(?:datetime\.\w+|(?:pd\.)?Timestamp|OrderedDict|WrappedArray)\(|<[\w. ]+ object at 0x|\[object \w+\]$"
    r"|(?s:.*)\ndtype: \w+$|\"[\[{]\\\""
)
#: A text, a number, a name, or a mark between them.
TOKEN = re.compile(
    r"""\s*([bu]?'(?:[^'\\]|\\.)*'|[bu]?"(?:[^"\\]|\\.)*"|-?\d[\w.+-]*|[A-Za-z_][\w.]*|[][(){},:=])""", re.DOTALL
)
#: Names before a bracket, which say the type of what is in it.
TYPES = re.compile(r"array|c|list|set|tuple|frozenset|deque|dict_values|Index|Decimal|tensor|(?:np|numpy)\.\w+")
#: The ellipsis for the values that numpy leaves out of long lists.
SHORTENED = re.compile(r"\[.*['\"\d.]\s+\.\.\.\s+['\"\d-].*\]", re.DOTALL)
#: Constants of numpy, JSON and R in Python.
CONSTANTS = {"nan": "None", "null": "None", "NULL": "None", "NA": "None", "true": "True", "TRUE": "True"} | {
    "false": "False",
    "FALSE": "False",
}
#: Keys of an object with its answers: of SQuAD, TriviaQA, MLflow and LangSmith.
ANSWER_KEYS = ("text", "value", "aliases", "answer", "answers", "expected_response", "output")


def written(text: str, where: str) -> Any:
    """The list or object that a text of answers is, see `parsed`; None for any other text.

    Raises `UserError` beginning with `where` for a list that numpy has shortened, and for a list of texts or an object
    that cannot be read.
    """
    value = parsed(text)
    if value is None and SHORTENED.match(text.strip()):
        raise UserError(f"{where}: {quoted(text)} has been shortened; write the whole list (numpy: .tolist())")
    if value is None and OF_TEXTS.match(text.strip()):
        raise UserError(
            f"{where}: {quoted(text)} looks like a list or an object, but cannot be read as one; separate several "
            'answers by |, or write a list in JSON: ["a", "b"]'
        )
    return value


def parsed(text: str) -> Any:
    """The list or object that a text is in the notation of Python, numpy, JSON or R; None for any other text."""
    text = text.strip()
    if not WRITTEN.match(text):
        return None
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    value = None
    with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        value = ast.literal_eval(_as_python(_tokens(text)))
    if isinstance(value, set):
        return sorted(value, key=str)
    # Brackets around one value are no list.
    is_one = value is None or (text[0] in "([{" and not isinstance(value, list | tuple | dict))
    return None if is_one else value


def _tokens(text: str) -> Iterator[str]:
    """The tokens of a text; `ValueError` for a text with anything else."""
    end = 0
    while end < len(text):
        if (match := TOKEN.match(text, end)) is None:
            raise ValueError(text)
        yield match[1]
        end = match.end()


def _as_python(tokens: Iterable[str]) -> str:
    """The tokens as a literal of Python: with commas, which numpy leaves out, and without types."""
    parts: list[str] = []
    remaining = iter(tokens)
    for token in remaining:
        if token == "dtype":
            # An equals sign and the type follow.
            next(remaining, ""), next(remaining, "")
        elif not TYPES.fullmatch(token):
            if parts and parts[-1][-1] not in "([{,:" and token[0] not in ")]},:":
                parts.append(",")
            parts.append(CONSTANTS.get(token, token))
    return "".join(parts)


def answers_in(value: Any, where: str) -> Iterator[Any]:
    """Yield the texts and numbers of a text, a number, a list of them, or an object with one of `ANSWER_KEYS`.

    Raises `UserError` beginning with `where` for any other value, and for a list of several lists.
    """
    if isinstance(value, bytes):
        yield value.decode(errors="replace")
    elif isinstance(value, str) or is_number(value):
        yield value
    elif isinstance(value, Mapping):
        keys = [key for key in ANSWER_KEYS if key in value]
        if not keys:
            raise UserError(
                f"{where}: an object with its answer must have it as {', '.join(map(repr, ANSWER_KEYS[:4]))}, found "
                f"{quoted(value)}; write the answer alone"
            )
        for key in keys:
            yield from answers_in(value[key], where)
    elif isinstance(value, list | tuple):
        nested = [entry for entry in value if isinstance(entry, list | tuple)]
        if len(value) > 1 and any(len(entry) > 1 for entry in nested):
            raise UserError(f"{where}: must be a text, or a list of texts, found {quoted(value)}; write one list")
        for entry in value:
            yield from answers_in(entry, where)
    elif value is None:
        yield ""
    else:
        raise UserError(f"{where}: must be a text, or a list of texts, found {quoted(value)}")


def is_number(value: Any) -> bool:
    """Whether a value is a JSON number; NaN and infinity, which Python writes, are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def of_numbers(value: Any) -> bool:
    """Whether a value is a list of numbers alone, which may be an interval or coordinates in a text."""
    return isinstance(value, list | tuple) and bool(value) and all(map(is_number, value))


def is_missing(value: Any) -> bool:
    """Whether a value is a mark of a missing one."""
    return value != value or (isinstance(value, str) and MISSING.fullmatch(value.strip()) is not None)


@dataclass(frozen=True)
class Habit:
    """What a program does to all values of a column."""

    cell: re.Pattern[str]
    """Cell that the column may have."""
    sign: re.Pattern[str]
    """Cell that the program has written."""
    meant: Callable[[re.Match], str]
    """Meaning of a cell that matches."""
    about: str
    """Sentence for the console."""


#: pandas makes floats of whole numbers in a column with gaps, and writes dates with their time.
HABITS = (
    Habit(
        re.compile(r"(-?\d+)(?:[.,]0)?"),
        re.compile(r".*[.,]0"),
        lambda match: match[1],
        "whole numbers without the decimal that pandas writes (3.0 is 3)",
    ),
    Habit(
        re.compile(r"(\d{4}-\d\d-\d\d)[T ]00:00:00(?:\.0+)?(?:Z|\+00:00)?"),
        re.compile(r".+"),
        lambda match: match[1],
        "dates without the time 00:00:00",
    ),
)
TRUTH = Habit(
    re.compile(r"(true|false)", re.IGNORECASE),
    re.compile(r".+"),
    lambda match: f"{match[1]}|{'yes' if match[1].lower() == 'true' else 'no'}",
    "true also as yes, false also as no",
)


def habit_of(values: Iterable[Any], habits: Iterable[Habit]) -> Habit | None:
    """The habit that all filled cells of a column show, None for none."""
    texts = {str(value).strip() for value in values if value is not None and not is_missing(value)} - {""}
    for habit in habits:
        if any(map(habit.sign.fullmatch, texts)) and all(map(habit.cell.fullmatch, texts)):
            return habit
    return None


#: Texts that programs make of others: dates and exponents of spreadsheets, milliseconds that pandas writes to JSON for
#: dates, fractions with rounding errors (float32's 3.0999999046325684), letters read in another encoding.
ALTERED = re.compile(
    r"\d{1,2}-(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)-\d\d"
    r"|\d(?:[.,]\d+)?[Ee]\+\d+|\d{7,8}00000|-?\d+[.,]\d{12,}|#+"
    r"|.*(?:[ÃÂ][\x80-\xbf\u201a\u0192\u201e\u2020-\u2022\u02c6\u2030\u0160\u2039\u0152\u2018\u201c\u02dc\u2122\u0161\u203a\u0153\u017e\u0178\u20ac]|â€|\ufffd).*"
)
