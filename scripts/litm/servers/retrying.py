"""Failed requests: which to repeat and when, which need the user; concurrent requests with retries.

Concurrency is limited here and not by a limiter, because no request may start while an answer waits to be written or
after a failure, and the order of prompts must suit the server's cache.
"""

import asyncio
import json
import random
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from heapq import heappop, heappush
from socket import EAI_NONAME, gaierror
from ssl import SSLCertVerificationError
from typing import Any, TypeVar
from urllib.parse import urljoin

from litm.base.cli import signals_deferred
from litm.base.download import public_url
from litm.base.groups import grouped
from litm.base.messages import UserError, note
from litm.engines.served_models import ServedSettings
from litm.servers.server_errors import TOO_MANY, UNTRUSTED, asked_wait, first_cause, reason_of, remedy, words_of

#: Client errors worth retrying: timeout, conflict, too early, too many requests.
PASSING = {408, 409, 425, TOO_MANY}
#: Error codes of an exhausted budget, which come with the status of a rate limit.
QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
#: What a 429 says of a request that is larger than the limit of a minute, and never passes.
NEVER = re.compile("request too large|must be reduced", re.IGNORECASE)
#: Seconds: a server that asks for a longer wait has an hourly or daily limit.
LONGEST_WAIT = 900.0
#: Characters of a server's error message that are shown; some servers send a page.
LONGEST_REASON = 380


class Unanswered(Exception):
    """A request failed; the same request may succeed later.

    wait: waiting time in seconds that the server asks for, None for none; for_all: whether all requests must wait;
    no_server: whether nothing listens at the address, or no host has its name; is_free: whether the server has not
    computed an answer; is_final: whether the request is not sent again.
    """

    is_final = False

    def __init__(
        self,
        reason: str,
        wait: float | None = None,
        for_all: bool = False,
        no_server: bool = False,
        is_free: bool = False,
    ) -> None:
        super().__init__(reason)
        self.wait = wait
        self.for_all = for_all
        self.no_server = no_server
        self.is_free = is_free or no_server


class Refusal(UserError):
    """Why a request is not sent; is_final: whether it is still not when those under way have ended."""

    def __init__(self, reason: str, is_final: bool) -> None:
        super().__init__(reason)
        self.is_final = is_final


#: Function that says why a request may not be sent, None if it may.
Refuse = Callable[[], Refusal | None]


def masked(text: str, secret: str) -> str:
    """The text with *** for a key, which servers repeat in messages; also as JSON or Python would quote it."""
    # Skipped without a key: every text contains the empty one.
    for form in {secret, json.dumps(secret)[1:-1], repr(secret)[1:-1]} - {""}:
        text = text.replace(form, "***")
    return text


def failure_of(error: Any, secret: str = "") -> Exception:
    """The failure that an SDK's error stands for: `Unanswered`, or a `UserError` with the provider's masked message.

    error: an `APIError` of either SDK, which has a response if the server sent one.
    """
    response = getattr(error, "response", None)
    if response is None:
        cause, asked = first_cause(error), public_url(str(error.request.url))
        reason = masked(f"{asked}: {reason_of(error)}", secret)[:LONGEST_REASON]
        if isinstance(cause, ConnectionRefusedError):
            return Unanswered(f"{asked} refused the connection, so nothing listens there", no_server=True)
        if isinstance(cause, SSLCertVerificationError):
            return UserError(f"{reason}: {UNTRUSTED}; what was answered is kept")
        return Unanswered(reason, no_server=isinstance(cause, gaierror) and cause.errno == EAI_NONAME)
    status, body = response.status_code, getattr(error, "body", None)
    if 300 <= status < 400:
        return _redirected(status, str(response.request.url), response.headers.get("location"))
    said, words = " ".join(str(error).split()), words_of(response.text)
    if words not in said:
        said = f"Error code: {status} - {words}"
    # Masked before it is cut: half a key must not be shown either.
    message = masked(said, secret)[:LONGEST_REASON]
    if status == TOO_MANY and NEVER.search(words):
        never = Unanswered(message, is_free=True)
        never.is_final = True
        return never
    is_spent = status == TOO_MANY and not QUOTA.isdisjoint(error_names(body))
    if (status < 500 and status not in PASSING) or is_spent:
        return UserError(f"the API refused a request: {message}. {remedy(status, words)}")
    wait = asked_wait(response.headers, response.text, datetime.now(UTC))
    if wait is not None and wait > LONGEST_WAIT:
        return UserError(f"the API wants a wait of {wait:.0f} seconds: {message}. Run the same command again then")
    return Unanswered(message, wait, for_all=status == TOO_MANY, is_free=True)


