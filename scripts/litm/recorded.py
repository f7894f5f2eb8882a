"""Responses that somebody else recorded, matched to the prompts of a sweep.

A file is JSON Lines, CSV or TSV (each also .gz) with a record a response. `fields` says what its fields are called: our
name (`FIELDS`) to theirs, nested ones with dots. A record belongs to the prompts that agree with it in every one of
`MATCHED` that `fields` has, among the prompts of the cells that its file is about.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.errors import UserError
from litm.finish_reasons import FAILED, LENGTH, NOT_RECORDED, OVERFLOW, REFUSED, STOP, UNKNOWN
from litm.journal import digest, response_key
from litm.passages import read_table
from litm.records import read_jsonl
from litm.subsets import match_key

#: What names a question: one of these at least is needed. Of a prompt the whole text is compared, of a question's
#: text what `match_key` leaves.
IDENTIFIERS = ("id", "question", "prompt")
#: What names a cell, where the file's path does not.
PLACES = ("size", "placement", "position")
MATCHED = (*PLACES, *IDENTIFIERS)
FIELDS = ("response", *MATCHED, "finish_reason")
#: Where a config says nothing: the fields of the responses that this workflow writes.
OWN_FIELDS = {name: name for name in ("response", "id", "size", "placement", "finish_reason")}
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

Cell = tuple[int, str]


@dataclass(frozen=True)
class RecordedFile:
    """A file and the cells (size, placement) that its records are about."""

    path: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Recorded:
    """A recorded response (None if there is none, see `WITHOUT_ANSWER`), why it ended, and the file and line of it."""

    text: str | None
    finish_reason: str
    where: str


@dataclass(frozen=True)
class Asked:
    """A prompt of the sweep: what it is, the key of its response, and the values that records are matched by."""

    id: str
    size: int
    placement: str
    key: str
    matched: tuple[str, ...]


@dataclass(frozen=True)
class Matching:
    """What was found: the response of each prompt (size, placement, id) that has one; of each file its records, and how
    many of them belong to no prompt.
    """

    responses: Mapping[tuple[int, str, str], Recorded]
    records: tuple[int, ...]
    unused: tuple[int, ...]


def identity(files: Sequence[RecordedFile], sha256: Sequence[str], fields: Mapping[str, str]) -> dict:
    """All that defines these responses: what is in the files, which cells that is about, and what is read of it."""
    recorded = [
        {"sha256": sum_, "cells": [f"{size}/{placement}" for size, placement in file.cells]}
        for file, sum_ in zip(files, sha256, strict=True)
    ]
    return {"source": {"recorded": recorded}, "fields": dict(fields)}


def asked_prompts(examples: Iterable[dict], identity_digest: str, fields: Mapping[str, str]) -> list[Asked]:
    """The prompts of example records, in their order."""
    names = _matched_names(fields)
    return [
        Asked(
            example["id"],
            example["size"],
            example["placement"],
            response_key(identity_digest, example["prompt"]),
            tuple(_example_value(example, name) for name in names),
        )
        for example in examples
    ]


def match_responses(asked: Iterable[Asked], files: Sequence[RecordedFile], fields: Mapping[str, str]) -> Matching:
    """The recorded responses of the prompts.

    Raises `UserError`, naming file and line, for a record without one of the fields or with a wrong type, for two
    different responses to one prompt, and where what is compared does not tell two questions of a cell apart.
    """
    by_cell: dict[Cell, list[Asked]] = {}
    for one in asked:
        by_cell.setdefault((one.size, one.placement), []).append(one)
    found: dict[tuple[int, str, str], Recorded] = {}
    records, unused = [], []
    for file in files:
        index = _index(file, by_cell, fields)
        n, left = 0, 0
        for where, record in read_records(file.path):
            n += 1
            prompts = index.get(_record_values(record, fields, where), [])
            left += not prompts
            recorded = read_response(record, fields, where)
            for prompt in prompts:
                _add(found, prompt, recorded)
        records.append(n)
        unused.append(left)
    responses = {prompt: recorded for prompt, recorded in found.items() if recorded.finish_reason != NOT_RECORDED}
    return Matching(responses, tuple(records), tuple(unused))


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


def _add(found: dict[tuple[int, str, str], Recorded], prompt: Asked, recorded: Recorded) -> None:
    name = (prompt.size, prompt.placement, prompt.id)
    other = found.setdefault(name, recorded)
    if (other.text, other.finish_reason) != (recorded.text, recorded.finish_reason):
        raise UserError(
            f"{recorded.where}: another response to question {prompt.id}, size {prompt.size}, {prompt.placement} than "
            f"in {other.where}: leave one of them"
        )


# --- records


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
        raise UserError(f"{path}: two columns of its header have the same name ({', '.join(header)})")
    for number, row in rows:
        if len(row) != len(header):
            raise UserError(f"{path}, line {number}: {len(row)} values, but the header has {len(header)} columns")
        yield f"{path}, line {number}", dict(zip(header, row, strict=True))


def file_ending(name: str) -> str:
    """The ending that says what a file is, in small letters, without .gz."""
    return Path(name.lower().removesuffix(".gz")).suffix


def read_response(record: Mapping, fields: Mapping[str, str], where: str) -> Recorded:
    """The response of a record; `UserError` beginning with `where` if it is no text, or its end is not known to us."""
    text = _value(record, "response", fields, where)
    reason = UNKNOWN
    if "finish_reason" in fields:
        given = _value(record, "finish_reason", fields, where)
        # Nothing answered: the text of a table, or null, as this workflow writes it.
        if given in WITHOUT_ANSWER and text in (None, ""):
            return Recorded(None, given, where)
        if given is not None and given != "":
            if not isinstance(given, str) or given not in FINISH_REASONS:
                raise UserError(
                    f"{where}: '{fields['finish_reason']}' is {given!r}, allowed: {', '.join(FINISH_REASONS)}; "
                    "leave finish_reason out of the 'fields' if it says something else"
                )
            reason = FINISH_REASONS[given]
    if not isinstance(text, str):
        raise UserError(f"{where}: '{fields['response']}' must be a text, found {type(text).__name__}")
    return Recorded(text, reason, where)


def _record_values(record: Mapping, fields: Mapping[str, str], where: str) -> tuple[str, ...]:
    return tuple(
        _comparable(name, _value(record, name, fields, where), f"{where}: '{fields[name]}'")
        for name in _matched_names(fields)
    )


def _value(record: Mapping, name: str, fields: Mapping[str, str], where: str) -> Any:
    """The field that is called `name` here; a name with dots is looked for as it is, then level by level."""
    theirs = fields[name]
    if theirs in record:
        return record[theirs]
    value: Any = record
    for part in theirs.split("."):
        if not isinstance(value, Mapping) or part not in value:
            present = ", ".join(map(str, record)) or "nothing"
            raise UserError(f"{where}: the field '{theirs}' ({name}) is missing; there are: {present}")
        value = value[part]
    return value


def _example_value(example: Mapping, name: str) -> str:
    if name == "position":
        return "_".join(str(target["position"]) for target in example["targets"])
    return _comparable(name, example[name], f"question {example['id']}")


def _comparable(name: str, value: Any, what: str) -> str:
    """A value as it is compared; a size, position or id may be a number, and positions of several gold items a list."""
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
    # Prompts are long: their digest is kept in their place.
    return hashlib.sha256(value.encode()).hexdigest() if name == "prompt" else value


def _matched_names(fields: Mapping[str, str]) -> list[str]:
    return [name for name in MATCHED if name in fields]


# --- what is written


def response_records(asked: Iterable[Asked], matching: Matching) -> Iterator[dict]:
    """One record a prompt, in their order, as `generate` writes them; tokens are null, for nobody has counted them."""
    for prompt in asked:
        recorded = matching.responses.get((prompt.size, prompt.placement, prompt.id))
        yield {
            "id": prompt.id,
            "size": prompt.size,
            "placement": prompt.placement,
            "key": prompt.key,
            "response": recorded.text if recorded else None,
            "finish_reason": recorded.finish_reason if recorded else NOT_RECORDED,
            "prompt_tokens": None,
            "response_tokens": None,
        }


def missing_by_cell(asked: Iterable[Asked], matching: Matching) -> dict[str, list[str]]:
    """The ids of the questions without a recorded response, by `size/placement`; cells that have all are left out."""
    missing: dict[str, list[str]] = {}
    for prompt in asked:
        if (prompt.size, prompt.placement, prompt.id) not in matching.responses:
            missing.setdefault(f"{prompt.size}/{prompt.placement}", []).append(prompt.id)
    return missing


def check_any(asked: Sequence[Asked], matching: Matching, files: Sequence[RecordedFile]) -> None:
    """Raise `UserError` if no prompt has a response: then it is not a few that are missing, but a name is wrong."""
    if not matching.responses:
        raise UserError(
            f"{files[0].path}: none of the {len(asked)} prompts has a response among the {sum(matching.records)} "
            f"records; the first is of question {asked[0].id}, size {asked[0].size}, {asked[0].placement}: check the "
            "'fields' of the model, and that these are responses to this experiment"
        )


def recorded_manifest(
    sweep: Mapping, asked: Sequence[Asked], files: Sequence[RecordedFile], matching: Matching, fields: Mapping[str, str]
) -> dict:
    """What the responses are of, with the keys of a sweep that was asked where they mean something.

    sweep: names and identity to repeat; missing: ids without a response by cell; unused: records that belong to no
    prompt. Nothing was asked, and tokens are not known.
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
        "unused": sum(matching.unused),
        "files": [
            {"file": Path(file.path).name, "cells": len(file.cells), "records": records, "unused": unused}
            for file, records, unused in zip(files, matching.records, matching.unused, strict=True)
        ],
        "fields": dict(fields),
        "context_window": None,
        "prompt_tokens": None,
        "response_tokens": None,
        "made_with": {},
    }


def sweep_fields(model: str, experiment: str, fields: dict) -> dict:
    """The names and the identity of a sweep, as its manifest has them; `fields` is its `identity`."""
    return {"model": model, "experiment": experiment, "identity": digest(fields), "identity_fields": fields}
