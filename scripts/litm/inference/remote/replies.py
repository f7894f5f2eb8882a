"""What a server answers: from the text of a response to what is recorded of it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from litm.inference.remote.failures import Unanswered
from litm.prompting.reasoning import Reasoning


@dataclass(frozen=True)
class Reply:
    """A response of a server, in our words.

    finish_reason: see `finish_reasons`; prompt_tokens, response_tokens: as the server counts them, None where it does
    not say; served: what it calls the model that answered, None likewise.
    """

    text: str
    finish_reason: str
    prompt_tokens: int | None
    response_tokens: int | None
    served: str | None


def read_reply(text: str, read: Callable[[dict[str, Any]], Reply]) -> Reply:
    """What the text of a response says by a protocol's `read`; `Unanswered` if it is not the response of that."""
    body = json_body(text)
    try:
        return read(body)
    except (LookupError, TypeError, AttributeError) as error:
        raise Unanswered(f"a response of another form than the API's ({type(error).__name__}: {error})") from error


def json_body(text: str) -> dict[str, Any]:
    """The JSON object that a response is; `Unanswered` if it is none, or whole, or one that says there was an error."""
    try:
        body = json.loads(text)
    except ValueError as error:
        raise Unanswered("an empty response" if not text.strip() else "a response that is not whole JSON") from error
    if not isinstance(body, dict):
        raise Unanswered("a response that is not a JSON object")
    if body.get("error"):
        # Services that pass requests on tell so of what went wrong behind them.
        raise Unanswered(f"a response that says there was an error: {json.dumps(body['error'])}")
    return body


def known_reason(reasons: Mapping[str, str], given: object) -> str:
    """Our word for why an answer ended; `Unanswered` for a reason that no whole answer has (a server's abort, say)."""
    if not isinstance(given, str) or given not in reasons:
        raise Unanswered(f"an answer that ended for the reason {given!r}")
    return reasons[given]


def line_end(text: str, reasoning: Reasoning) -> int | None:
    """How many characters it takes to the end of the answer's first line that is not blank; None if it does not end.

    The rule of `line_end.LineEnd`, for a response of which the tokens are not known. Where the model is run here, what
    else the token of the line end says (another line end, mostly) is recorded too, which nothing reads. An answer
    begins behind the reasoning, where the two are separate.
    """
    begin = 0
    if reasoning.is_separate:
        opening, closing = reasoning.tags
        begin = text.find(closing) + len(closing) if closing in text else 0
        if not begin and text.lstrip().startswith(opening):
            return None
    start = len(text) - len(text[begin:].lstrip())
    end = text.find("\n", start) + 1
    return end or None
