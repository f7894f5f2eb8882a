"""Deadlines for calls of any kind."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """The result of a call; TimeoutError if it takes longer than `seconds`.

    For libraries that limit only the time between two bytes. A thread of its own makes the call; after the deadline it
    is abandoned and ends with the program.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result(seconds)
