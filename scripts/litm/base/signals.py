"""Signals that end a program: one line instead of a sudden death, and never in the middle of a write."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: Ctrl-C; what SLURM (at the time limit, or for scancel), containers and `kill` send; and that a terminal is gone.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def stop_on_signals() -> None:
    """From now on SIGTERM and SIGHUP end this program as an error does: files are closed, locks released, one line
    says so.
    """
    signal.signal(signal.SIGTERM, _stop)
    if _is_heard(signal.SIGHUP):
        signal.signal(signal.SIGHUP, _stop)


def hangup_is_sigterm() -> None:
    """From now on SIGHUP does in this process what SIGTERM does at that time, which is Snakemake's to say.

    By itself Snakemake dies of it and leaves its lock.
    """
    if threading.current_thread() is threading.main_thread() and _is_heard(signal.SIGHUP):
        signal.signal(signal.SIGHUP, _as_sigterm)


def _is_heard(number: int) -> bool:
    # What `nohup` starts ignores SIGHUP, as it should.
    return signal.getsignal(number) is not signal.SIG_IGN


def _as_sigterm(number: int, frame: FrameType | None) -> None:
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        # Nobody heeds that one yet. Whatever is open is closed.
        _stop(number, frame)
    signal.raise_signal(signal.SIGTERM)


def _stop(number: int, frame: FrameType | None) -> None:
    # SystemExit, because `except Exception` and event loops, ours and those of libraries, let it through.
    name = signal.Signals(number).name
    sys.exit(f"stopped by {name}: what was finished is kept, run the same command again to go on")


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