def _redirected(status: int, asked: str, location: str | None) -> UserError:
    """The failure of a server that redirects requests. location: the target in its header."""
    try:
        there = public_url(urljoin(asked, location or ""))
    except ValueError:
        there = "an address that is none"
    return UserError(
        f"{public_url(asked)} redirects requests to {there} (status {status}): nothing was sent there. If that is the "
        "server that you mean, set the model's 'base_url' to it"
    )


def error_names(body: object) -> set[str]:
    """The code and the type in an error's body, if any."""
    error = body.get("error", body) if isinstance(body, Mapping) else None
    fields: Mapping[str, Any] = error if isinstance(error, Mapping) else {}
    return {value for name in ("code", "type") if isinstance(value := fields.get(name), str)}


T = TypeVar("T")
#: Seconds: shorter waits are not reported.
WORTH_A_NOTE = 5.0
#: Seconds between two messages about retries.
BETWEEN_NOTES = 60.0
#: Seconds between two looks at whether a request may be sent now.
BETWEEN_LOOKS = 0.2
#: Seconds for a whole request if the model's entry has no limit: reasoning may take a large part of an hour.
USUAL_TOTAL = 3600.0


@dataclass(frozen=True)
class Patience:
    """Timeouts and retries for one server. Times are in seconds."""

    timeout: float
    """The longest time of one request without data."""
    attempts: int
    """The requests per prompt before it counts as failed."""
    first_wait: float = 1.0
    """The shortest wait between attempts."""
    longest_wait: float = 60.0
    """The longest wait between attempts."""
    prompts: int = 10
    """The successive failed prompts after which the server counts as unreachable."""
    total: float = USUAL_TOTAL
    """The longest time of a whole request."""

    @classmethod
    def from_settings(cls, settings: ServedSettings) -> "Patience":
        """The timeouts and retries of a model's entry."""
        keys = settings.keys
        total = keys.request_total_timeout or max(USUAL_TOTAL, keys.request_timeout)
        return cls(keys.request_timeout, keys.request_attempts, total=total)

    @property
    def longest_waits(self) -> float:
        """Upper bound, in seconds, of all waits for one prompt."""
        return sum(map(self.longest, range(1, self.attempts)))

    def longest(self, attempt: int) -> float:
        """Upper bound of the wait, in seconds, before the attempt after number `attempt`, from 1."""
        return min(self.longest_wait, self.first_wait * 2 ** (attempt - 1))

    def wait(self, attempt: int) -> float:
        """Seconds before the attempt after number `attempt`, from 1: exponential backoff with full jitter.

        M. Brooker, Exponential Backoff and Jitter, AWS Architecture Blog, 2015.
        """
        return random.uniform(0, self.longest(attempt))


#: Refusals of a request by a rate limit that count as a failed attempt while other requests are answered.
TURNS = 3
#: Reason of a request that is given up because another one ended the run.
NOT_SENT = "not sent again, because the run has ended"


