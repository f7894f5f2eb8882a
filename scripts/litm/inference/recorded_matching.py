"""Matching of recorded responses to the prompts of a sweep.

A record matches a prompt if it comes from a file of the prompt's cell and agrees with it in every field of `MATCHED`
that `fields` names, and in the prompt's digest if the record has one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from litm.base.messages import UserError
from litm.base.store import text_sha256
from litm.domain.example import Example
from litm.domain.finish_reason import NOT_RECORDED
from litm.domain.response import response_key
from litm.inference.recorded_files import (
    MATCHED,
    Cell,
    RecordedFile,
    RecordedResponse,
    field_value,
    read_prompt_sha256,
    read_recorded,
    read_response,
)
from litm.questions.subsets import match_key


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
