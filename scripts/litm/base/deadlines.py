"""Calls that may take only so long, whatever they wait for."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """What a call returns; TimeoutError if it takes longer.

    For libraries whose own limit is of the time between two bytes. The call is made by a thread of its own, which is
    left to itself after that time, and ends with the program.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result(seconds)
