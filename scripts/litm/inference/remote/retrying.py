"""Concurrent requests with retries, consumed by a synchronous iterator.

tenacity retries. Concurrency is limited here and not by a limiter, because no request may start while an answer waits
to be written or after a failure, and the order of prompts must suit the server's cache.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar, cast

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential

from litm.base.messages import UserError, note
from litm.inference.engine import EngineSettings
from litm.inference.remote.failures import Unanswered

T = TypeVar("T")
#: Seconds: shorter waits are not reported.
WORTH_A_NOTE = 5.0
#: Seconds between two messages about retries.
BETWEEN_NOTES = 60.0
#: Seconds for a whole request if the model's entry has no limit: reasoning may take a large part of an hour.
USUAL_TOTAL = 3600.0


@dataclass(frozen=True)
class Patience:
    """Timeouts and retries for one server; times in seconds.

    timeout: of one request without data; attempts: requests per prompt before it counts as failed; first_wait,
    longest_wait: bounds of the waits between attempts; prompts: successive failed prompts after which the server counts
    as unreachable; total: limit of a whole request.
    """

    timeout: float
    attempts: int
    first_wait: float = 1.0
    longest_wait: float = 60.0
    prompts: int = 10
    total: float = USUAL_TOTAL

    @classmethod
    def of(cls, settings: EngineSettings) -> "Patience":
        """The timeouts and retries of a model's entry."""
        total = settings.request_total_timeout or max(USUAL_TOTAL, settings.request_timeout)
        return cls(settings.request_timeout, settings.request_attempts, total=total)

    @property
    def longest_waits(self) -> float:
        """Upper bound, in seconds, of all waits for one prompt."""
        return sum(min(self.longest_wait, self.first_wait * 2**number) for number in range(self.attempts - 1))

    @property
    def backoff(self) -> wait_random_exponential:
        """Waits between requests: exponential backoff with full jitter.

        M. Brooker, Exponential Backoff and Jitter, AWS Architecture Blog, 2015.
        """
        return wait_random_exponential(multiplier=self.first_wait, max=self.longest_wait)


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
        self._next_note = 0.0

    async def answer(self, send: Callable[[], Awaitable[T]]) -> T | None:
        """The answer to a request, with retries; None if every attempt failed."""
        try:
            answer = await self._send_again(send)
        except Unanswered as error:
            self._give_up(error)
        except UserError as error:
            self._close(error)
        else:
            self._failed = 0
            self._is_there = True
            return answer
        return None

    async def _send_again(self, send: Callable[[], Awaitable[T]]) -> T:
        backoff = self.patience.backoff

        async def send_once() -> T:
            await self._until_open()
            # Created before another request failed, started after it.
            if self.failure:
                raise Unanswered(NOT_SENT)
            return await send()

        def wait(state: RetryCallState) -> float:
            return (failure_of_try(state).wait or 0.0) + backoff(state)

        retrying = AsyncRetrying(
            retry=retry_if_exception(self._is_worth_another),
            stop=stop_after_attempt(self.patience.attempts),
            wait=wait,
            before_sleep=self._heed,
            sleep=self._sleep,
            reraise=True,
        )
        return await retrying(send_once)

    def _is_worth_another(self, error: BaseException) -> bool:
        if not isinstance(error, Unanswered):
            return False
        self._is_there = self._is_there or not error.no_server
        return self._is_there and not self.failure

    def _heed(self, state: RetryCallState) -> None:
        """Report the retry, and delay all other requests too if the server asks for it: each would make the wait
        longer.
        """
        error = failure_of_try(state)
        now = asyncio.get_running_loop().time()
        if not error.for_all or error.wait is None:
            if now >= self._next_note:
                note(self._outlook(error, state.upcoming_sleep))
                self._next_note = now + BETWEEN_NOTES
            return
        if error.wait >= WORTH_A_NOTE and self._opens <= now:
            note(f"the API wants a wait of {error.wait:.0f} seconds: {error}")
        self._opens = max(self._opens, now + error.wait)

    def _outlook(self, error: Unanswered, wait: float) -> str:
        minutes = self.patience.longest_waits / 60
        return (
            f"a request got no answer: {error}. It is sent again in {wait:.1f} seconds; a prompt is asked up to "
            f"{self.patience.attempts} times, with waits that grow to {minutes:.1f} minutes in all"
        )

    async def _until_open(self) -> None:
        while (wait := self._opens - asyncio.get_running_loop().time()) > 0:
            await self._sleep(wait)

    async def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closed.wait(), seconds)
            raise Unanswered(NOT_SENT)

    def _give_up(self, error: Unanswered) -> None:
        if self.failure:
            return
        if error.no_server and not self._is_there:
            self._close(UserError(f"there is no server: {error}. Start it, or look at the model's 'base_url'"))
            return
        self._failed += 1
        note(f"a prompt got no answer, the last time because: {error}")
        if self._failed >= self.patience.prompts:
            self._close(
                UserError(
                    f"the API gave no answer to {self._failed} prompts one after the other, the last time because: "
                    f"{error}. What was answered is kept: run the same command again when it answers"
                )
            )

    def _close(self, failure: UserError) -> None:
        self.failure = self.failure or failure
        self._closed.set()


def failure_of_try(state: RetryCallState) -> Unanswered:
    """Why an attempt that is to be repeated failed."""
    return cast(Unanswered, state.outcome and state.outcome.exception())


async def as_they_finish(
    send: Callable[[int], Awaitable[T]], order: Sequence[int], concurrency: int, patience: Patience
) -> AsyncGenerator[list[tuple[int, T]], None]:
    """Send the requests with the numbers in `order`, `concurrency` at a time; yields (number, answer) as they finish.

    Requests without an answer are left out. After a `UserError` no further request is sent, and the error is raised
    when the pending ones have ended. `Patience.prompts` successive failures without any answer also raise `UserError`.
    """
    line = Line(patience)
    waiting = iter(order)
    running: dict[asyncio.Task[T | None], int] = {}
    try:
        while True:
            if not line.failure:
                for number in islice(waiting, concurrency - len(running)):
                    running[asyncio.create_task(line.answer(partial(send, number)))] = number
            if not running:
                break
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            finished = [(running.pop(task), task.result()) for task in done]
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

    with asyncio.Runner() as runner:
        try:
            while (item := runner.run(following())) is not None:
                yield item
        finally:
            runner.run(_closed(items))


async def _closed(items: AsyncGenerator[T, None]) -> None:
    """Close a generator after its remaining tasks: the runner would close them at the same time, and asyncio would
    print a traceback.
    """
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await items.aclose()
