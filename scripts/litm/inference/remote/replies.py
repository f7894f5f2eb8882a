"""What a server answers: from the text of a response to what is recorded of it."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from litm.base.surrogates import without_surrogates
from litm.domain.response import is_token_count
from litm.inference.remote.failures import Unanswered


@dataclass(frozen=True)
class Reply:
    """A response of a server, in our words.

    finish_reason: see `finish_reasons`; prompt_tokens, response_tokens: as the server counts them, None where it does
    not say, or says what is no number of tokens; served: what it calls the model that answered, None where it does not
    say; is_mended: whether U+FFFD stands for lone surrogates in the text, or for bytes that are not UTF-8.
    """

    text: str
    finish_reason: str
    prompt_tokens: int | None
    response_tokens: int | None
    served: str | None
    is_mended: bool = False


def read_reply(content: bytes, read: Callable[[dict[str, Any]], Reply]) -> Reply:
    """What the bytes of a response say by a protocol's `read`; `Unanswered` if it is not the response of that.

    They are read as UTF-8, whatever a header says, as JSON between systems must be that (RFC 8259, section 8.1). A
    protocol's `read` checks the type of each field that it takes: what it returns is journalled for good.
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
    """The JSON object that a response is; `Unanswered` if it is none, or whole, or one that says there was an error."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unanswered("an empty response" if not text.strip() else "a response that is not whole JSON") from error
    if not isinstance(body, dict):
        raise Unanswered("a response that is not a JSON object")
    if body.get("error"):
        # Services that pass requests on tell so of what went wrong behind them.
        raise Unanswered(f"a response that says there was an error: {json.dumps(body['error'])}")
    return body


def text_field(fields: Mapping[str, Any], name: str) -> str:
    """The text of a field; KeyError or TypeError if it has none."""
    if not isinstance(fields[name], str):
        raise TypeError(f"'{name}' must be a text, found {type(fields[name]).__name__}")
    return fields[name]


def optional_text(fields: Mapping[str, Any], name: str) -> str | None:
    """The text of a field, None if it is null or missing; TypeError if it is anything else."""
    return None if fields.get(name) is None else text_field(fields, name)


def list_field(fields: Mapping[str, Any], name: str) -> list[Any]:
    """The list of a field; KeyError or TypeError if it has none."""
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
    """What a response says of tokens: nothing if its `usage` is missing, or no object."""
    usage = body.get("usage")
    return usage if isinstance(usage, dict) else {}


def token_sum(given: Sequence[object]) -> int | None:
    """The sum of numbers of tokens; None if there is none, or one that is no number of tokens (12.5, "12", -1).

    The answer is whole all the same, as one without `usage` is.
    """
    total = sum(value for value in given if is_token_count(value))
    is_known = bool(given) and all(map(is_token_count, given)) and is_token_count(total)
    return total if is_known else None


def known_reason(reasons: Mapping[str, str], given: object) -> str:
    """Our word for why an answer ended; `Unanswered` for a reason that no whole answer has (a server's abort, say)."""
    if not isinstance(given, str) or given not in reasons:
        raise Unanswered(f"an answer that ended for the reason {given!r}")
    return reasons[given]
