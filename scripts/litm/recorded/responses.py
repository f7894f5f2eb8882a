"""Responses recorded elsewhere: which prompt each answers, and the manifest of such a sweep."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from litm.base.delimited_files import DELIMITERS
from litm.base.files import file_kind
from litm.base.groups import grouped
from litm.base.messages import UserError, first_of, quoted
from litm.base.store import canonical_json, file_sha256
from litm.recorded import foreign_answers
from litm.recorded.files import (
    MATCHED,
    NO_POSITION,
    OWN_FIELDS,
    PLACES,
    PROMPT_SHA256,
    WITHOUT_ANSWER,
    FieldNames,
    Record,
    RecordedResponse,
    comparable,
    field_names,
    place_numbers,
    read_recorded,
    whole,
)
from litm.recorded.logs import INSPECT, LM_EVAL, greedy
from litm.recorded.position_scale import FROM_0, FROM_1, SCALES, Positions, inferred_scale, place_of
from litm.records.examples import Example
from litm.records.responses import FAILED, NOT_RECORDED, OVERFLOW, SweepResponse, response_key

#: Why a framework's log has several answers to a prompt, and what to do.
SEVERAL = {
    INSPECT: "; of several epochs only one can be scored: run the task with --epochs 1",
    LM_EVAL: "; a log has a line for each filter: name resps.0.0 as the response, or keep the lines of one filter",
}
#: Fewest questions for which a note says that all answers are equal.
FEWEST_EQUAL = 4
Cell = tuple[int, str]

#: A verdict before an answer; what is left of a line break in an answer, and the fraction of answers that is no chance.
_VERDICT = re.compile(r"\[(?:PASS|FAIL|ERROR)\]")
_FLATTENED = re.compile(r"\S {2,}\S|^#{1,6} ")
MANY_FLAT = 0.2


@dataclass
class RecordedFile:
    """A file of responses, with counts of its records."""

    path: str
    """The path of the file."""
    cells: Sequence[Cell]
    """The cells (size, placement) that its records cover."""
    records: int = 0
    """The number of records."""
    unused: int = 0
    """The number of records that match no prompt."""
    not_compared: int = 0
    """The number of used records without a prompt digest."""
    other_prompts: list[str] = field(default_factory=list)
    """The file and line of unused records whose question was asked with another prompt."""
    other_decoding: Counter[str] = field(default_factory=Counter)
    """The number of used records of a framework's log with other settings than the experiment's, by these settings."""
    changed: Counter[str] = field(default_factory=Counter)
    """The number of records that match a prompt and are not used as they are, by what is done."""
    kept: Counter[str] = field(default_factory=Counter)
    """The number of doubtful records that are used, by what they are."""
    repeating: int = 0
    """The number of answers that repeat their prompt."""
    status: str | None = None
    """The status of a framework's log."""


