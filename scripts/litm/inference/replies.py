"""Replies of servers: what is read in a response, whatever the protocol."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from litm.base.formats import checked_field, without_surrogates
from litm.inference.retrying import Unanswered
from litm.records import Usage, is_token_count


@dataclass(frozen=True)
class Reply:
    """A server's response in this workflow's terms.

    finish_reason: see `litm.records`; prompt_tokens, response_tokens, and of the prompt's cache_write and cache_read:
    the server's counts, None if missing or not a number of tokens; served: the server's name for the model, None if
    missing; is_mended: whether U+FFFD replaces lone surrogates or bytes that are not UTF-8.
    """

    text: str
    finish_reason: str
    prompt_tokens: int | None
    response_tokens: int | None
    served: str | None
    cache_write: int | None = None
    cache_read: int | None = None
    is_mended: bool = False

    @property
    def billed(self) -> Usage | None:
        """The bill; None without the tokens of prompt or answer. Servers without a cache do not report the others."""
        write, read, output = self.cache_write or 0, self.cache_read or 0, self.response_tokens
        left = None if self.prompt_tokens is None else self.prompt_tokens - write - read
        return None if left is None or left < 0 or output is None else Usage(left, write, read, output)


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


def optional_text(fields: Mapping[str, Any], name: str) -> str | None:
    """The text of a field, None if it is null or missing; TypeError if it is anything else."""
    return None if fields.get(name) is None else checked_field(fields, name, str)


def joined_text(parts: Iterable[Mapping[str, Any]]) -> str:
    """The text of parts, `{"type": "text", "text": ...}` each; KeyError or TypeError for any other."""
    texts = []
    for part in parts:
        if part["type"] != "text":
            raise TypeError(f"a part of the type {part['type']!r}"[:80])
        texts.append(checked_field(part, "text", str))
    return "".join(texts)


def reported_tokens(body: Mapping[str, Any], *names: str) -> int | None:
    """The sum of token counts in the `usage` of a response, without those that are null; None if there are none, or any
    is not a number of tokens (12.5, "12", -1).

    The answer is complete anyway, as one without `usage` is.
    """
    usage = body.get("usage")
    given = [usage[name] for name in names if usage.get(name) is not None] if isinstance(usage, dict) else []
    total = sum(value for value in given if is_token_count(value))
    return total if given and all(map(is_token_count, given)) and is_token_count(total) else None


def known_reason(reasons: Mapping[str, str], given: object) -> str:
    """Our finish reason; `Unanswered` for reasons that no complete answer has (a server's abort, say)."""
    if not isinstance(given, str) or given not in reasons:
        raise Unanswered(f"an answer that ended for the reason {given!r}")
    return reasons[given]
