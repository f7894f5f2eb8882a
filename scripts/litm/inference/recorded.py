"""Responses recorded elsewhere: their files, which prompt each answers, and the manifest of such a sweep."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.base.files import file_kind
from litm.base.messages import UserError, quoted, shortened
from litm.base.records import DELIMITERS, read_jsonl, read_named_columns
from litm.base.store import text_sha256
from litm.questions.subsets import match_key
from litm.records import (
    FAILED,
    LENGTH,
    NOT_RECORDED,
    OVERFLOW,
    REFUSED,
    STOP,
    UNKNOWN,
    Example,
    SweepResponse,
    response_key,
)

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


@dataclass(frozen=True)
class Asked:
    """A prompt of the sweep, the key of its response, and the values that records are matched by.

    sha256: see `Example.prompt_sha256`.
    """

    id: str
    size: int
    placement: str
    key: str
    matched: tuple[str, ...]
    sha256: str


@dataclass(frozen=True)
class FileCount:
    """The number of records in a file, and of those that match no prompt (`unused`).

    other_prompts: unused records whose question was asked with another prompt; first_other: file and line of the first
    of them, "" if there is none; not_compared: used records without a prompt digest.
    """

    records: int
    unused: int
    other_prompts: int = 0
    first_other: str = ""
    not_compared: int = 0


@dataclass(frozen=True)
class Matching:
    """The result of matching: the response of each matched prompt (size, placement, id), and counts per file."""

    responses: Mapping[tuple[int, str, str], RecordedResponse]
    files: tuple[FileCount, ...]


def asked_prompts(examples: Iterable[Example], identity_digest: str, fields: Mapping[str, str]) -> list[Asked]:
    """The prompts of examples, in their order."""
    names = _matched_names(fields)
    return [
        Asked(
            example.id,
            example.size,
            example.placement,
            response_key(identity_digest, example.prompt),
            tuple(_example_value(example, name) for name in names),
            example.prompt_sha256,
        )
        for example in examples
    ]


def match_responses(asked: Iterable[Asked], files: Sequence[RecordedFile], fields: Mapping[str, str]) -> Matching:
    """The recorded responses of the prompts.

    Raises `UserError`, naming file and line, for a record with a missing field or a wrong type, for two different
    responses to one prompt, and if the matched fields cannot tell two questions of a cell apart.
    """
    by_cell: dict[Cell, list[Asked]] = {}
    for one in asked:
        by_cell.setdefault((one.size, one.placement), []).append(one)
    found: dict[tuple[int, str, str], RecordedResponse] = {}
    counts = tuple(_match_file(file, _index(file, by_cell, fields), fields, found) for file in files)
    responses = {prompt: recorded for prompt, recorded in found.items() if recorded.finish_reason != NOT_RECORDED}
    return Matching(responses, counts)


def _match_file(
    file: RecordedFile,
    index: Mapping[tuple[str, ...], Sequence[Asked]],
    fields: Mapping[str, str],
    found: dict[tuple[int, str, str], RecordedResponse],
) -> FileCount:
    """Add the responses of a file to `found`. index: the prompts of the file's cells, by the values of `MATCHED`."""
    records = unused = not_compared = 0
    others: list[str] = []
    for where, record in read_recorded(file.path):
        records += 1
        named = index.get(_record_values(record, fields, where), [])
        recorded, sha256 = read_response(record, fields, where), read_prompt_sha256(record, fields, where)
        prompts = [prompt for prompt in named if sha256 in (None, prompt.sha256)]
        if named and not prompts:
            others.append(where)
        unused += not prompts
        not_compared += bool(prompts) and sha256 is None and "prompt" not in fields
        for prompt in prompts:
            _add(found, prompt, recorded)
    return FileCount(records, unused, len(others), others[0] if others else "", not_compared)


def _index(
    file: RecordedFile, by_cell: Mapping[Cell, Sequence[Asked]], fields: Mapping[str, str]
) -> dict[tuple[str, ...], list[Asked]]:
    index: dict[tuple[str, ...], list[Asked]] = {}
    for cell in file.cells:
        in_cell: dict[tuple[str, ...], Asked] = {}
        for prompt in by_cell.get(cell, []):
            other = in_cell.setdefault(prompt.matched, prompt)
            if other is not prompt:
                raise UserError(
                    f"size {cell[0]}, {cell[1]}: questions {other.id} and {prompt.id} cannot be told apart by "
                    f"{' and '.join(_matched_names(fields))}: give 'id' or 'prompt' among the 'fields' too"
                )
            index.setdefault(prompt.matched, []).append(prompt)
    return index


def _add(found: dict[tuple[int, str, str], RecordedResponse], prompt: Asked, recorded: RecordedResponse) -> None:
    name = (prompt.size, prompt.placement, prompt.id)
    other = found.setdefault(name, recorded)
    if (other.text, other.finish_reason) != (recorded.text, recorded.finish_reason):
        raise UserError(
            f"{recorded.where}: another response to question {prompt.id}, size {prompt.size}, {prompt.placement} than "
            f"in {other.where}: leave one of them"
        )


def _record_values(record: Mapping, fields: Mapping[str, str], where: str) -> tuple[str, ...]:
    return tuple(
        _comparable(name, field_value(record, name, fields, where), f"{where}: '{fields[name]}'")
        for name in _matched_names(fields)
    )


