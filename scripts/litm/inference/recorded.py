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


@dataclass(frozen=True)
class Record:
    """A record of a file. fields: the file's name for each of ours; where: file and line."""

    values: Mapping[str, Any]
    fields: Mapping[str, str]
    where: str

    def value(self, name: str) -> Any:
        """The value of field `name`; a name with dots is looked up as written, then level by level."""
        theirs = self.fields[name]
        if theirs in self.values:
            return self.values[theirs]
        value: Any = self.values
        for part in theirs.split("."):
            if not isinstance(value, Mapping) or part not in value:
                there = shortened(", ".join(map(repr, self.values)) or "nothing")
                raise UserError(f"{self.where}: the field '{theirs}' ({name}) is missing; there are: {there}")
            value = value[part]
        return value

    def response(self) -> RecordedResponse:
        """The response; `UserError` if it is no text or its finish reason is unknown."""
        text = self.value("response")
        given = self.value("finish_reason") if "finish_reason" in self.fields else None
        # No answer: an empty text in a table, or null, as this workflow writes it.
        if given in WITHOUT_ANSWER and text in (None, ""):
            return RecordedResponse(None, given, self.where)
        if given not in (None, "") and (not isinstance(given, str) or given not in FINISH_REASONS):
            raise UserError(
                f"{self.where}: '{self.fields['finish_reason']}' is {quoted(given)}, allowed: "
                f"{', '.join(FINISH_REASONS)}; leave finish_reason out of the 'fields' if it says something else"
            )
        if not isinstance(text, str):
            raise self._wrong("response", "text", text)
        return RecordedResponse(text, FINISH_REASONS[given] if given else UNKNOWN, self.where)

    def prompt_sha256(self) -> str | None:
        """The digest of the prompt that the record answers; None if missing.

        Only records in our own format may lack it, or have an empty cell in a table, as earlier versions did;
        `UserError` for others, and for a value that is no text.
        """
        is_own = self.fields == OWN_FIELDS
        if PROMPT_SHA256 not in self.fields or (is_own and self.values.get(PROMPT_SHA256) in (None, "")):
            return None
        value = self.value(PROMPT_SHA256)
        if not isinstance(value, str):
            raise self._wrong(PROMPT_SHA256, "text", value)
        return value.lower()

    def matched(self) -> tuple[str, ...]:
        """The values that are compared, see `_comparable`."""
        return tuple(
            _comparable(name, self.value(name), f"{self.where}: '{self.fields[name]}'")
            for name in MATCHED
            if name in self.fields
        )

    def _wrong(self, name: str, kind: str, value: Any) -> UserError:
        return UserError(f"{self.where}: '{self.fields[name]}' must be a {kind}, found {type(value).__name__}")


def read_recorded(path: str | Path, fields: Mapping[str, str]) -> Iterator[Record]:
    """The records of a file; table values are texts."""
    delimiter = DELIMITERS.get(file_kind(path))
    records = read_jsonl(path) if delimiter is None else read_named_columns(Path(path), delimiter)
    for line, values in records:
        yield Record(values, fields, f"{path}, line {line}")


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


def match_responses(examples: Iterable[Example], files: Sequence[RecordedFile], fields: Mapping[str, str]) -> Matching:
    """The recorded responses to the prompts of examples.

    Raises `UserError`, naming file and line, for a record with a missing field or a wrong type, for two different
    responses to one prompt, and if the matched fields cannot tell two questions of a cell apart.
    """
    by_cell: dict[Cell, list[Example]] = {}
    for one in examples:
        by_cell.setdefault((one.size, one.placement), []).append(one)
    found: dict[tuple[int, str, str], RecordedResponse] = {}
    counts = []
    for file in files:
        index = _index(file, by_cell, fields)
        records = unused = not_compared = 0
        others: list[str] = []
        for record in read_recorded(file.path, fields):
            records += 1
            named = index.get(record.matched(), [])
            response, sha256 = record.response(), record.prompt_sha256()
            prompts = [prompt for prompt in named if sha256 in (None, prompt.prompt_sha256)]
            if named and not prompts:
                others.append(record.where)
            unused += not prompts
            not_compared += bool(prompts) and sha256 is None and "prompt" not in fields
            for prompt in prompts:
                other = found.setdefault((prompt.size, prompt.placement, prompt.id), response)
                if (other.text, other.finish_reason) != (response.text, response.finish_reason):
                    raise UserError(
                        f"{record.where}: another response to question {prompt.id}, size {prompt.size}, "
                        f"{prompt.placement} than in {other.where}: leave one of them"
                    )
        counts.append(FileCount(records, unused, len(others), others[0] if others else "", not_compared))
    responses = {prompt: response for prompt, response in found.items() if response.finish_reason != NOT_RECORDED}
    return Matching(responses, tuple(counts))


