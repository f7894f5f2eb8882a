"""Failed requests: which to repeat, when, and which need the user."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urljoin

from litm.base.download import public_url
from litm.base.messages import UserError

#: Client errors worth retrying: timeout, conflict, too early, too many requests.
PASSING = {408, 409, 425, 429}
TOO_MANY = 429
#: Error codes of an exhausted budget, which come with the status of a rate limit.
QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
#: Seconds: a server that asks for a longer wait has an hourly or daily limit.
LONGEST_WAIT = 900.0
#: Characters of a server's error message that are shown; some servers send a page.
LONGEST_REASON = 400


class Unanswered(Exception):
    """A request failed; the same request may succeed later.

    wait: waiting time in seconds that the server asks for, None for none; for_all: whether all requests must wait;
    no_server: whether nothing listens at the address.
    """

    def __init__(self, reason: str, wait: float | None = None, for_all: bool = False, no_server: bool = False) -> None:
        super().__init__(reason)
        self.wait = wait
        self.for_all = for_all
        self.no_server = no_server


def masked(text: str, secret: str) -> str:
    """The text with *** for a key, which servers repeat in messages; also as JSON or Python would quote it."""
    # Skipped without a key: every text contains the empty one.
    for form in {secret, json.dumps(secret)[1:-1], repr(secret)[1:-1]} - {""}:
        text = text.replace(form, "***")
    return text


def masked_failure(error: Unanswered | UserError, secret: str) -> Unanswered | UserError:
    """The same failure with the key masked and the message shortened."""
    message = masked(str(error), secret)
    if isinstance(error, UserError):
        return UserError(message)
    return Unanswered(message[:LONGEST_REASON], error.wait, error.for_all, error.no_server)


def failure_of(error: Any, secret: str = "") -> Exception:
    """The failure that an SDK's error stands for: `Unanswered`, or a `UserError` with the provider's masked message.

    error: an `APIError` of either SDK, which has a response if the server sent one.
    """
    # Masked before it is cut: half a key must not be shown either.
    message = masked(" ".join(str(error).split()), secret)[:LONGEST_REASON]
    response = getattr(error, "response", None)
    if response is None:
        if is_refused_connection(error):
            asked = public_url(str(error.request.url))
            return Unanswered(f"{asked} refused the connection, so nothing listens there", no_server=True)
        return Unanswered(f"{message} ({type(error.__cause__ or error).__name__})")
    status, body = response.status_code, getattr(error, "body", None)
    if 300 <= status < 400:
        return UserError(redirect(status, str(response.request.url), response.headers.get("location")))
    if is_final(status, body):
        return UserError(f"the API refused a request: {message}. {remedy(status, body)}")
    wait = asked_wait(response.headers, datetime.now(UTC))
    if wait is not None and wait > LONGEST_WAIT:
        return UserError(f"the API wants a wait of {wait:.0f} seconds: {message}. Run the same command again then")
    return Unanswered(message, wait, for_all=status == TOO_MANY)


def is_refused_connection(error: BaseException) -> bool:
    """Whether an error means that the machine answers but nothing listens at the port."""
    # Libraries say "all attempts failed" and keep the reason of the last attempt as cause or context.
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def redirect(status: int, asked: str, location: str | None) -> str:
    """The message on a server that redirects requests. location: the target in its header."""
    try:
        there = public_url(urljoin(asked, location or ""))
    except ValueError:
        there = "an address that is none"
    return (
        f"{public_url(asked)} redirects requests to {there} (status {status}): nothing was sent there. If that is the "
        "server that you mean, set the model's 'base_url' to it"
    )


def is_final(status: int, body: object) -> bool:
    """Whether the same request would fail again, by the status and the body of the response."""
    return (status < 500 and status not in PASSING) or (status == TOO_MANY and not QUOTA.isdisjoint(error_names(body)))


def error_names(body: object) -> set[str]:
    """The code and the type in an error's body, if any."""
    error = body.get("error", body) if isinstance(body, Mapping) else None
    fields: Mapping[str, Any] = error if isinstance(error, Mapping) else {}
    return {value for name in ("code", "type") if isinstance(value := fields.get(name), str)}


def remedy(status: int, body: object) -> str:
    """The remedy for a request that was refused for good."""
    if status in (401, 403):
        return "Check the key and what it may be used for; what was answered is kept"
    if status in (402, TOO_MANY):
        return "Raise the limit, or pay, and run the same command again; what was answered is kept"
    if status == 404:
        return "Check the model's 'api_model', 'base_url' and 'endpoint'"
    return (
        "If it is a field that this API does not know, set it in the model's 'request' (null leaves it out); if a "
        "prompt is too long, set 'context_window'; what was answered is kept"
    )


def asked_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """The waiting time in seconds that a response asks for; None if it asks for none.

    Read from `retry-after-ms` (milliseconds, more exact) or `retry-after` (seconds, or a date compared to `now`; RFC
    9110, section 10.2.3). The SDKs read the same for their own retries, but offer no function.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    return _seconds_until(value, now) if seconds is None and value else seconds


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _seconds_until(date: str, now: datetime) -> float | None:
    try:
        then = parsedate_to_datetime(date)
    except ValueError:
        return None
    # A date without a zone is UTC, as all HTTP dates are.
    return max(0.0, ((then if then.tzinfo else then.replace(tzinfo=UTC)) - now).total_seconds())