def _example_value(example: Example, name: str) -> str:
    if name == "position":
        return "_".join(str(target.position) for target in example.targets)
    return _comparable(name, getattr(example, name), f"question {example.id}")


def _comparable(name: str, value: Any, what: str) -> str:
    """A value in the form that is compared; a size, position or id may be a number, several positions a list."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if name == "position" and isinstance(value, list):
        return "_".join(map(str, value))
    if name in ("size", "position", "id") and is_number:
        return str(value)
    if not isinstance(value, str):
        kind = "text or a whole number" if name in ("size", "position", "id") else "text"
        raise UserError(f"{what} must be a {kind}, found {type(value).__name__}")
    if name == "question":
        return match_key(value)
    # Prompts are long, so their digests are compared.
    return text_sha256(value) if name == "prompt" else value


def _matched_names(fields: Mapping[str, str]) -> list[str]:
    return [name for name in MATCHED if name in fields]


def identity(files: Sequence[RecordedFile], sha256: Sequence[str], fields: Mapping[str, str]) -> dict:
    """The identity of recorded responses: the content of the files, the cells they cover, and the fields read."""
    recorded = [
        {"sha256": sum_, "cells": [f"{size}/{placement}" for size, placement in file.cells]}
        for file, sum_ in zip(files, sha256, strict=True)
    ]
    return {"source": {"recorded": recorded}, "fields": dict(fields)}


def recorded_responses(asked: Iterable[Asked], matching: Matching) -> Iterator[SweepResponse]:
    """The response to each prompt, in their order; token counts are None, because the files do not have them."""
    for prompt in asked:
        recorded = matching.responses.get((prompt.size, prompt.placement, prompt.id))
        yield SweepResponse(
            prompt.id,
            prompt.size,
            prompt.placement,
            prompt.key,
            text=recorded.text if recorded else None,
            finish_reason=recorded.finish_reason if recorded else NOT_RECORDED,
            prompt_tokens=None,
            response_tokens=None,
            prompt_sha256=prompt.sha256,
        )


def missing_by_cell(asked: Iterable[Asked], matching: Matching) -> dict[str, list[str]]:
    """The ids of questions without a recorded response, by `size/placement`; complete cells are left out."""
    missing: dict[str, list[str]] = {}
    for prompt in asked:
        if (prompt.size, prompt.placement, prompt.id) not in matching.responses:
            missing.setdefault(f"{prompt.size}/{prompt.placement}", []).append(prompt.id)
    return missing


def check_any(asked: Sequence[Asked], matching: Matching, files: Sequence[RecordedFile]) -> None:
    """Raise `UserError` if no prompt has a response: then a name is wrong, or the responses answer other prompts."""
    if matching.responses:
        return
    n, others = sum(count.records for count in matching.files), sum(count.other_prompts for count in matching.files)
    if others:
        first = next(count.first_other for count in matching.files if count.first_other)
        raise UserError(
            f"{first}: this response was made for another prompt than its question has here, as were {others} of the "
            f"{n} recorded, and none of them fits: take the seed, the data and the prompt file that they were made with"
        )
    raise UserError(
        f"{files[0].path}: none of the {len(asked)} prompts has a response among the {n} records; the first is of "
        f"question {asked[0].id}, size {asked[0].size}, {asked[0].placement}: check the 'fields' of the model, and "
        "that these are responses to this experiment"
    )


def prompt_notes(matching: Matching) -> list[str]:
    """Messages on responses that were made for other prompts, or do not say for which."""
    told = [
        f"{count.other_prompts} of the {count.records} recorded responses of this file were made for other prompts to "
        f"the same questions (another seed, other documents or another prompt file) and are not used; the first is "
        f"{count.first_other}"
        for count in matching.files
        if count.other_prompts
    ]
    unknown = sum(count.not_compared for count in matching.files)
    if unknown:
        told.append(
            f"{unknown} recorded responses do not say which prompts they were made for (no prompt_sha256), so prompts "
            "were not compared: their seed, documents and prompt text are to be those of this run"
        )
    return told


def recorded_manifest(
    sweep: Mapping, asked: Sequence[Asked], files: Sequence[RecordedFile], matching: Matching, fields: Mapping[str, str]
) -> dict:
    """The manifest of recorded responses, with those keys of a computed sweep's manifest that apply.

    sweep: names and identity to repeat; missing: ids without a response, by cell; unused: records that match no prompt;
    other_prompts: unused records whose question was asked with another prompt. No prompt is asked, and token counts
    are unknown.
    """
    missing = missing_by_cell(asked, matching)
    reasons = [recorded.finish_reason for recorded in matching.responses.values()]
    return {
        **sweep,
        "prompts": len(asked),
        "distinct_prompts": len({prompt.key for prompt in asked}),
        "asked": 0,
        "reused": 0,
        "recorded": sum(reason not in WITHOUT_ANSWER for reason in reasons),
        "overflow": reasons.count(OVERFLOW),
        "failed": reasons.count(FAILED),
        "not_recorded": sum(map(len, missing.values())),
        "missing": missing,
        "unused": sum(count.unused for count in matching.files),
        "other_prompts": sum(count.other_prompts for count in matching.files),
        "files": [
            {"file": Path(file.path).name, "cells": len(file.cells), "records": count.records, "unused": count.unused}
            for file, count in zip(files, matching.files, strict=True)
        ],
        "fields": dict(fields),
        "context_window": None,
        "prompt_tokens": None,
        "response_tokens": None,
        "made_with": {},
    }