def _index(
    file: RecordedFile, by_cell: Mapping[Cell, Sequence[Example]], fields: Mapping[str, str]
) -> dict[tuple[str, ...], list[Example]]:
    """The examples of a file's cells by their values of `MATCHED`."""
    names = [name for name in MATCHED if name in fields]
    index: dict[tuple[str, ...], list[Example]] = {}
    for cell in file.cells:
        in_cell: dict[tuple[str, ...], Example] = {}
        for example in by_cell.get(cell, []):
            positions = [target.position for target in example.targets]
            values = tuple(
                _comparable(name, positions if name == "position" else getattr(example, name), f"question {example.id}")
                for name in names
            )
            other = in_cell.setdefault(values, example)
            if other is not example:
                raise UserError(
                    f"size {cell[0]}, {cell[1]}: questions {other.id} and {example.id} cannot be told apart by "
                    f"{' and '.join(names)}: give 'id' or 'prompt' among the 'fields' too"
                )
            index.setdefault(values, []).append(example)
    return index


def _comparable(name: str, value: Any, what: str) -> str:
    """A value in the form that is compared; a size, position or id may be a number, several positions a list."""
    may_be_number = name in ("size", "position", "id")
    if name == "position" and isinstance(value, list):
        return "_".join(map(str, value))
    if may_be_number and type(value) is int:
        return str(value)
    if not isinstance(value, str):
        kind = "text or a whole number" if may_be_number else "text"
        raise UserError(f"{what} must be a {kind}, found {type(value).__name__}")
    # Prompts are long, so their digests are compared.
    return match_key(value) if name == "question" else text_sha256(value) if name == "prompt" else value


def identity(files: Sequence[RecordedFile], sha256: Sequence[str], fields: Mapping[str, str]) -> dict:
    """The identity of recorded responses: the content of the files, the cells they cover, and the fields read."""
    recorded = [
        {"sha256": sum_, "cells": [f"{size}/{placement}" for size, placement in file.cells]}
        for file, sum_ in zip(files, sha256, strict=True)
    ]
    return {"source": {"recorded": recorded}, "fields": dict(fields)}


def recorded_responses(examples: Iterable[Example], identity: str, matching: Matching) -> Iterator[SweepResponse]:
    """The response to each prompt, in their order; token counts are None, because the files do not have them.

    identity: the digest of the sweep's.
    """
    for prompt in examples:
        recorded = matching.responses.get((prompt.size, prompt.placement, prompt.id))
        name = (prompt.id, prompt.size, prompt.placement, response_key(identity, prompt.prompt))
        text, reason = (recorded.text, recorded.finish_reason) if recorded else (None, NOT_RECORDED)
        yield SweepResponse(*name, text, reason, None, None, prompt_sha256=prompt.prompt_sha256)


def check_any(asked: Sequence[Example], matching: Matching, files: Sequence[RecordedFile]) -> None:
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
    sweep: Mapping,
    asked: Sequence[Example],
    files: Sequence[RecordedFile],
    matching: Matching,
    fields: Mapping[str, str],
) -> dict:
    """The manifest of recorded responses, with those keys of a computed sweep's manifest that apply.

    sweep: names and identity to repeat; missing: ids without a response, by cell; unused: records that match no prompt;
    other_prompts: unused records whose question was asked with another prompt. No prompt is asked, and token counts
    are unknown.
    """
    missing: dict[str, list[str]] = {}
    for prompt in asked:
        if (prompt.size, prompt.placement, prompt.id) not in matching.responses:
            missing.setdefault(f"{prompt.size}/{prompt.placement}", []).append(prompt.id)
    reasons = [recorded.finish_reason for recorded in matching.responses.values()]
    return {
        **sweep,
        "prompts": len(asked),
        "distinct_prompts": len({prompt.prompt for prompt in asked}),
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
