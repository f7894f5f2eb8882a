"""Waits of tests: for an event, never for a time."""

import time
from collections.abc import Callable

#: Seconds after which a wait counts as a hang; the longest wait seen, on a machine with other work, took 60.
HANG = 1800.0


def wait_until(is_so: Callable[[], object], about: Callable[[], str] = str) -> None:
    """Wait until it is so; AssertionError with the text `about()` after `HANG` seconds."""
    end = time.monotonic() + HANG
    while not is_so():
        assert time.monotonic() < end, about()
        time.sleep(0.01)