class RecordedSweep:
    """The recorded responses to the prompts of a sweep.

    fields: the files' name for each of ours; log: the framework that wrote them, see `litm.recorded.logs`, and limit:
    the most new tokens of the experiment, to compare; position_scale: that of the positions, None if their values tell;
    rows: see `read_recorded`; responses: by the prompt's size, placement and id. The files are read and counted here.

    Raises `UserError`, naming file and line, for a record with a missing field or a wrong type, for two different
    responses to one prompt, for positions on an unclear scale, for answers that repeat their prompts in another form or
    are whole replies of a server, and if the matched fields cannot tell two questions of a cell apart.
    """

    def __init__(
        self,
        asked: Sequence[Example],
        files: Sequence[RecordedFile],
        fields: FieldNames,
        log: str | None = None,
        limit: int = 0,
        position_scale: str | None = None,
        rows: Mapping[str, str] | None = None,
    ) -> None:
        self.asked, self.files, self.fields, self.log, self.limit = asked, files, fields, log, limit
        self.names, self.given_scale = [name for name in MATCHED if name in fields], position_scale
        self.rows = rows or {}
        by_items = sorted(asked, key=lambda prompt: prompt.context_items)
        #: Most items of a context, by size.
        self.items = {str(prompt.size): prompt.context_items for prompt in by_items}
        #: Whether the prompts of all records are compared, so that no other field can match by accident.
        self.is_checked = "prompt" in fields or (PROMPT_SHA256 in fields and fields != OWN_FIELDS)
        present, self.contexts = self._read_places()
        sizes = [*self.contexts.values()]
        self.scale = inferred_scale(sizes, files[0].path, position_scale) if sizes else None
        kept: dict[tuple[int, str, str], RecordedResponse] = {}
        for file in files:
            index, constants = self._index(file), self._constants(file, present)
            for record in read_recorded(file.path, fields, log, rows):
                named = index.get(self._matched(record, file, constants), {}).values()
                mark, sha256 = record.void_mark(), record.prompt_sha256()
                reason = FAILED if mark and foreign_answers.is_failed(mark) else NOT_RECORDED
                response = RecordedResponse(None, reason, record.where) if mark else record.response()
                prompts = [prompt for prompt in named if sha256 in (None, prompt.prompt_sha256)]
                file.records += 1
                file.unused += not prompts
                file.not_compared += bool(prompts) and sha256 is None and "prompt" not in fields
                decoded, file.status = (record.values.get(name) if log else None for name in ("decoding", "log_status"))
                if prompts and decoded and decoded != greedy(limit):
                    file.other_decoding[canonical_json(decoded)] += 1
                if named and not prompts:
                    file.other_prompts.append(record.where)
                if prompts and mark:
                    # Errors of inspect_ai were never scored.
                    counts = file.kept if log == INSPECT and mark == "error" else file.changed
                    counts[f"are marked ({mark}) and not scored"] += 1
                if prompts and log == LM_EVAL and len(_first(record.values.get("resps"))) > 1:
                    file.kept["are the first of several to their prompt (repeats); the others are not used"] += 1
                for prompt in prompts:
                    self._keep(kept, prompt, self._cleaned(file, response, prompt, sha256))
        self.responses = {name: response for name, response in kept.items() if response.finish_reason != NOT_RECORDED}
        self._check_answers()

    def _keep(
        self, kept: dict[tuple[int, str, str], RecordedResponse], prompt: Example, response: RecordedResponse
    ) -> None:
        """Keep a response; an answer replaces a failure, as after a retry, and two answers raise `UserError`."""
        other = kept.setdefault(prompt.name, response)
        if other.text is not None and response.text is not None and other != response:
            raise UserError(
                f"{response.where}: another response to question {prompt.id}, size {prompt.size}, "
                f"{prompt.placement} than in {other.where}: leave one of them{SEVERAL.get(self.log or '', '')}"
            )
        if other.text is None and (response.text is not None or other.finish_reason == NOT_RECORDED):
            kept[prompt.name] = response

    def _cleaned(
        self, file: RecordedFile, response: RecordedResponse, prompt: Example, sha256: str | None
    ) -> RecordedResponse:
        """The response without its prompt and chat template, null for the text of a missing value.

        This workflow's own answers stay as they are.
        """
        text = response.text
        if text is None or (self.fields == OWN_FIELDS and sha256):
            return response
        is_accepted = text.lower() in map(str.lower, prompt.answers)
        if text in foreign_answers.MISSING and not is_accepted:
            file.changed["are the text of a missing value (nan, null) and not scored"] += 1
            return RecordedResponse(None, NOT_RECORDED, response.where)
        if (text in ("None", "NA") and not is_accepted) or (text == "" and file_kind(file.path) in DELIMITERS):
            what = f"the text {text}" if text else "an empty cell"
            file.kept[f"are {what} and scored as answers; remove those of questions that were never answered"] += 1
        answer = foreign_answers.without_prompt(text, prompt.prompt)
        cleaned = foreign_answers.without_template(answer)
        if answer != text:
            file.changed["have their prompt before the answer, which is taken out"] += 1
        if cleaned != answer:
            file.changed["have parts of a chat template around the answer, which are taken out"] += 1
        file.repeating += foreign_answers.repeats_prompt(cleaned, prompt)
        return RecordedResponse(cleaned, response.finish_reason, response.where)

    def _check_answers(self) -> None:
        """Raise `UserError` if most answers repeat their prompts or begin with a verdict, or all are whole replies of a
        server.
        """
        answers = [response for response in self.responses.values() if response.text]
        if 2 * (repeating := sum(file.repeating for file in self.files)) > len(answers):
            raise UserError(
                f"{answers[0].where}: {repeating} of the {len(answers)} answers repeat their prompt in another form, "
                "so the answer in them is not known: record the new text alone (return_full_text=False, or the tokens "
                "after the prompt)"
            )
        if 2 * sum(bool(_VERDICT.match(answer.text or "")) for answer in answers) > len(answers):
            raise UserError(
                f"{answers[0].where}: the answers have a verdict and its reason before them, as promptfoo's tables do: "
                "take its JSON output, and name the text in it with dots in 'fields'"
            )
        if answers and all(foreign_answers.is_envelope(answer.text or "") for answer in answers):
            raise UserError(
                f"{answers[0].where}: the answers are whole replies of a server: name the text in them with dots in "
                f"'fields', such as {field_names(self.fields, 'response')[0]}.choices.0.message.content"
            )

    def _size(self, record: Record, file: RecordedFile) -> str:
        """The size of a record, as `items` has it: its own, or the only one of its file."""
        sizes = {str(size) for size, _ in file.cells}
        value = record.value("size", PLACES) if "size" in self.names else None
        return sizes.pop() if value in (None, "") and len(sizes) == 1 else whole(value)

    def _read_places(self) -> tuple[set[tuple[str, str]], dict[str, Positions]]:
        """The fields that a record of a file has, by the file's path; and the positions in all files, by size.

        None of both if prompts are compared: then the files are read once.
        """
        present: set[tuple[str, str]] = set()
        numbers: dict[str, set[float]] = {}
        for file in () if self.is_checked or not {*PLACES} & {*self.names} else self.files:
            for record in read_recorded(file.path, self.fields, self.log, self.rows):
                is_own = self.fields == OWN_FIELDS and record.values.get(PROMPT_SHA256)
                for name in () if is_own else PLACES:
                    value = record.value(name, PLACES) if name in self.names else None
                    if value not in (*NO_POSITION, []):
                        present.add((file.path, name))
                    if name != "size":
                        numbers.setdefault(self._size(record, file), set()).update(place_numbers(name, value))
        asked: dict[str, set[int]] = {}
        for prompt in self.asked:
            places = {target.position for target in prompt.targets if target.position is not None}
            asked.setdefault(str(prompt.size), set()).update(places)
        return present, {
            size: Positions(self.items[size], frozenset(recorded), frozenset(asked[size]))
            for size, recorded in numbers.items()
            if recorded and asked.get(size)
        }

    def _constants(self, file: RecordedFile, present: Collection[tuple[str, str]]) -> dict[str, str]:
        """The fields that the file's records may lack, because there is one possible value; with it."""
        prompts = [prompt for prompt in self.asked if (prompt.size, prompt.placement) in file.cells]
        names = [name for name in PLACES if name in self.names]
        values = {name: {comparable(name, _of_prompt(prompt, name), "") for prompt in prompts} for name in names}
        return {
            name: next(iter(possible))
            for name, possible in values.items()
            if possible == {""} or (len(possible) == 1 and (file.path, name) not in present)
        }

    def _matched(self, record: Record, file: RecordedFile, constants: Mapping[str, str]) -> tuple[str, ...]:
        """The values that are compared, see `comparable`."""
        values = []
        for name in self.names:
            value = record.value(name, constants)
            if name in constants and value in (None, "", []):
                values.append(constants[name])
            elif self.scale and (numbers := place_numbers(name, value)):
                context = self.contexts.get(self._size(record, file))
                places = "_".join(str(context and place_of(number, self.scale, context)) for number in numbers)
                values.append(places if name == "position" else f"gold_at_{places}")
            else:
                values.append(comparable(name, value, f"{record.where}: {record.named(name)}"))
        return tuple(values)

    def _index(self, file: RecordedFile) -> dict[tuple[str, ...], dict[tuple[int, str], Example]]:
        """The examples of a file's cells by their values of `MATCHED` and by their cell."""
        index: dict[tuple[str, ...], dict[tuple[int, str], Example]] = {}
        for example in self.asked:
            cell = (example.size, example.placement)
            # A conversation may have been asked as messages, or as one text.
            contents = [example.prompt, *([example.messages] if example.messages and "prompt" in self.names else [])]
            for content in contents if cell in file.cells else ():
                pairs = [(name, content if name == "prompt" else _of_prompt(example, name)) for name in self.names]
                values = tuple(comparable(name, value, f"question {example.id}") for name, value in pairs)
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
        n = sum(file.records for file in self.files)
        if others := [where for file in self.files for where in file.other_prompts]:
            raise UserError(
                f"{others[0]}: this response was made for another prompt than its question has here, as were "
                f"{len(others)} of the {n} recorded, and none of them fits: take the seed, the data and the prompt "
                "file that they were made with"
            )
        if counts := self.changed + self.kept:
            raise UserError(f"{self.files[0].path}: no response is left: {counts.total()} of {n} {next(iter(counts))}")
        wanted = ", ".join(f"{name} {quoted(_of_prompt(self.asked[0], name))}" for name in self.names)
        first = next(read_recorded(self.files[0].path, self.fields, self.log, self.rows), None)
        shown = [f"{name} {quoted(first.value(name, PLACES))}" for name in self.names if first]
        raise UserError(
            f"{self.files[0].path}: none of the {len(self.asked)} prompts has a response among the {n} records; the "
            f"first prompt has {wanted}, the first record {', '.join(shown) or 'nothing'}: check the 'fields' of the "
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
            for decoded, count in file.other_decoding.items():
                yield (
                    f"{count} of the {file.records} answers of this log were decoded otherwise than the experiment "
                    f"says: {decoded}, not {canonical_json(greedy(self.limit))}; they are another measurement"
                )
        yield from self.doubts()
        if unknown := sum(file.not_compared for file in self.files):
            yield (
                f"{unknown} recorded responses do not say which prompts they were made for (no prompt_sha256), so "
                "prompts were not compared: their seed, documents and prompt text are to be those of this run"
            )

    def doubts(self) -> Iterator[str]:
        """Messages on records that are not used as they are, and on what they leave open."""
        scale, sizes = self.scale or "", self.contexts.values()
        lowest = min((min(size.recorded) for size in sizes), default=0)
        if self.scale not in (None, FROM_0):
            yield f"the positions in the files are {SCALES[self.scale]} and read as such"
        elif lowest and not self.given_scale:
            yield (
                f"the positions in the files are read as counted from 0 and begin at {lowest:g}; if they are counted "
                f"from 1, set the model's 'position_scale' to {FROM_1}"
            )
        lost = {number for size in sizes for number in size.recorded if place_of(number, scale, size) is None}
        if lost:
            yield (
                f"the positions {first_of([f'{number:g}' for number in sorted(lost)], 6)} are of no item if they are "
                f"{SCALES[scale]}, so their records are not used: check the model's 'position_scale'"
            )
        for what, count in (self.changed + self.kept).items():
            yield f"{count} of the {sum(file.records for file in self.files)} recorded responses {what}"
        for status in {file.status for file in self.files} - {None, "success"}:
            yield f"the log ended with the status {status!r}, so samples may be missing"
        text, *others = {response.text for response in self.responses.values()} or {None}
        right = {(prompt.id, *prompt.answers) for prompt in self.asked if prompt.name in self.responses}
        # Questions may all have this answer.
        is_accepted = text and all(any(answer.lower() in text.lower() for answer in accepted) for _, *accepted in right)
        if text is not None and not others and len(right) >= FEWEST_EQUAL and not is_accepted:
            yield f"all recorded answers are {quoted(text, 60)}: check which field has the response"
        texts = [response.text for response in self.responses.values() if response.text]
        flat = sum(bool(_FLATTENED.search(text)) for text in texts)
        if len(texts) >= FEWEST_EQUAL and flat > MANY_FLAT * len(texts) and not any("\n" in text for text in texts):
            # Without the number, the warnings of all models are the same.
            yield (
                "no recorded answer has a line break, and many have double spaces or begin with a heading, as where "
                "line breaks are lost: a metric of the first line then reads the whole answer"
            )
        if repeating := sum(file.repeating for file in self.files):
            yield f"{repeating} recorded answers repeat most of their prompt; they are scored as they are"

    @property
    def changed(self) -> Counter[str]:
        """The number of records that are not used as they are, by what is done."""
        return sum((file.changed for file in self.files), Counter())

    @property
    def kept(self) -> Counter[str]:
        """The number of records to doubt that are used as they are, by what they are."""
        return sum((file.kept for file in self.files), Counter())

    def identity(self) -> dict:
        """The identity of recorded responses: the content of the files, the cells they cover, the fields read, and what
        is read otherwise than it is written.
        """
        recorded = [
            {"sha256": file_sha256(file.path), "cells": [f"{size}/{placement}" for size, placement in file.cells]}
            for file in self.files
        ]
        source = {"recorded": recorded, **({"log": self.log} if self.log else {})}
        scale = {} if self.scale in (None, FROM_0) else {"position_scale": self.scale}
        return {
            "source": source,
            "fields": dict(self.fields),
            **scale,
            **({"rows": dict(self.rows)} if self.rows else {}),
            **({"changed": dict(self.changed)} if self.changed else {}),
        }

    def sweep_responses(self, identity: str) -> Iterator[SweepResponse]:
        """The response to each prompt, in their order; token counts are None, because the files do not have them.

        identity: the digest of the sweep's.
        """
        absent = RecordedResponse(None, NOT_RECORDED, "")
        for prompt in self.asked:
            recorded = self.responses.get(prompt.name, absent)
            name = (prompt.id, prompt.size, prompt.placement, response_key(identity, prompt.prompt))
            outcome = (recorded.text, recorded.finish_reason, None, None)
            yield SweepResponse(*name, *outcome, prompt_sha256=prompt.prompt_sha256)

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
            **({"doubts": doubts} if (doubts := [*self.doubts()]) else {}),
            "context_window": None,
            "prompt_tokens": None,
            "response_tokens": None,
            "made_with": {},
        }


def _of_prompt(example: Example, name: str) -> Any:
    """What a prompt has where a record has the field of this name."""
    return [target.position for target in example.targets] if name == "position" else getattr(example, name)


def _first(value: Any) -> list:
    """The first of a list of lists; else an empty list."""
    return value[0] if isinstance(value, list) and value and isinstance(value[0], list) else []
