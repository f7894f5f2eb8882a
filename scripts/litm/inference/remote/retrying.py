"""Many requests at a time, sent again until they are answered, behind an iterator that waits for them.

tenacity sends again. How many are under way is counted here and not by a limiter: no request is to be sent while an
answer waits to be written, and none after a failure, and the order of the prompts is kept for the server's cache.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar, cast

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from litm.base.errors import UserError
from litm.base.messages import note
from litm.inference.remote.failures import Unanswered

T = TypeVar("T")
#: Waits shorter than this, in seconds, are not worth a line.
WORTH_A_NOTE = 5.0


@dataclass(frozen=True)
class Patience:
    """How long a server is waited for; times in seconds.

    timeout: of one request without a sign of life; attempts: requests for one prompt, after which it stays without
    an answer; first_wait, longest_wait: bounds of the waits between them; prompts: so many that stayed without an
    answer, and none with one in between, mean that the server is not there.
    """

    timeout: float
    attempts: int
    first_wait: float = 1.0
    longest_wait: float = 60.0
    prompts: int = 10

    @property
    def backoff(self) -> wait_random_exponential:
        """Waits between requests: exponential backoff with full jitter.

        M. Brooker, Exponential Backoff and Jitter, AWS Architecture Blog, 2015.
        """
        return wait_random_exponential(multiplier=self.first_wait, max=self.longest_wait)


class Line:
    """What the requests to one server have in common: when the next may be sent, and whether any is to be.

    failure: why none is sent any more, None while they are.
    """

    def __init__(self, patience: Patience) -> None:
        self.patience = patience
        self.failure: UserError | None = None
        self._closed = asyncio.Event()
        self._opens = 0.0
        self._in_vain = 0

    async def answer(self, send: Callable[[], Awaitable[T]]) -> T | None:
        """The answer to a request, sent until there is one; None if it stays without."""
        try:
            answer = await self._send_again(send)
        except Unanswered as error:
            self._give_up(error)
        except UserError as error:
            self._close(error)
        else:
            self._in_vain = 0
            return answer
        return None

    async def _send_again(self, send: Callable[[], Awaitable[T]]) -> T:
        backoff = self.patience.backoff

        async def send_once() -> T:
            await self._until_open()
            return await send()

        def wait(state: RetryCallState) -> float:
            return (failure_of_try(state).wait or 0.0) + backoff(state)

        retrying = AsyncRetrying(
            retry=retry_if_exception_type(Unanswered),
            stop=stop_after_attempt(self.patience.attempts),
            wait=wait,
            before_sleep=lambda state: self._heed(failure_of_try(state)),
            sleep=self._sleep,
            reraise=True,
        )
        return await retrying(send_once)

    def _heed(self, error: Unanswered) -> None:
        """Let the others wait too where the server says so: each of their requests would make it longer."""
        if not error.for_all or error.wait is None:
            return
        now = asyncio.get_running_loop().time()
        if error.wait >= WORTH_A_NOTE and self._opens <= now:
            note(f"the API wants a wait of {error.wait:.0f} seconds: {error}")
        self._opens = max(self._opens, now + error.wait)

    async def _until_open(self) -> None:
        while (wait := self._opens - asyncio.get_running_loop().time()) > 0:
            await self._sleep(wait)

    async def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closed.wait(), seconds)
            raise Unanswered("not sent again, because the run has ended")

    def _give_up(self, error: Unanswered) -> None:
        if self.failure:
            return
        self._in_vain += 1
        note(f"a prompt got no answer, the last time because: {error}")
        if self._in_vain >= self.patience.prompts:
            self._close(
                UserError(
                    f"the API gave no answer to {self._in_vain} prompts one after the other, the last time because: "
                    f"{error}. What was answered is kept: run the same command again when it answers"
                )
            )

    def _close(self, failure: UserError) -> None:
        self.failure = self.failure or failure
        self._closed.set()


def failure_of_try(state: RetryCallState) -> Unanswered:
    """Why a request that is to be sent again got no answer."""
    return cast(Unanswered, state.outcome and state.outcome.exception())


async def as_they_finish(
    send: Callable[[int], Awaitable[T]], order: Sequence[int], concurrency: int, patience: Patience
) -> AsyncGenerator[list[tuple[int, T]], None]:
    """Send the requests with the numbers in `order`, `concurrency` at a time; yields answers as (number, answer).

    What stays without an answer is left out. After a `UserError` no request is sent any more, and it is raised when
    those under way have come to their end, which may be an answer. If none is answered at all, that is one too, see
    `Patience.prompts`.
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
    """The items of an asynchronous generator, whose loop runs while the next is waited for.

    Whatever ends the waiting (an error, Ctrl-C, SIGTERM) also ends all tasks of the generator, and its `finally`
    blocks are run.
    """

    async def following() -> T | None:
        return await anext(items, None)

    with asyncio.Runner() as runner:
        while (item := runner.run(following())) is not None:
            yield item
