"""Responses: what a model answered to a prompt, and the record of it in results/responses."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeGuard

from litm.base.json_files import read_jsonl, typed_field, write_jsonl
from litm.base.surrogates import without_surrogates

#: No prompt and no answer has more tokens: sums of a million such numbers still are integers of 64 bits.
MOST_TOKENS = 10**12


def is_token_count(value: object) -> TypeGuard[int]:
    """Whether a value of JSON is a number of tokens: whole, not negative, and not beyond all use."""
    return type(value) is int and 0 <= value <= MOST_TOKENS


@dataclass(frozen=True, slots=True)
class Response:
    """What a model answered to one prompt, as the journal keeps it.

    finish_reason: see `finish_reason`; prompt_tokens counts the prompt in its template, with special tokens;
    made_with: software and device that computed it.
    """

    text: str
    finish_reason: str
    prompt_tokens: int
    response_tokens: int
    made_with: str

    @classmethod
    def from_json(cls, record: dict) -> "Response":
        """The response in a line of a journal; KeyError or TypeError for what is no such line.

        Lone surrogates, which journals of earlier versions may have, are replaced.
        """
        return cls(
            text=without_surrogates(_journalled_text(record, "text")),
            # One string shared by all responses: there may be a million.
            finish_reason=sys.intern(_journalled_text(record, "finish_reason")),
            prompt_tokens=_journalled_count(record, "prompt_tokens"),
            response_tokens=_journalled_count(record, "response_tokens"),
            made_with=sys.intern(without_surrogates(_journalled_text(record, "made_with"))),
        )

    def to_json(self) -> dict:
        """The fields of a journal's line."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SweepResponse:
    """The response to one prompt of a sweep: a line of results/responses.

    text: None where there is none (`finish_reason` says why); key: of the journal; tokens are None where nobody has
    counted them. answer: what comes after the model's reasoning, if `has_answer`, and then it alone is scored.
    prompt_sha256: of the prompt that it answers, see `Example.prompt_sha256`; None in files of earlier versions.
    """

    id: str
    size: int
    placement: str
    key: str
    text: str | None
    finish_reason: str
    prompt_tokens: int | None
    response_tokens: int | None
    answer: str | None = None
    has_answer: bool = False
    prompt_sha256: str | None = None

    @classmethod
    def from_json(cls, record: dict, where: str = "response") -> "SweepResponse":
        """The response of a JSON object; `UserError` beginning with `where` for a missing or wrong field."""
        return cls(
            id=typed_field(record, "id", str, where),
            size=typed_field(record, "size", int, where),
            placement=typed_field(record, "placement", str, where),
            key=typed_field(record, "key", str, where),
            text=_text(record, "response", where),
            finish_reason=typed_field(record, "finish_reason", str, where),
            prompt_tokens=_count(record, "prompt_tokens", where),
            response_tokens=_count(record, "response_tokens", where),
            answer=_text(record, "answer", where) if "answer" in record else None,
            has_answer="answer" in record,
            prompt_sha256=_text(record, "prompt_sha256", where) if "prompt_sha256" in record else None,
        )

    def to_json(self) -> dict:
        """The JSON object, with `answer` where that is scored, and `prompt_sha256` where it is known."""
        return {
            "id": self.id,
            "size": self.size,
            "placement": self.placement,
            "key": self.key,
            **({} if self.prompt_sha256 is None else {"prompt_sha256": self.prompt_sha256}),
            "response": self.text,
            "finish_reason": self.finish_reason,
            "prompt_tokens": self.prompt_tokens,
            "response_tokens": self.response_tokens,
            **({"answer": self.answer} if self.has_answer else {}),
        }

    @property
    def name(self) -> tuple[int, str, str]:
        """Size, placement and question id: what names a prompt within an experiment."""
        return self.size, self.placement, self.id

    @property
    def scored_text(self) -> str | None:
        """What is scored: the answer if there is one of its own, else the whole text; None if there is nothing."""
        return self.answer if self.has_answer else self.text


def read_responses(path: str | Path) -> Iterator[SweepResponse]:
    """Yield the responses of a file; `UserError` names file and line."""
    for number, record in read_jsonl(path):
        yield SweepResponse.from_json(record, f"{path}, line {number}")


def write_responses(path: str | Path, responses: Iterable[SweepResponse]) -> None:
    """Write responses, one a line; equal responses give equal bytes."""
    write_jsonl(path, (response.to_json() for response in responses))


def _journalled_text(record: dict, name: str) -> str:
    value: Any = record[name]
    if not isinstance(value, str):
        raise TypeError(f"'{name}' must be a str, found {type(value).__name__}")
    return value


def _journalled_count(record: dict, name: str) -> int:
    value: Any = record[name]
    if not is_token_count(value):
        raise TypeError(f"'{name}' must be a whole number from 0 to {MOST_TOKENS}, found {value!r:.40}")
    return value


def _text(record: dict, name: str, where: str) -> str | None:
    return None if record.get(name, "") is None else typed_field(record, name, str, where)


def _count(record: dict, name: str, where: str) -> int | None:
    return None if record.get(name, "") is None else typed_field(record, name, int, where)
