"""Replies of servers: from the bytes of a response to the fields that are recorded."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from litm.base.records import without_surrogates
from litm.domain.response import is_token_count
from litm.inference.remote.failures import Unanswered


@dataclass(frozen=True)
class Reply:
    """A server's response in this workflow's terms.

    finish_reason: see `litm.domain.finish_reason`; prompt_tokens, response_tokens: the server's counts, None if missing
    or not a number of tokens; served: the server's name for the model, None if missing; is_mended: whether U+FFFD
    replaces lone surrogates or bytes that are not UTF-8.
    """

    text: str
    finish_reason: str
    prompt_tokens: int | None
    response_tokens: int | None
    served: str | None
    is_mended: bool = False


def read_reply(content: bytes, read: Callable[[dict[str, Any]], Reply]) -> Reply:
    """The reply in the bytes of a response, by a protocol's `read`; `Unanswered` if they are no response of it.

    Bytes are read as UTF-8, whatever a header says, because JSON between systems must be UTF-8 (RFC 8259, section 8.1).
    `read` checks the type of each field that it uses: what it returns is journalled for good.
    """
    try:
        text, is_utf8 = content.decode("utf-8-sig"), True
    except UnicodeDecodeError:
        text, is_utf8 = content.decode("utf-8-sig", errors="replace"), False
    body = json_body(text)
    try:
        reply = read(body)
    except (LookupError, TypeError, AttributeError) as error:
        raise Unanswered(f"a response of another form than the API's ({type(error).__name__}: {error})") from error
    whole, served = without_surrogates(reply.text), reply.served and without_surrogates(reply.served)
    is_mended = whole != reply.text or (not is_utf8 and "\ufffd" in whole)
    return replace(reply, text=whole, served=served, is_mended=is_mended)


def json_body(text: str) -> dict[str, Any]:
    """The JSON object of a response; `Unanswered` if it is malformed, truncated, or reports an error."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unanswered("an empty response" if not text.strip() else "a response that is not whole JSON") from error
    if not isinstance(body, dict):
        raise Unanswered("a response that is not a JSON object")
    if body.get("error"):
        # Gateways report upstream failures this way.
        raise Unanswered(f"a response that says there was an error: {json.dumps(body['error'])}")
    return body


def text_field(fields: Mapping[str, Any], name: str) -> str:
    """The text of a field; KeyError or TypeError if it is missing or no text."""
    if not isinstance(fields[name], str):
        raise TypeError(f"'{name}' must be a text, found {type(fields[name]).__name__}")
    return fields[name]


def optional_text(fields: Mapping[str, Any], name: str) -> str | None:
    """The text of a field, None if it is null or missing; TypeError if it is anything else."""
    return None if fields.get(name) is None else text_field(fields, name)


def list_field(fields: Mapping[str, Any], name: str) -> list[Any]:
    """The list of a field; KeyError or TypeError if it is missing or no list."""
    if not isinstance(fields[name], list):
        raise TypeError(f"'{name}' must be a list, found {type(fields[name]).__name__}")
    return fields[name]


def joined_text(parts: Iterable[Mapping[str, Any]]) -> str:
    """The text of parts, `{"type": "text", "text": ...}` each; KeyError or TypeError for any other."""
    texts = []
    for part in parts:
        if part["type"] != "text":
            raise TypeError(f"a part of the type {part['type']!r}"[:80])
        texts.append(text_field(part, "text"))
    return "".join(texts)


def usage_of(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The token counts of a response: empty if `usage` is missing or no object."""
    usage = body.get("usage")
    return usage if isinstance(usage, dict) else {}


def token_sum(given: Sequence[object]) -> int | None:
    """The sum of token counts; None if there are none, or any is not a number of tokens (12.5, "12", -1).

    The answer is complete anyway, as one without `usage` is.
    """
    total = sum(value for value in given if is_token_count(value))
    is_known = bool(given) and all(map(is_token_count, given)) and is_token_count(total)
    return total if is_known else None


def known_reason(reasons: Mapping[str, str], given: object) -> str:
    """Our finish reason; `Unanswered` for reasons that no complete answer has (a server's abort, say)."""
    if not isinstance(given, str) or given not in reasons:
        raise Unanswered(f"an answer that ended for the reason {given!r}")
    return reasons[given]
