"""Command-line programs: a parser from a function's signature; errors and signals become one line."""

import argparse
import atexit
import errno
import gc
import inspect
import json
import queue
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import wraps
from types import FrameType, UnionType
from typing import Annotated, Any, NoReturn, get_args, get_origin

from litm.base.messages import UserError, missing_package, shortened, without_passwords

#: Ctrl-C; the signal of SLURM (time limit, scancel), containers and `kill`; the loss of the terminal.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Characters of a path in a message: one of kept answers has an identity of 64 in it, and its name is its last part.
LONGEST_PATH = 300
#: An option in a docstring: its name, and what is said of it, up to a blank line or the next option.
OPTION = re.compile(r"^(\w+): (.+(?:\n(?!\w+: ).+)*)", re.MULTILINE)


def program(main: Callable[..., None]) -> Callable[[], None]:
    """Decorates the last function of a file: it is called with the options of the command line, see `options_of`; at
    once, and the program ends as `run` says, if the file is the program that was started.
    """

    @wraps(main)
    def called() -> None:
        main(**options_of(main))

    if main.__module__ == "__main__":
        run(called)
    return called


def options_of(main: Callable[..., None]) -> dict[str, Any]:
    """The arguments of a function from the command line: an option `--a-name` for each parameter `a_name`.

    The module's docstring says what the program does and, in lines `a_name: ...`, what its options are. Types are str,
    int, Path, dict (a JSON object), bool (a switch), a tuple of these, and one of these or None, which an option
    without a value gives too. `Annotated[TYPE, CHOICES]` names the possible values, `Annotated[TYPE, FUNCTION]` what
    reads the word. A dataclass stands for its fields, which its own docstring describes.
    """
    groups: dict = {name: kind for name, parameter in _parameters(main) if is_dataclass(kind := parameter.annotation)}
    about = inspect.cleandoc(main.__globals__["__doc__"] or "")
    parser = argparse.ArgumentParser(description=OPTION.split(about)[0])
    for source, text in ((main, about), *((group, inspect.getdoc(group) or "") for group in groups.values())):
        said = dict(OPTION.findall(text.replace("%", "%%")))
        for name, parameter in _parameters(source):
            if name not in groups:
                needed = parameter.default is parameter.empty
                default = list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
                how = _reading(parameter.annotation, needed) | ({"required": True} if needed else {"default": default})
                parser.add_argument(f"--{name.replace('_', '-')}", help=said.get(name), **how)
    values = vars(parser.parse_args())
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    for name, group in groups.items():
        options[name] = group(**{field: options.pop(field) for field, _ in _parameters(group)})
    return options


def _parameters(function: Callable) -> list[tuple[str, inspect.Parameter]]:
    return list(inspect.signature(function, eval_str=True).parameters.items())


def _reading(kind: Any, needed: bool) -> dict[str, Any]:
    """What argparse is told of an option of this type."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        how = inner[1]
        return {"type": how} if callable(how) else _reading(inner[0], needed) | {"choices": list(how)}
    if origin is UnionType:
        return _reading(inner[0], needed) | {"nargs": "?"}
    if origin in (tuple, list):
        each = _reading(inner[0], True)
        return each | ({"action": "append"} if "nargs" in each else {"nargs": "+" if needed else "*"})
    return {"action": "store_true"} if kind is bool else {"type": json_object if kind is dict else kind}


def json_object(text: str) -> dict:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("not a JSON object")
    return value


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
    # All is done. A handler that runs in Python's own end prints a traceback and changes nothing.
    for number in filter(_is_heard, ENDING):
        signal.signal(number, signal.SIG_IGN)
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
    where = f" ({shortened(error.filename, LONGEST_PATH)})" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left on the disk{where}: free some and run the same command again; nothing finished is lost"
    return f"{error.strerror or error}{where}"


def stop_on_signals() -> None:
    """From now on SIGTERM and SIGHUP end this program as an error does: files are closed, locks released, one line is
    printed.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if _is_heard(number):
            signal.signal(number, _stop)


def hangup_is_sigterm() -> None:
    """From now on SIGHUP in this process runs the current handler of SIGTERM, which Snakemake sets.

    Without this Snakemake dies of SIGHUP and leaves its lock.
    """
    if _is_heard(signal.SIGHUP):
        signal.signal(signal.SIGHUP, _as_sigterm)


def sigterm_in_thread() -> None:
    """From now on the current handler of SIGTERM, which is Snakemake's, runs in a thread of its own.

    It takes locks, and waits for ever for one that the main thread holds when the signal interrupts it.
    """
    handler = signal.getsignal(signal.SIGTERM)
    if not callable(handler):
        return
    # A queue, because a new thread takes locks too.
    signals: queue.SimpleQueue[tuple[int, FrameType | None]] = queue.SimpleQueue()

    def handle() -> None:
        while True:
            handler(*signals.get())

    threading.Thread(target=handle, daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *arrived: signals.put(arrived))


def _is_heard(number: int) -> bool:
    # Programs started with `nohup` ignore SIGHUP and keep ignoring it. Python hears signals in the main thread alone.
    return threading.current_thread() is threading.main_thread() and signal.getsignal(number) is not signal.SIG_IGN


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
def signals_handled(handler: Callable[[int, FrameType | None], object] = _stop) -> Iterator[None]:
    """Within the context, a function handles the signals that end the program; `_stop` ends it with a line."""
    before = {number: signal.signal(number, handler) for number in ENDING if _is_heard(number)}
    try:
        yield
    finally:
        for number, theirs in before.items():
            signal.signal(number, theirs)


@contextmanager
def signals_deferred(meanwhile: Callable[[], object] = bool) -> Iterator[None]:
    """Delay signals that end the program until the block is done; `meanwhile` is called when one arrives.

    Handlers record the signals. Blocking them would not help: another thread would get them, and Python would still run
    the handler in the main thread.
    """
    arrived: list[int] = []

    def note_signal(number: int, frame: FrameType | None) -> None:
        arrived.append(number)
        meanwhile()

    try:
        with signals_handled(note_signal):
            yield
    finally:
        for number in arrived:
            signal.raise_signal(number)
