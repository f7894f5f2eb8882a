"""Records of files with responses from elsewhere: their fields, under the names in the files."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

from litm.base.delimited_files import DELIMITERS, read_named_columns
from litm.base.files import file_kind
from litm.base.json_files import read_jsonl
from litm.base.messages import UserError, quoted, shortened
from litm.base.store import canonical_json, text_sha256
from litm.questions.subsets import match_key
from litm.recorded.foreign_answers import finish_reason, opened, void_mark
from litm.recorded.logs import asked_content, read_log
from litm.recorded.position_scale import position_numbers
from litm.records.responses import FAILED, LENGTH, NOT_RECORDED, OVERFLOW, REFUSED, UNKNOWN

#: Fields that identify a question; at least one is needed. A prompt is compared whole, a question's text by
#: `match_key`.
IDENTIFIERS = ("id", "question", "prompt")
#: Fields that identify a cell, unless the file's path does.
PLACES = ("size", "placement", "position")
MATCHED = (*PLACES, *IDENTIFIERS)
#: What programs write for no position, such as that of a closed-book prompt.
NO_POSITION = (None, "", "nan", "NaN", "None", "none", "null", "NULL", "NA", "N/A", "<NA>", -1, "-1", "-1.0")
#: Default field names: those of the responses that this workflow writes.
OWN_FIELDS = {name: name for name in ("response", "id", "size", "placement", "finish_reason", "prompt_sha256")}
ENDINGS = (".jsonl", *DELIMITERS)
#: Finish reasons that mean there is no answer; only these may go with a null response.
WITHOUT_ANSWER = (OVERFLOW, FAILED, NOT_RECORDED)
#: Name of the field with the digest of the prompt, see `Example.prompt_sha256`.
PROMPT_SHA256 = "prompt_sha256"
#: One or several names in the files for each of our fields; the first name that a record has counts.
FieldNames = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True)
class RecordedResponse:
    """A recorded response."""

    text: str | None
    """The response, None if missing, see `WITHOUT_ANSWER`."""
    finish_reason: str
    """The finish reason, see `litm.records.responses`."""
    where: str = field(compare=False)
    """The file and line."""


@dataclass(frozen=True)
class Record:
    """A record of a file."""

    values: Mapping[str, Any]
    """The values, by their names in the file."""
    fields: FieldNames
    """The names in the file, by ours."""
    where: str
    """The file and line."""

    def value(self, name: str, optional: Collection[str] = ()) -> Any:
        """The value of field `name`, None for NaN. A field that is missing is an error, or None if it is optional."""
        for theirs in field_names(self.fields, name):
            try:
                value = self._look_up(theirs)
                return None if isinstance(value, float) and isnan(value) else value
            except LookupError as error:
                there = str(error)
        if name in optional:
            return None
        raise UserError(f"{self.where}: the field {self.named(name)} ({name}) is missing; there are: {there or 'none'}")

    def says(self, theirs: str, wanted: str) -> bool:
        """Whether the file's field of this name has this value, as text; `UserError` without such a field."""
        try:
            return whole(self._look_up(theirs)) == wanted
        except LookupError as error:
            raise UserError(f"{self.where}: the field '{theirs}' (rows) is missing; there are: {error}") from error

    def _look_up(self, theirs: str) -> Any:
        """The value of a name; one with dots is looked up as written, then level by level, a number in it in a list.

        A text that is JSON, or Python's form of it, is looked into. Raises `LookupError` with what is there instead.
        """
        if theirs in self.values:
            return self.values[theirs]
        *_, value = self._levels(theirs)
        return value

    def _levels(self, theirs: str) -> Iterator[Any]:
        """The values on the way to a name with dots, the record first; `LookupError` as in `_look_up`."""
        yield (value := self.values)
        for part in theirs.split("."):
            value = opened(value)
            if isinstance(value, list) and part.isdecimal() and int(part) < len(value):
                value = value[int(part)]
            elif isinstance(value, Mapping) and part in value:
                value = value[part]
            else:
                raise LookupError(shortened(", ".join(map(repr, value)) if isinstance(value, Mapping) else repr(value)))
            yield value

    def void_mark(self) -> str | None:
        """The mark that the record has no valid answer, in it or on the way to its response; None without one."""
        for theirs in field_names(self.fields, "response"):
            with suppress(LookupError):
                for value in self._levels(theirs):
                    if isinstance(value, Mapping) and (mark := void_mark(value)):
                        return mark
        end = self.value("finish_reason") if "finish_reason" in self.fields else None
        return str(end) if finish_reason(end) == FAILED and self.value("response") else None

    def named(self, name: str) -> str:
        """A field in messages, by its names in the file: `'question' or 'key'`."""
        return " or ".join(f"'{alias}'" for alias in field_names(self.fields, name))

    def text(self, name: str) -> str:
        """The value of a field; `UserError` if it is no text."""
        value = self.value(name)
        if not isinstance(value, str):
            inside = next(iter(value)) if isinstance(value, Mapping) and value else 0
            hint = f"; name the text in it with dots, such as {field_names(self.fields, name)[0]}.{inside}"
            kind = type(value).__name__ + (hint if isinstance(value, list | Mapping) else "")
            raise UserError(f"{self.where}: {self.named(name)} must be a text, found {kind}")
        return value

    def response(self) -> RecordedResponse:
        """The response, null if not recorded; `UserError` if it is no text or its finish reason is unknown."""
        word = self.value("finish_reason") if "finish_reason" in self.fields else None
        reason = finish_reason(word)
        text = self._answer(reason)
        # A filter withheld the answer: null, or an empty text.
        if text is None and reason == REFUSED:
            return RecordedResponse("", REFUSED, self.where)
        # No answer: null, or an empty text in a table with one of our finish reasons.
        if text is None or (word in WITHOUT_ANSWER and text == ""):
            said = FAILED if reason == FAILED else NOT_RECORDED
            return RecordedResponse(None, word if word in WITHOUT_ANSWER else said, self.where)
        if word not in (None, "") and reason is None:
            raise UserError(
                f"{self.where}: {self.named('finish_reason')} is {quoted(word)}, allowed: stop, length, refused, "
                "failed, unknown and the words of the usual servers for them; leave finish_reason out of the 'fields' "
                "if it says something else"
            )
        return RecordedResponse("" if text == "" else self.text("response"), reason or UNKNOWN, self.where)

    def _answer(self, reason: str | None) -> Any:
        """The response's value; "" if the answer was withheld or cut before its text, or has no parts, for which Gemini
        and Anthropic leave out the field.
        """
        try:
            return self.value("response")
        except UserError:
            ends: list[Any] = []
            with suppress(LookupError):
                ends.extend(self._levels(field_names(self.fields, "response")[0]))
            if len(ends) > 1 and (reason in (REFUSED, LENGTH) or ends[-1] == []):
                return ""
            raise

    def prompt_sha256(self) -> str | None:
        """The digest of the prompt that the record answers; None if missing.

        Only records in our own format may lack it, or have an empty cell in a table, as earlier versions did;
        `UserError` for others, and for a value that is no text.
        """
        is_own = self.fields == OWN_FIELDS
        if PROMPT_SHA256 not in self.fields or (is_own and self.values.get(PROMPT_SHA256) in (None, "")):
            return None
        return self.text(PROMPT_SHA256).lower()


