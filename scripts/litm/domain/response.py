"""Responses: a model's answer to a prompt, and its record in results/responses."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeGuard

from litm.base.records import optional_field, read_jsonl, typed_field, without_surrogates, write_jsonl
from litm.base.store import digest
from litm.domain.example import Content

#: Tokens: upper limit of a count, so that a million counts sum to a 64-bit integer.
MOST_TOKENS = 10**12


def is_token_count(value: object) -> TypeGuard[int]:
    """Whether a JSON value is a number of tokens: an integer from 0 to `MOST_TOKENS`."""
    return type(value) is int and 0 <= value <= MOST_TOKENS


def response_key(identity: str, content: Content) -> str:
    """The key of the answer to a prompt with `content` under the identity with digest `identity`."""
    return digest([identity, content])


@dataclass(frozen=True, slots=True)
class Response:
    """A model's response to one prompt, as the journal keeps it.

    finish_reason: see `finish_reason`; prompt_tokens counts the prompt in its template, including special tokens;
    made_with: software and device of the computation.
    """

    text: str
    finish_reason: str
    prompt_tokens: int
    response_tokens: int
    made_with: str

    @classmethod
    def from_json(cls, record: dict) -> "Response":
        """The response in a journal line; KeyError or TypeError for a malformed line.

        Lone surrogates, possible in journals of earlier versions, are replaced.
        """
        return cls(
            text=without_surrogates(_journalled_text(record, "text")),
            # Interned, because a million responses may share the string.
            finish_reason=sys.intern(_journalled_text(record, "finish_reason")),
            prompt_tokens=_journalled_count(record, "prompt_tokens"),
            response_tokens=_journalled_count(record, "response_tokens"),
            made_with=sys.intern(without_surrogates(_journalled_text(record, "made_with"))),
        )

    def to_json(self) -> dict:
        """The fields of the journal line."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SweepResponse:
    """The response to one prompt of a sweep: a line of results/responses.

    text: None if there is none (see `finish_reason`); key: of the journal; token counts are None if unknown. answer:
    the text after the model's reasoning, if `has_answer`; then only it is scored. prompt_sha256: of the answered
    prompt, see `Example.prompt_sha256`; None in files of earlier versions.
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
        """The response in a JSON object; `UserError` beginning with `where` for a missing or wrong field."""
        return cls(
            id=typed_field(record, "id", str, where),
            size=typed_field(record, "size", int, where),
            placement=typed_field(record, "placement", str, where),
            key=typed_field(record, "key", str, where),
            text=optional_field(record, "response", str, where),
            finish_reason=typed_field(record, "finish_reason", str, where),
            prompt_tokens=optional_field(record, "prompt_tokens", int, where),
            response_tokens=optional_field(record, "response_tokens", int, where),
            answer=optional_field(record, "answer", str, where) if "answer" in record else None,
            has_answer="answer" in record,
            prompt_sha256=optional_field(record, "prompt_sha256", str, where) if "prompt_sha256" in record else None,
        )

    def to_json(self) -> dict:
        """The JSON object, with `answer` if that is scored, and `prompt_sha256` if known."""
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
        """Size, placement and question id, which identify a prompt within an experiment."""
        return self.size, self.placement, self.id

    @property
    def scored_text(self) -> str | None:
        """The scored text: the answer if it is separate, else the whole text; None without a response."""
        return self.answer if self.has_answer else self.text


def read_responses(path: str | Path) -> Iterator[SweepResponse]:
    """Yield the responses of a file; `UserError` names file and line."""
    for number, record in read_jsonl(path):
        yield SweepResponse.from_json(record, f"{path}, line {number}")


def write_responses(path: str | Path, responses: Iterable[SweepResponse]) -> None:
    """Write responses, one per line; equal responses give equal bytes."""
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
