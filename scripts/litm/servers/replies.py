"""Replies of servers: what is read in a response, whatever the protocol, and what errors say of a prompt."""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from litm.base.json_files import checked_field, without_surrogates
from litm.base.messages import UserError
from litm.records.bills import Usage
from litm.records.responses import OVERFLOW, REFUSED, UNKNOWN
from litm.records.tokens import is_token_count
from litm.servers.retrying import Unanswered


@dataclass(frozen=True)
class Reply:
    """A server's response in this workflow's terms."""

    text: str
    """The answer."""
    finish_reason: str
    """The finish reason, see `litm.records.responses`."""
    prompt_tokens: int | None
    """The server's count of the prompt's tokens, None if missing or not a number of tokens. So are the other counts."""
    response_tokens: int | None
    """The server's count of the answer's tokens."""
    served: str | None
    """The server's name for the model, None if missing."""
    cache_write: int | None = None
    """The server's count of the prompt's tokens written to the cache."""
    cache_read: int | None = None
    """The server's count of the prompt's tokens read from the cache."""
    is_mended: bool = False
    """Whether U+FFFD replaces lone surrogates or bytes that are not UTF-8."""
    end: Any = field(default=None, compare=False)
    """The server's word for the finish reason."""

    @property
    def billed(self) -> Usage | None:
        """The bill; None without the tokens of prompt or answer. Servers without a cache do not report the others."""
        write, read, output = self.cache_write or 0, self.cache_read or 0, self.response_tokens
        uncached = None if self.prompt_tokens is None else self.prompt_tokens - write - read
        return None if uncached is None or uncached < 0 or output is None else Usage(uncached, write, read, output)


class Unusable(Unanswered):
    """A whole response that is no reply, which a server gives each time if the model's entry is wrong."""


class ErrorInReply(Unanswered):
    """An error in a response whose status says that there is none. error: the server's."""

    def __init__(self, what: str, error: object = None) -> None:
        super().__init__(what if error is None else f"{what}: {json.dumps(error)}")
        self.error = error


def read_reply(content: bytes, read: Callable[[dict[str, Any]], Reply]) -> Reply:
    """The reply in the bytes of a response, by a protocol's `read`; `Unanswered` if they are no response of it.

    Bytes are read as UTF-8, whatever a header says, because JSON between systems must be UTF-8 (RFC 8259, section 8.1).
    `read` checks the type of each field that it uses: what it returns is kept for good.
    """
    try:
        text, is_utf8 = content.decode("utf-8-sig"), True
    except UnicodeDecodeError:
        text, is_utf8 = content.decode("utf-8-sig", errors="replace"), False
    body = json_body(text)
    try:
        reply = read(body)
    except (LookupError, TypeError, AttributeError) as error:
        raise Unusable(f"a response of another form than the API's ({type(error).__name__}: {error})") from error
    whole, served = without_surrogates(reply.text), reply.served and without_surrogates(reply.served)
    is_mended = whole != reply.text or (not is_utf8 and "\ufffd" in whole)
    return replace(reply, text=whole, served=served, is_mended=is_mended)


def json_body(text: str) -> dict[str, Any]:
    """The JSON object of a response; `Unanswered` if it is malformed, truncated, or reports an error; `UserError` for
    events of a stream.
    """
    shown = text.strip()
    if shown.startswith(("data:", "event:")):
        raise UserError(
            "the server sent a stream of events instead of one response: take 'stream' out of the model's 'request' if "
            "it is there; otherwise this server only streams, which is not read here"
        )
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        if not shown or shown.startswith(("{", "[")):
            raise Unanswered("a response that is not whole JSON" if shown else "an empty response") from error
        raise Unusable(f"a response that is not JSON: {' '.join(shown.split())}") from error
    if not isinstance(body, dict):
        raise Unusable("a response that is not a JSON object")
    if body.get("error"):
        # Gateways report upstream failures this way.
        raise ErrorInReply("a response that says there was an error", body["error"])
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
    counts = [usage[name] for name in names if usage.get(name) is not None] if isinstance(usage, dict) else []
    total = sum(value for value in counts if is_token_count(value))
    return total if counts and all(map(is_token_count, counts)) and is_token_count(total) else None


#: Parts of finish reasons of answers that a server did not complete.
FAILURES = re.compile("abort|cancel|error|insufficient|timeout", re.IGNORECASE)


def known_reason(reasons: Mapping[str, str], word: object, text: str) -> str:
    """Our finish reason of an answer, `UNKNOWN` for null or another text; `Unanswered` for one that no complete answer
    has, and for an empty answer that ended for an unknown reason.
    """
    if isinstance(word, str) and word in reasons:
        return reasons[word]
    if text and (word is None or (isinstance(word, str) and not FAILURES.search(word))):
        return UNKNOWN
    raise Unanswered(f"an answer that ended for the reason {word!r}")


#: What errors say of a prompt that a filter blocks before it reaches the model, or of an answer that it withholds:
#: Azure, OpenAI, LiteLLM, OpenAI's invalid_prompt, Anthropic, DashScope, DeepSeek, Zhipu.
FILTERED = re.compile(
    '"(code|type)": "content_(filter|policy_violation)"|ResponsibleAIPolicyViolation|ContentPolicyViolationError'
    "|flagged as potentially violating our usage policy|blocked by content filtering policy"
    '|data_?inspection_?failed|content exists risk|"code": "1301"',
    re.IGNORECASE,
)
#: What they say of a limit of the answer that is too large whatever the prompt; not one that leaves a prompt no room.
TOO_LARGE = re.compile("max_(completion_)?(new_)?tokens.{0,40}too large", re.IGNORECASE)
_NO_ROOM = re.compile(r"too large: (\d+)\.? .{0,40}context length is (\d+)", re.IGNORECASE)
#: What they say of a limit of tokens in a time, which is no window.
PER_MINUTE = re.compile(r"per (minute|second|day)|\b[TR]P[MD]\b", re.IGNORECASE)
#: Servers' words for a prompt that is too long.
WORDS = Path(__file__).with_name("too_long.toml")


@cache
def _too_long() -> re.Pattern[str]:
    servers = tomllib.loads(WORDS.read_text(encoding="utf-8"))["server"]
    return re.compile("|".join(server["words"] for server in servers), re.IGNORECASE)


def is_too_long(said: str) -> bool:
    """Whether an error is about a prompt that is longer than the window, or leaves its answer no room there."""
    if PER_MINUTE.search(said):
        return False
    if no_room := _NO_ROOM.search(said):
        # An answer as long as the window has room after no prompt: a mistake of the config.
        return int(no_room[1]) < int(no_room[2])
    return not TOO_LARGE.search(said) and _too_long().search(said) is not None


def refused_for(error: object) -> Reply | None:
    """The reply to a prompt that a server refuses for what it is, by the error: `OVERFLOW`, with the error as the text,
    for one that is too long, and `REFUSED` for one that a filter blocks; None for other errors.
    """
    said = json.dumps(error, ensure_ascii=False)
    if is_too_long(said):
        # Nothing is billed.
        return Reply(said, OVERFLOW, 0, 0, None)
    return Reply("", REFUSED, None, None, None) if FILTERED.search(said) else None
