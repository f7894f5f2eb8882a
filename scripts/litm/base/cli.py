"""Command-line programs: errors and signals become one line, and no half-written output remains."""

import argparse
import atexit
import errno
import gc
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from litm.base.messages import UserError, missing_package, shortened, without_passwords

#: Ctrl-C; the signal of SLURM (time limit, scancel), containers and `kill`; the loss of the terminal.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def stop_on_signals() -> None:
    """From now on SIGTERM and SIGHUP end this program as an error does: files are closed, locks released, one line is
    printed.
    """
    signal.signal(signal.SIGTERM, _stop)
    if _is_heard(signal.SIGHUP):
        signal.signal(signal.SIGHUP, _stop)


def hangup_is_sigterm() -> None:
    """From now on SIGHUP in this process runs the current handler of SIGTERM, which Snakemake sets.

    Without this Snakemake dies of SIGHUP and leaves its lock.
    """
    if threading.current_thread() is threading.main_thread() and _is_heard(signal.SIGHUP):
        signal.signal(signal.SIGHUP, _as_sigterm)


def _is_heard(number: int) -> bool:
    # Programs started with `nohup` ignore SIGHUP and keep ignoring it.
    return signal.getsignal(number) is not signal.SIG_IGN


def _as_sigterm(number: int, frame: FrameType | None) -> None:
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        # SIGTERM has no handler yet: end this program in the usual way.
        _stop(number, frame)
    signal.raise_signal(signal.SIGTERM)


def _stop(number: int, frame: FrameType | None) -> None:
    # SystemExit, because `except Exception` and event loops (ours and libraries') let it pass.
    name = signal.Signals(number).name
    sys.exit(f"stopped by {name}: what was finished is kept, run the same command again to continue")


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Delay signals that end the program until the block is done.

    Handlers record the signals. Blocking them would not help: another thread would get them, and Python would still run
    the handler in the main thread.
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


def run(main: Callable[[], None]) -> NoReturn:
    """Run a program's `main` and exit: 0, or 1 with one line on standard error for a user's mistake.

    Ctrl-C, SIGTERM and SIGHUP also end with 1 and one line. Any error that is not a `UserError` or an `OSError` is a
    defect of this workflow and keeps its traceback.
    """
    stop_on_signals()
    # At its end Python would search all objects of pandas for garbage, which is a fifth of a short program's time.
    atexit.register(gc.freeze)
    try:
        with ending_in_a_line():
            main()
    except KeyboardInterrupt:
        sys.exit("interrupted: what was finished is kept, run the same command again to continue")
    sys.exit(0)


@contextmanager
def ending_in_a_line(where: str = "") -> Iterator[None]:
    """Exit with 1 and one line on standard error for a user's mistake, an error of the system, or a missing package.

    where: what an error of the system is about, before its words.
    """
    try:
        yield
    except UserError as error:
        sys.exit(f"error: {without_passwords(str(error))}")
    except OSError as error:
        sys.exit(f"error: {where}{without_passwords(describe_os_error(error))}")
    except ModuleNotFoundError as error:
        if line := missing_package(error):
            sys.exit(f"error: {line}")
        raise


def describe_os_error(error: OSError) -> str:
    """One line for an error of the operating system, with the remedy for a full disk."""
    where = f" ({shortened(error.filename)})" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left on the disk{where}: free some and run the same command again; nothing finished is lost"
    return f"{error.strerror or error}{where}"


def json_object(text: str) -> dict:
    """An argparse type: a JSON object given on the command line."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("not a JSON object")
    return value
