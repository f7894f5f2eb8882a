"""Files of responses that somebody else recorded: JSON Lines, CSV or TSV (each also .gz), a record a response.

`fields` says what the fields of a file are called: our name to theirs, nested ones with dots.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.base.errors import UserError
from litm.base.formatting import quoted, shortened
from litm.base.json_files import read_jsonl
from litm.base.text_files import read_table
from litm.domain.finish_reason import FAILED, LENGTH, NOT_RECORDED, OVERFLOW, REFUSED, STOP, UNKNOWN

#: What names a question: one of these at least is needed. Of a prompt the whole text is compared, of a question's
#: text what `match_key` leaves.
IDENTIFIERS = ("id", "question", "prompt")
#: What names a cell, where the file's path does not.
PLACES = ("size", "placement", "position")
MATCHED = (*PLACES, *IDENTIFIERS)
#: Where a config says nothing: the fields of the responses that this workflow writes.
OWN_FIELDS = {name: name for name in ("response", "id", "size", "placement", "finish_reason", "prompt_sha256")}
DELIMITERS = {".csv": ",", ".tsv": "\t"}
ENDINGS = (".jsonl", *DELIMITERS)
#: What services call the end of an answer.
FINISH_REASONS = {
    **dict.fromkeys([STOP, "eos", "eos_token", "end_turn", "stop_sequence"], STOP),
    **dict.fromkeys([LENGTH, "max_tokens"], LENGTH),
    **dict.fromkeys([REFUSED, "content_filter", "refusal"], REFUSED),
    UNKNOWN: UNKNOWN,
}
#: Ours, of prompts that have no answer: a null response is allowed with these.
WITHOUT_ANSWER = (OVERFLOW, FAILED, NOT_RECORDED)
#: The field that says which prompt a response was made for, see `Example.prompt_sha256`.
PROMPT_SHA256 = "prompt_sha256"
Cell = tuple[int, str]


@dataclass(frozen=True)
class RecordedFile:
    """A file and the cells (size, placement) that its records are about."""

    path: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class RecordedResponse:
    """A recorded response (None if there is none, see `WITHOUT_ANSWER`), why it ended, and the file and line of it."""

    text: str | None
    finish_reason: str
    where: str


def read_records(path: str | Path) -> Iterator[tuple[str, dict]]:
    """Yield (file and line, record) of a file; the values of a table are texts. Errors name file and line."""
    delimiter = DELIMITERS.get(file_ending(str(path)))
    if delimiter is None:
        for number, record in read_jsonl(path):
            yield f"{path}, line {number}", record
        return
    rows = read_table(Path(path), delimiter)
    _, header = next(rows, (1, []))
    if len(set(header)) < len(header):
        raise UserError(f"{path}: two columns of its header have the same name ({quoted(', '.join(header))})")
    for number, row in rows:
        if len(row) != len(header):
            raise UserError(f"{path}, line {number}: {len(row)} values, but the header has {len(header)} columns")
        yield f"{path}, line {number}", dict(zip(header, row, strict=True))


def file_ending(name: str) -> str:
    """The ending that says what a file is, in small letters, without .gz."""
    return Path(name.lower().removesuffix(".gz")).suffix


def read_response(record: Mapping, fields: Mapping[str, str], where: str) -> RecordedResponse:
    """The response of a record; `UserError` beginning with `where` if it is no text, or its end is not known to us."""
    text = field_value(record, "response", fields, where)
    reason = UNKNOWN
    if "finish_reason" in fields:
        given = field_value(record, "finish_reason", fields, where)
        # Nothing answered: the text of a table, or null, as this workflow writes it.
        if given in WITHOUT_ANSWER and text in (None, ""):
            return RecordedResponse(None, given, where)
        if given is not None and given != "":
            if not isinstance(given, str) or given not in FINISH_REASONS:
                raise UserError(
                    f"{where}: '{fields['finish_reason']}' is {quoted(given)}, allowed: {', '.join(FINISH_REASONS)}; "
                    "leave finish_reason out of the 'fields' if it says something else"
                )
            reason = FINISH_REASONS[given]
    if not isinstance(text, str):
        raise UserError(f"{where}: '{fields['response']}' must be a text, found {type(text).__name__}")
    return RecordedResponse(text, reason, where)


def read_prompt_sha256(record: Mapping, fields: Mapping[str, str], where: str) -> str | None:
    """The digest of the prompt that a record is a response to; None where it does not say.

    Only records in our own format may leave it out, or empty as in a table, as earlier versions did; `UserError`
    beginning with `where` for others, and for a value that is no text.
    """
    if PROMPT_SHA256 not in fields or (fields == OWN_FIELDS and record.get(PROMPT_SHA256) in (None, "")):
        return None
    value = field_value(record, PROMPT_SHA256, fields, where)
    if not isinstance(value, str):
        raise UserError(f"{where}: '{fields[PROMPT_SHA256]}' must be a text, found {type(value).__name__}")
    return value.lower()


def field_value(record: Mapping, name: str, fields: Mapping[str, str], where: str) -> Any:
    """The field that is called `name` here; a name with dots is looked for as it is, then level by level."""
    theirs = fields[name]
    if theirs in record:
        return record[theirs]
    value: Any = record
    for part in theirs.split("."):
        if not isinstance(value, Mapping) or part not in value:
            present = ", ".join(map(repr, record)) or "nothing"
            raise UserError(f"{where}: the field '{theirs}' ({name}) is missing; there are: {shortened(present)}")
        value = value[part]
    return value
