"""The records and the manifest of a sweep whose responses were recorded elsewhere."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from litm.base.messages import UserError
from litm.domain.finish_reason import FAILED, NOT_RECORDED, OVERFLOW
from litm.domain.response import SweepResponse
from litm.inference.recorded_files import WITHOUT_ANSWER, RecordedFile
from litm.inference.recorded_matching import Asked, Matching


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
