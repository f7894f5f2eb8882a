"""Files of recorded responses: JSON Lines, CSV or TSV (each also .gz), one record per response.

`fields` maps our field names to the file's; dots separate the levels of nested fields.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.base.files import file_kind
from litm.base.messages import UserError, quoted, shortened
from litm.base.records import DELIMITERS, read_jsonl, read_named_columns
from litm.domain.finish_reason import FAILED, LENGTH, NOT_RECORDED, OVERFLOW, REFUSED, STOP, UNKNOWN

#: Fields that identify a question; at least one is needed. A prompt is compared whole, a question's text by
#: `match_key`.
IDENTIFIERS = ("id", "question", "prompt")
#: Fields that identify a cell, unless the file's path does.
PLACES = ("size", "placement", "position")
MATCHED = (*PLACES, *IDENTIFIERS)
#: Default field names: those of the responses that this workflow writes.
OWN_FIELDS = {name: name for name in ("response", "id", "size", "placement", "finish_reason", "prompt_sha256")}
ENDINGS = (".jsonl", *DELIMITERS)
#: Services' finish reasons, and ours.
FINISH_REASONS = {
    **dict.fromkeys([STOP, "eos", "eos_token", "end_turn", "stop_sequence"], STOP),
    **dict.fromkeys([LENGTH, "max_tokens"], LENGTH),
    **dict.fromkeys([REFUSED, "content_filter", "refusal"], REFUSED),
    UNKNOWN: UNKNOWN,
}
#: Finish reasons that mean there is no answer; only these may go with a null response.
WITHOUT_ANSWER = (OVERFLOW, FAILED, NOT_RECORDED)
#: Name of the field with the digest of the prompt, see `Example.prompt_sha256`.
PROMPT_SHA256 = "prompt_sha256"
Cell = tuple[int, str]


@dataclass(frozen=True)
class RecordedFile:
    """A file and the cells (size, placement) that its records cover."""

    path: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class RecordedResponse:
    """A recorded response (None if missing, see `WITHOUT_ANSWER`), its finish reason, and its file and line."""

    text: str | None
    finish_reason: str
    where: str


def read_recorded(path: str | Path) -> Iterator[tuple[str, dict]]:
    """Yield (file and line, record) of a file; table values are texts. Errors name file and line."""
    delimiter = DELIMITERS.get(file_kind(path))
    records = read_jsonl(path) if delimiter is None else read_named_columns(Path(path), delimiter)
    for line, record in records:
        yield f"{path}, line {line}", record


def read_response(record: Mapping, fields: Mapping[str, str], where: str) -> RecordedResponse:
    """The response of a record; `UserError` beginning with `where` if it is no text or its finish reason is unknown."""
    text = field_value(record, "response", fields, where)
    reason = UNKNOWN
    if "finish_reason" in fields:
        given = field_value(record, "finish_reason", fields, where)
        # No answer: an empty text in a table, or null, as this workflow writes it.
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
    """The digest of the prompt that a record answers; None if missing.

    Only records in our own format may lack it, or have an empty cell in a table, as earlier versions did; `UserError`
    beginning with `where` for others, and for a value that is no text.
    """
    if PROMPT_SHA256 not in fields or (fields == OWN_FIELDS and record.get(PROMPT_SHA256) in (None, "")):
        return None
    value = field_value(record, PROMPT_SHA256, fields, where)
    if not isinstance(value, str):
        raise UserError(f"{where}: '{fields[PROMPT_SHA256]}' must be a text, found {type(value).__name__}")
    return value.lower()


def field_value(record: Mapping, name: str, fields: Mapping[str, str], where: str) -> Any:
    """The value of field `name`; a name with dots is looked up as written, then level by level."""
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
