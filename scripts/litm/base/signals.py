"""Signals that end a program: one line instead of a sudden death, and never in the middle of a write."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: Ctrl-C, and what SLURM (at the time limit, or for scancel), containers and `kill` send.
ENDING = (signal.SIGINT, signal.SIGTERM)


def stop_on_sigterm() -> None:
    """From now on SIGTERM ends this program as an error does: files are closed, locks released, one line says so."""
    signal.signal(signal.SIGTERM, _stop)


def _stop(number: int, frame: FrameType | None) -> None:
    # SystemExit, because `except Exception` and event loops, ours and those of libraries, let it through.
    sys.exit("stopped by SIGTERM: what was finished is kept, run the same command again to go on")


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Signals that end the program and come within the block are acted upon when it is done.

    By handlers that only remember them: a blocked signal would be delivered to another thread of the process, and
    Python would run its handler in this one all the same. It never does in another thread than the main one.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    before = {number: signal.getsignal(number) for number in ENDING}
    try:
        for number in ENDING:
            signal.signal(number, lambda number, frame: arrived.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for one in arrived:
            signal.raise_signal(one)
