"""Responses recorded elsewhere: their files, which prompt each answers, and the manifest of such a sweep."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

from litm.base.files import file_kind
from litm.base.formats import DELIMITERS, grouped, read_jsonl, read_named_columns
from litm.base.messages import UserError, quoted, shortened
from litm.base.store import canonical_json, file_sha256, text_sha256
from litm.inference.logs import asked_content, greedy, read_log
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
#: One or several names in the files for each of our fields; the first name that a record has counts.
FieldNames = Mapping[str, str | Sequence[str]]


@dataclass
class RecordedFile:
    """A file of responses: the cells (size, placement) that its records cover, and counts of its records.

    unused: records that match no prompt; other_prompts: file and line of those of them whose question was asked with
    another prompt; not_compared: used records without a prompt digest; other_decoding: used records of a framework's
    log with other settings than the experiment's, by these settings.
    """

    path: str
    cells: Sequence[Cell]
    records: int = 0
    unused: int = 0
    not_compared: int = 0
    other_prompts: list[str] = field(default_factory=list)
    other_decoding: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class RecordedResponse:
    """A recorded response (None if missing, see `WITHOUT_ANSWER`), its finish reason, and its file and line."""

    text: str | None
    finish_reason: str
    where: str = field(compare=False)


@dataclass(frozen=True)
class Record:
    """A record of a file. fields: the names in the file; where: file and line."""

    values: Mapping[str, Any]
    fields: FieldNames
    where: str

    def value(self, name: str, optional: Collection[str] = ()) -> Any:
        """The value of field `name`, None for NaN. A field that is missing is an error, or None if it is optional."""
        for theirs in self._names(name):
            try:
                found = self._look_up(theirs)
                return None if isinstance(found, float) and isnan(found) else found
            except LookupError as error:
                there = str(error)
        if name in optional:
            return None
        raise UserError(f"{self.where}: the field {self.named(name)} ({name}) is missing; there are: {there or 'none'}")

    def _look_up(self, theirs: str) -> Any:
        """The value of a name; one with dots is looked up as written, then level by level, a number in it in a list.

        Raises `LookupError` with what is there instead.
        """
        if theirs in self.values:
            return self.values[theirs]
        value: Any = self.values
        for part in theirs.split("."):
            if isinstance(value, list) and part.isdecimal() and int(part) < len(value):
                value = value[int(part)]
            elif isinstance(value, Mapping) and part in value:
                value = value[part]
            else:
                raise LookupError(shortened(", ".join(map(repr, value)) if isinstance(value, Mapping) else repr(value)))
        return value

    def _names(self, name: str) -> Sequence[str]:
        names = self.fields[name]
        return [names] if isinstance(names, str) else names

    def named(self, name: str) -> str:
        """A field in messages, by its names in the file: `'question' or 'key'`."""
        return " or ".join(f"'{one}'" for one in self._names(name))

    def text(self, name: str) -> str:
        """The value of a field; `UserError` if it is no text."""
        value = self.value(name)
        if not isinstance(value, str):
            raise UserError(f"{self.where}: {self.named(name)} must be a text, found {type(value).__name__}")
        return value

    def response(self) -> RecordedResponse:
        """The response, null if not recorded; `UserError` if it is no text or its finish reason is unknown."""
        given = self.value("finish_reason") if "finish_reason" in self.fields else None
        text = self.value("response")
        # No answer: null, or an empty text in a table with one of our finish reasons.
        if text is None or (given in WITHOUT_ANSWER and text == ""):
            return RecordedResponse(None, given if given in WITHOUT_ANSWER else NOT_RECORDED, self.where)
        if given not in (None, "") and (not isinstance(given, str) or given not in FINISH_REASONS):
            raise UserError(
                f"{self.where}: {self.named('finish_reason')} is {quoted(given)}, allowed: "
                f"{', '.join(FINISH_REASONS)}; leave finish_reason out of the 'fields' if it says something else"
            )
        return RecordedResponse(self.text("response"), FINISH_REASONS[given] if given else UNKNOWN, self.where)

    def prompt_sha256(self) -> str | None:
        """The digest of the prompt that the record answers; None if missing.

        Only records in our own format may lack it, or have an empty cell in a table, as earlier versions did;
        `UserError` for others, and for a value that is no text.
        """
        is_own = self.fields == OWN_FIELDS
        if PROMPT_SHA256 not in self.fields or (is_own and self.values.get(PROMPT_SHA256) in (None, "")):
            return None
        return self.text(PROMPT_SHA256).lower()

    def matched(self, optional: Collection[str] = ()) -> tuple[str, ...]:
        """The values that are compared, see `_comparable`."""
        names = [name for name in MATCHED if name in self.fields]
        return tuple(_comparable(one, self.value(one, optional), f"{self.where}: {self.named(one)}") for one in names)


def read_recorded(path: str | Path, fields: FieldNames, log: str | None = None) -> Iterator[Record]:
    """The records of a file, or of a framework's log; table values are texts."""
    if log:
        yield from (Record(values, fields, where) for where, values in read_log(path, log))
        return
    records = read_named_columns(Path(path)) if file_kind(path) in DELIMITERS else read_jsonl(path)
    yield from (Record(values, fields, f"{path}, line {line}") for line, values in records)


