"""Responses: as they are kept, and in the files of a sweep with one JSON object per line."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

from litm.base.json_files import checked_field, optional_field, read_jsonl, typed_field, write_jsonl
from litm.base.messages import UserError
from litm.base.store import canonical_json, digest
from litm.records.bills import Usage
from litm.records.examples import Content
from litm.records.tokens import read_token_count

# Finish reasons: why a response ended where it did.

#: An end token, or the end of the text that the scorer reads.
STOP = "stop"
#: The limit of new tokens: the answer may be cut.
LENGTH = "length"
#: A provider's safety filter withheld or cut the answer, or blocked the prompt. The partial answer is scored, and may
#: be wrong for that reason alone. It is kept, because asking again would not help.
REFUSED = "refused"
#: The prompt does not fit the context window: it was not asked, or the server refused it as too long. Not kept.
OVERFLOW = "overflow"
#: The prompt was asked but got no answer (a server's failure, say): not scored and not kept, so every new run of
#: the sweep asks it again.
FAILED = "failed"
#: The prompt was not asked here, and the recorded responses have none to it: not scored.
NOT_RECORDED = "not_recorded"
#: A response that may or may not have been cut.
UNKNOWN = "unknown"
#: Nothing was generated: the text of the response has the log-probabilities of the accepted answers.
MEASURED = "measured"
#: What a response is to: a prompt, or {content, answers} where its accepted answers are measured.
Asked = Content | dict[str, Any]


def measured_content(content: Content, answers: Sequence[str]) -> Asked:
    """What a response with the log-probabilities of these answers is to."""
    return {"content": content, "answers": [*answers]}


def response_key(identity: str, content: Asked) -> str:
    """The key of the response to a prompt with `content` under the identity with digest `identity`."""
    return digest([identity, content])


@dataclass(frozen=True, slots=True)
class Response:
    """A model's response to one prompt, as it is kept."""

    text: str
    """The whole response."""
    finish_reason: str
    """One of those above."""
    prompt_tokens: int
    """Tokens of the prompt in its template, including special tokens."""
    response_tokens: int
    """Tokens of the response."""
    made_with: str
    """Software and device of the computation."""
    billed: Usage | None = None
    """What the provider bills, None without a bill, as in answers of earlier versions."""

    @classmethod
    def from_json(cls, record: dict) -> "Response":
        """The response in a line of kept answers; KeyError or TypeError for a malformed line."""
        return cls(
            text=checked_field(record, "text", str),
            # Interned, because a million responses may share the string.
            finish_reason=sys.intern(checked_field(record, "finish_reason", str)),
            prompt_tokens=read_token_count(record, "prompt_tokens"),
            response_tokens=read_token_count(record, "response_tokens"),
            made_with=sys.intern(checked_field(record, "made_with", str)),
            billed=Usage.from_json(record["billed"]) if "billed" in record else None,
        )

    def to_json(self) -> dict:
        """The fields of such a line, with `billed` if it is known."""
        values = {name: getattr(self, name) for name in self.__slots__ if name != "billed"}
        return values | ({"billed": self.billed.to_json()} if self.billed else {})

    def paid_elsewhere(self) -> "Response":
        """The same answer, used again by a sweep that has not paid for it."""
        return replace(self, billed=self.billed and replace(self.billed, elsewhere=True))


#: Decimals of a log-probability: logits near 30 have steps of 2e-6 in float32, which tens of tokens add up.
DECIMALS = 5


def measured_response(prompt_tokens: int, measured: Sequence[tuple[float, int]], made_with: str) -> Response:
    """The response of a prompt whose answers were measured, one pair for each, in their order.

    measured: log-probability (natural, summed over the answer's tokens) and tokens. Raises `UserError` for numbers that
    are not finite, as float16 gives where it overflows.
    """
    if not all(isfinite(nats) for nats, _ in measured):
        raise UserError("a log-probability is not a finite number: run the model in bfloat16 or float32 (its 'dtype')")
    pairs = [[round(nats, DECIMALS), tokens] for nats, tokens in measured]
    return Response(canonical_json(pairs), MEASURED, prompt_tokens, sum(tokens for _, tokens in measured), made_with)


def measured_answers(text: str) -> list[tuple[float, int]]:
    """The log-probability and the tokens of each accepted answer, in the text of a `MEASURED` response."""
    return [(nats, tokens) for nats, tokens in json.loads(text)]


def longest_measured(response: Response) -> int:
    """The tokens of the longest answer that was measured; 0 for an answer that was generated."""
    is_measured = response.finish_reason == MEASURED
    return max((tokens for _, tokens in measured_answers(response.text)), default=0) if is_measured else 0


@dataclass(frozen=True, slots=True)
class SweepResponse:
    """The response to one prompt of a sweep: a line of results/responses."""

    id: str
    """Name of the question."""
    size: int
    """Items in the context, or tokens if the experiment's sizes are tokens."""
    placement: str
    """Where the gold items are."""
    key: str
    """See `response_key`."""
    text: str | None
    """The whole response, None if there is none, for a finish reason."""
    finish_reason: str
    """One of those above."""
    prompt_tokens: int | None
    """Tokens of the prompt in its template, None if unknown."""
    response_tokens: int | None
    """Tokens of the response, None if unknown."""
    answer: str | None = None
    """The text after the model's reasoning, if `has_answer`; then only it is scored."""
    has_answer: bool = False
    """Whether the answer is separate from the model's reasoning."""
    prompt_sha256: str | None = None
    """Digest of the answered prompt, see `Example.prompt_sha256`; None in files of earlier versions."""
    billed: Usage | None = None
    """What the provider bills, None without a bill."""

    @classmethod
    def from_json(cls, record: dict, where: str = "response") -> "SweepResponse":
        """The response in a JSON object; `UserError` beginning with `where` for a missing or wrong field."""
        optional = {name: optional_field(record, name, kind, where) for name, kind in ALSO.items() if name in record}
        billed = optional.pop("billed", None)
        return cls(
            **{name: typed_field(record, name, kind, where) for name, kind in ANSWERED.items()},
            text=optional_field(record, "response", str, where),
            prompt_tokens=optional_field(record, "prompt_tokens", int, where),
            response_tokens=optional_field(record, "response_tokens", int, where),
            **optional,
            has_answer="answer" in record,
            billed=Usage.from_json(billed) if billed else None,
        )

    def to_json(self) -> dict:
        """The JSON object, with `answer` if that is scored, and `prompt_sha256` and `billed` if known."""
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
            **({"billed": self.billed.to_json()} if self.billed else {}),
        }

    @property
    def name(self) -> tuple[int, str, str]:
        """Size, placement and question id, which identify a prompt within an experiment."""
        return self.size, self.placement, self.id

    @property
    def scored_text(self) -> str | None:
        """The scored text: the answer if it is separate, else the whole text; None without a response."""
        return self.answer if self.has_answer else self.text


#: Fields of each response that are never null, and those that it may lack, with their types.
ANSWERED = {"id": str, "size": int, "placement": str, "key": str, "finish_reason": str}
ALSO = {"answer": str, "prompt_sha256": str, "billed": dict}


def read_responses(path: str | Path) -> Iterator[SweepResponse]:
    """Yield the responses of a file; `UserError` names file and line."""
    for number, record in read_jsonl(path):
        yield SweepResponse.from_json(record, f"{path}, line {number}")


def write_responses(path: str | Path, responses: Iterable[SweepResponse]) -> None:
    """Write responses, one per line; equal responses give equal bytes."""
    write_jsonl(path, (response.to_json() for response in responses))