class Line:
    """Shared state of the requests to one server: the earliest time of the next one, and the failure that stops all.

    failure: the reason why no more requests are sent, None while they are. A connection refused before the first
    successful one means that the server was not started or is elsewhere; afterwards it may come back.
    """

    def __init__(self, patience: Patience) -> None:
        self.patience = patience
        self.failure: UserError | None = None
        self._closed = asyncio.Event()
        self._opens = 0.0
        self._failed = 0
        self._is_there = False
        self._answers = 0
        self._next_note = 0.0

    async def answer(self, send: Callable[[], Awaitable[T]], refuse: Refuse) -> T | None:
        """The answer to a request, with retries; None if every attempt failed."""
        try:
            answer = await self.insisted(send, refuse)
        except Unanswered as error:
            self._give_up(error)
        except UserError as error:
            self.close(error)
        else:
            self._failed = 0
            return answer
        return None

    async def insisted(self, send: Callable[[], Awaitable[T]], refuse: Refuse = lambda: None) -> T:
        """The answer to a request, with retries; raises `Unanswered` after the last attempt, and `UserError`.

        refuse: asked before each attempt; a refusal that is not final is waited for. Too many requests are no failed
        attempt while others are answered: with a limit per minute, each gets its turn; only `TURNS` of them are one.
        """
        failed, in_vain, turned_away, answers = 0, 0, 0, self._answers
        while True:
            while (closed := self._opens - asyncio.get_running_loop().time()) > 0:
                await self._sleep(closed)
            # Created before another request failed, started after it.
            if self.failure:
                break
            while refused := refuse():
                if refused.is_final:
                    raise refused
                await self._sleep(BETWEEN_LOOKS)
            try:
                answer = await send()
                self._is_there = True
                self._answers += 1
                return answer
            except Unanswered as error:
                self._is_there = self._is_there or not error.no_server
                if error.for_all:
                    turned_away += 1
                    in_vain = 0 if self._answers > answers else in_vain + 1
                else:
                    failed += 1
                answers, attempt = self._answers, max(1, failed + in_vain)
                is_last = max(attempt, turned_away // TURNS) >= self.patience.attempts
                if not self._is_there or self.failure or error.is_final or is_last:
                    raise
                if error.for_all and error.wait is None:
                    wait = self.patience.longest(attempt)
                else:
                    wait = (error.wait or 0.0) + self.patience.wait(attempt)
                self._heed(error, wait)
            await self._sleep(wait)
        raise Unanswered(NOT_SENT)

    def _heed(self, error: Unanswered, wait: float) -> None:
        """Report the retry, and delay all other requests too if there are too many: each would make the wait longer.

        wait: of this request, and of all if the server names none.
        """
        now = asyncio.get_running_loop().time()
        held = wait if error.wait is None else error.wait
        if error.for_all:
            self._opens = max(self._opens, now + held)
        if now < self._next_note or (error.for_all and held < WORTH_A_NOTE):
            return
        self._next_note = now + BETWEEN_NOTES
        if error.for_all:
            note(f"too many requests for the API, so all wait {held:.0f} seconds: {error}")
        else:
            note(
                f"a request got no answer: {error}. It is sent again in {wait:.1f} seconds; it is sent up to "
                f"{self.patience.attempts} times, with waits that grow to {self.patience.longest_waits / 60:.1f} "
                "minutes in all"
            )

    async def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closed.wait(), seconds)
            raise Unanswered(NOT_SENT)

    def _give_up(self, error: Unanswered) -> None:
        if self.failure:
            return
        if error.no_server and not self._is_there:
            self.close(
                UserError(f"there is no server: {error}. Start it, or look at the model's 'base_url' and the network")
            )
            return
        self._failed += 1
        note(f"a prompt got no answer, the last time because: {error}")
        if self._failed >= self.patience.prompts:
            self.close(
                UserError(
                    f"the API gave no answer to {self._failed} prompts one after the other, the last time because: "
                    f"{error}. What was answered is kept: run the same command again when it answers"
                )
            )

    def close(self, failure: UserError) -> None:
        """Send no more requests."""
        self.failure = self.failure or failure
        self._closed.set()


async def as_they_finish(
    send: Callable[[int], Awaitable[T]],
    order: Sequence[int],
    concurrency: int,
    patience: Patience,
    after: Mapping[int, int] | None = None,
    refusal: Callable[[int], Refusal | None] = lambda number: None,
) -> AsyncGenerator[list[tuple[int, T]], None]:
    """Send the requests with the numbers in `order`, `concurrency` at a time; yields (number, answer) as they finish.

    Requests without an answer are left out. After a `UserError` no further request is sent, and the error is raised
    when the pending ones have ended. `Patience.prompts` successive failures without any answer also raise `UserError`.

    after: numbers of requests, each with an earlier one that must have ended before; refusal: see `Line.insisted`; a
    final one ends all.
    """
    line = Line(patience)
    followers = grouped(range(len(order)), lambda place: (after or {}).get(order[place]))
    # Sorted, and so a heap.
    ready = followers.get(None, [])
    running: dict[asyncio.Task[T | None], int] = {}
    try:
        while True:
            while ready and len(running) < concurrency and not line.failure:
                number = order[heappop(ready)]
                asked = line.answer(partial(send, number), partial(refusal, number))
                running[asyncio.create_task(asked)] = number
            if not running:
                break
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            finished = [(running.pop(task), task.result()) for task in done]
            for number, _ in finished:
                for place in followers.get(number, ()):
                    heappush(ready, place)
            answers = [(number, answer) for number, answer in finished if answer is not None]
            if answers:
                yield answers
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    if line.failure:
        raise line.failure


def in_step(items: AsyncGenerator[T, None]) -> Iterator[T]:
    """The items of an asynchronous generator, whose loop runs while the caller waits for the next item.

    Any interruption (an error, Ctrl-C, SIGTERM) also ends all tasks of the generator and runs its `finally` blocks.
    """

    async def following() -> T | None:
        return await anext(items, None)

    async def closed() -> None:
        # After its remaining tasks: the runner would close them at the same time, and asyncio would print a traceback.
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await items.aclose()

    def done(work: Coroutine[Any, Any, T | None]) -> T | None:
        # A signal cancels the work and takes effect after it: raised within the loop, it would end any of its callbacks
        # or the loop's own code, and asyncio would print a traceback.
        task = loop.create_task(work)
        with signals_deferred(partial(loop.call_soon_threadsafe, task.cancel)):
            return loop.run_until_complete(task)

    with signals_deferred():
        runner = asyncio.Runner()
        loop = runner.get_loop()
    try:
        while (item := done(following())) is not None:
            yield item
    finally:
        with signals_deferred():
            runner.run(closed())
            runner.close()