class RecordedSweep:
    """The recorded responses to the prompts of a sweep.

    fields: the files' name for each of ours; log: the framework that wrote them, see `litm.inference.logs`, and limit:
    the most new tokens of the experiment, to compare; responses: by the prompt's size, placement and id. The files are
    read and counted here.

    Raises `UserError`, naming file and line, for a record with a missing field or a wrong type, for two different
    responses to one prompt, and if the matched fields cannot tell two questions of a cell apart.
    """

    def __init__(
        self,
        asked: Sequence[Example],
        files: Sequence[RecordedFile],
        fields: FieldNames,
        log: str | None = None,
        limit: int = 0,
    ) -> None:
        self.asked, self.files, self.fields, self.log, self.limit = asked, files, fields, log, limit
        self.names = [name for name in MATCHED if name in fields]
        #: Fields that records may lack: contexts without a gold item have no position.
        self.optional = ("position",) if {target.position for one in asked for target in one.targets} <= {None} else ()
        found: dict[tuple[int, str, str], RecordedResponse] = {}
        for file in files:
            index = self._index(file)
            for record in read_recorded(file.path, fields, log):
                named = index.get(record.matched(self.optional), {}).values()
                response, sha256 = record.response(), record.prompt_sha256()
                prompts = [prompt for prompt in named if sha256 in (None, prompt.prompt_sha256)]
                file.records += 1
                file.unused += not prompts
                file.not_compared += bool(prompts) and sha256 is None and "prompt" not in fields
                made = record.values.get("decoding") if log else None
                if prompts and made and made != greedy(limit):
                    file.other_decoding[canonical_json(made)] += 1
                if named and not prompts:
                    file.other_prompts.append(record.where)
                for prompt in prompts:
                    other = found.setdefault(prompt.name, response)
                    if other != response:
                        raise UserError(
                            f"{record.where}: another response to question {prompt.id}, size {prompt.size}, "
                            f"{prompt.placement} than in {other.where}: leave one of them"
                        )
        self.responses = {name: response for name, response in found.items() if response.finish_reason != NOT_RECORDED}

    def _index(self, file: RecordedFile) -> dict[tuple[str, ...], dict[tuple[int, str], Example]]:
        """The examples of a file's cells by their values of `MATCHED` and by their cell."""
        index: dict[tuple[str, ...], dict[tuple[int, str], Example]] = {}
        for example in self.asked:
            cell = (example.size, example.placement)
            # A conversation may have been asked as messages, or as one text.
            contents = [example.prompt, *([example.messages] if example.messages and "prompt" in self.names else [])]
            for content in contents if cell in file.cells else ():
                given = [(name, content if name == "prompt" else _of_prompt(example, name)) for name in self.names]
                values = tuple(_comparable(name, value, f"question {example.id}") for name, value in given)
                other = index.setdefault(values, {}).setdefault(cell, example)
                if other is not example:
                    raise UserError(
                        f"size {cell[0]}, {cell[1]}: questions {other.id} and {example.id} cannot be told apart by "
                        f"{' and '.join(self.names)}: give 'id' or 'prompt' among the 'fields' too"
                    )
        return index

    def check_any(self) -> None:
        """Raise `UserError` if no prompt has a response: a name is wrong, or the responses answer other prompts."""
        if self.responses:
            return
        n, others = sum(file.records for file in self.files), [one for file in self.files for one in file.other_prompts]
        if others:
            raise UserError(
                f"{others[0]}: this response was made for another prompt than its question has here, as were "
                f"{len(others)} of the {n} recorded, and none of them fits: take the seed, the data and the prompt "
                "file that they were made with"
            )
        wanted = ", ".join(f"{name} {quoted(_of_prompt(self.asked[0], name))}" for name in self.names)
        first = next(read_recorded(self.files[0].path, self.fields, self.log), None)
        told = [f"{name} {quoted(first.value(name, self.optional))}" for name in self.names if first]
        raise UserError(
            f"{self.files[0].path}: none of the {len(self.asked)} prompts has a response among the {n} records; the "
            f"first prompt has {wanted}, the first record {', '.join(told) or 'nothing'}: check the 'fields' of the "
            "model, and that these are responses to this experiment"
        )

    def notes(self) -> Iterator[str]:
        """Messages on responses that were made for other prompts, or do not say for which."""
        for file in self.files:
            if file.other_prompts:
                yield (
                    f"{len(file.other_prompts)} of the {file.records} recorded responses of this file were made for "
                    "other prompts to the same questions (another seed, other documents or another prompt file) and "
                    f"are not used; the first is {file.other_prompts[0]}"
                )
            for made, count in file.other_decoding.items():
                yield (
                    f"{count} of the {file.records} answers of this log were decoded otherwise than the experiment "
                    f"says: {made}, not {canonical_json(greedy(self.limit))}; they are another measurement"
                )
        if unknown := sum(file.not_compared for file in self.files):
            yield (
                f"{unknown} recorded responses do not say which prompts they were made for (no prompt_sha256), so "
                "prompts were not compared: their seed, documents and prompt text are to be those of this run"
            )

    def identity(self) -> dict:
        """The identity of recorded responses: the content of the files, the cells they cover, and the fields read."""
        recorded = [
            {"sha256": file_sha256(file.path), "cells": [f"{size}/{placement}" for size, placement in file.cells]}
            for file in self.files
        ]
        source = {"recorded": recorded, **({"log": self.log} if self.log else {})}
        return {"source": source, "fields": dict(self.fields)}

    def sweep_responses(self, identity: str) -> Iterator[SweepResponse]:
        """The response to each prompt, in their order; token counts are None, because the files do not have them.

        identity: the digest of the sweep's.
        """
        absent = RecordedResponse(None, NOT_RECORDED, "")
        for prompt in self.asked:
            recorded = self.responses.get(prompt.name, absent)
            name = (prompt.id, prompt.size, prompt.placement, response_key(identity, prompt.prompt))
            told = (recorded.text, recorded.finish_reason, None, None)
            yield SweepResponse(*name, *told, prompt_sha256=prompt.prompt_sha256)

    def manifest(self, sweep: Mapping) -> dict:
        """The manifest of recorded responses, with those keys of a computed sweep's manifest that apply.

        sweep: names and identity to repeat; missing: ids without a response, by cell; unused: records that match no
        prompt; other_prompts: unused records whose question was asked with another prompt; not_compared: used records
        that do not say to which prompt. No prompt is asked, and token counts are unknown.
        """
        absent = (prompt for prompt in self.asked if prompt.name not in self.responses)
        cells = grouped(absent, lambda prompt: f"{prompt.size}/{prompt.placement}")
        missing = {cell: [prompt.id for prompt in prompts] for cell, prompts in cells.items()}
        reasons = [recorded.finish_reason for recorded in self.responses.values()]
        decodings = dict(sum((file.other_decoding for file in self.files), Counter()))
        return {
            **sweep,
            "prompts": len(self.asked),
            "distinct_prompts": len({prompt.prompt for prompt in self.asked}),
            "asked": 0,
            "reused": 0,
            "recorded": sum(reason not in WITHOUT_ANSWER for reason in reasons),
            "overflow": reasons.count(OVERFLOW),
            "failed": reasons.count(FAILED),
            "not_recorded": sum(map(len, missing.values())),
            "missing": missing,
            "unused": sum(file.unused for file in self.files),
            "other_prompts": sum(len(file.other_prompts) for file in self.files),
            "not_compared": sum(file.not_compared for file in self.files),
            "files": [
                {"file": Path(file.path).name, "cells": len(file.cells), "records": file.records, "unused": file.unused}
                for file in self.files
            ],
            "fields": dict(self.fields),
            **({"other_decoding": decodings} if self.log else {}),
            "context_window": None,
            "prompt_tokens": None,
            "response_tokens": None,
            "made_with": {},
        }


