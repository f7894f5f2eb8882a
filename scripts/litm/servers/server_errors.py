"""What a server's error says: its words, the wait that it asks for, why there was no connection, and the remedy."""

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

TOO_MANY = 429
#: Fields of an error's body that have its words, or an object or a list that has them.
WORDS = ("message", "detail", "error")
#: A wait in the words of Gemini ("retryDelay": "34s", retry in 34.5s), OpenAI (try again in 6m0s) or Azure (retry after
#: 30 seconds), and its units in seconds.
WAIT = re.compile(r'(?:retryDelay": ?"|(?:retry|try again) (?:in|after) )((?:\d{1,9}(?:\.\d+)? ?[a-z]+ ?)+)', re.I)
UNITS = {"ms": 0.001, "milli": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
#: The remedy for a certificate that is not accepted.
UNTRUSTED = "to trust the server, set the environment variable SSL_CERT_FILE to a file with its certificate (PEM)"


def words_of(text: str) -> str:
    """The message in the body of an error, in one line.

    The body is JSON of OpenAI's form (`error.message`), or what other servers send: a list of errors (Gemini), `detail`
    (FastAPI), a text as `error` (Ollama, TGI), plain text, or a page of HTML.
    """
    try:
        message = _innermost(json.loads(text))
    except (ValueError, RecursionError):
        message = re.sub("<[^<>]*>", " ", text) if text.lstrip().startswith("<") else text
    return " ".join(message.split()).removesuffix(".")


def _innermost(body: object) -> str:
    if isinstance(body, list) and len(body) == 1:
        return _innermost(body[0])
    for name in WORDS:
        if isinstance(body, Mapping) and body.get(name):
            return _innermost(body[name])
    return body if isinstance(body, str) else json.dumps(body)


def first_cause(error: BaseException) -> BaseException:
    """The first of the errors that led to this one: libraries say "all attempts failed", and keep the reason."""
    while isinstance(cause := error.__cause__ or error.__context__, Exception):
        error = cause
    return error


def reason_of(error: BaseException) -> str:
    """Why there was no response, in one line: what an SDK says, and the first cause."""
    first = first_cause(error)
    why = f"{type(first).__name__}: {first}" if str(first) else type(error.__cause__ or error).__name__
    return " ".join(f"{error} ({why})".split())


def remedy(status: int, words: str) -> str:
    """The remedy for a request that was refused for good. words: the server's."""
    # Anthropic's status is 400 then, Groq's 413 for a request of more tokens than a minute's.
    if status in (402, TOO_MANY) or "credit balance" in words or "per minute" in words:
        return "Raise the limit, or pay, and run the same command again; what was answered is kept"
    if status in (401, 403):
        return "Check the key and what it may be used for; what was answered is kept"
    if status == 404:
        return "Check the model's 'api_model', 'base_url' and 'endpoint'"
    return (
        "If it is a field that this API does not know, set it in the model's 'request' (null leaves it out); if a "
        "prompt is too long, set 'context_window' and 'tokenizer'; what was answered is kept"
    )


def asked_wait(headers: Mapping[str, str], text: str, now: datetime) -> float | None:
    """The waiting time in seconds that a response asks for, `text` being its body; None if it asks for none.

    Read from `retry-after-ms` (milliseconds, more exact) or `retry-after` (seconds, or a date compared to `now`; RFC
    9110, section 10.2.3), or else from the words of the body. The SDKs read the headers for their own retries, but
    offer no function.
    """
    value = headers.get("retry-after") or ""
    for number, scale in ((headers.get("retry-after-ms") or "", 1000), (value, 1)):
        with suppress(ValueError):
            if math.isfinite(wait := float(number)):
                return max(0.0, wait) / scale
    with suppress(ValueError):
        then = parsedate_to_datetime(value)
        # A date without a zone is UTC, as all HTTP dates are.
        return max(0.0, ((then if then.tzinfo else then.replace(tzinfo=UTC)) - now).total_seconds())
    if not (said := WAIT.search(text)):
        return None
    parts = re.findall(rf"([\d.]+) ?({'|'.join(UNITS)})", said[1], re.I)
    return sum(float(number) * UNITS[unit.lower()] for number, unit in parts) if parts else None