def field_names(fields: FieldNames, name: str) -> Sequence[str]:
    """The names in the files for one of our fields."""
    names = fields[name]
    return [names] if isinstance(names, str) else names


def read_recorded(
    path: str | Path, fields: FieldNames, log: str | None = None, rows: Mapping[str, str] | None = None
) -> Iterator[Record]:
    """The records of a file, or of a framework's log; table values are texts.

    rows: the values of those to read, by their names in the file; all without it. Raises `UserError` for a record
    without such a field.
    """
    for record in _read_all(path, fields, log):
        if not rows or all(record.says(name, value) for name, value in rows.items()):
            yield record


def _read_all(path: str | Path, fields: FieldNames, log: str | None) -> Iterator[Record]:
    if log:
        yield from (Record(values, fields, where) for where, values in read_log(path, log))
        return
    records = read_named_columns(Path(path)) if file_kind(path) in DELIMITERS else read_jsonl(path)
    yield from (Record(values, fields, f"{path}, line {line}") for line, values in records)


def comparable(name: str, value: Any, what: str) -> str:
    """A value in the form that is compared; a size, position or id may be a number, several positions a list, and no
    position null, empty or nan. Whole numbers may have decimals, 4.0, as pandas writes them beside empty cells.
    """
    may_be_number = name in ("size", "position", "id")
    if name == "prompt" and isinstance(value := asked_content(value), list):
        return text_sha256(canonical_json(value))
    if name == "position" and (value in NO_POSITION or isinstance(value, list)):
        return "_".join(map(whole, value)) if isinstance(value, list) and value != [None] else ""
    if may_be_number and (type(value) is int or (isinstance(value, float) and value.is_integer())):
        return str(int(value))
    if not isinstance(value, str):
        kind = "text or a whole number" if may_be_number else "text"
        raise UserError(f"{what} must be a {kind}, found {type(value).__name__}")
    if name in ("size", "position"):
        return whole(value)
    # Prompts are long, so their digests are compared.
    return match_key(value) if name == "question" else text_sha256(value) if name == "prompt" else value


def place_numbers(name: str, value: Any) -> tuple[float, ...]:
    """The numbers of a position or of a placement `gold_at_...`; none of other fields."""
    is_place = name == "position" or (name == "placement" and str(value).startswith("gold_at_"))
    return position_numbers(value) if is_place else ()


def whole(value: Any) -> str:
    return re.sub(r"^(\d+)\.0+$", r"\1", str(value))