def _of_prompt(example: Example, name: str) -> Any:
    """What a prompt has where a record has the field of this name."""
    return [target.position for target in example.targets] if name == "position" else getattr(example, name)


def _comparable(name: str, value: Any, what: str) -> str:
    """A value in the form that is compared; a size, position or id may be a number, several positions a list, and no
    position null, empty or nan. Whole numbers may have decimals, 4.0, as pandas writes them beside empty cells.
    """
    may_be_number = name in ("size", "position", "id")
    if name == "prompt" and isinstance(value := asked_content(value), list):
        return text_sha256(canonical_json(value))
    if name == "position" and (value in (None, "nan", "NaN") or isinstance(value, list)):
        return "_".join(map(_whole, value)) if isinstance(value, list) and value != [None] else ""
    if may_be_number and (type(value) is int or (isinstance(value, float) and value.is_integer())):
        return str(int(value))
    if not isinstance(value, str):
        kind = "text or a whole number" if may_be_number else "text"
        raise UserError(f"{what} must be a {kind}, found {type(value).__name__}")
    if name in ("size", "position"):
        return _whole(value)
    # Prompts are long, so their digests are compared.
    return match_key(value) if name == "question" else text_sha256(value) if name == "prompt" else value


def _whole(value: Any) -> str:
    return re.sub(r"^(\d+)\.0+$", r"\1", str(value))
