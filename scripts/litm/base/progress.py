"""Long work: its batches, and its progress, readable on a terminal and in a log file."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from threading import Event, Thread
from time import monotonic
from typing import Any, TextIO, TypeVar

from litm.base.messages import note

T = TypeVar("T")


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of `size` items in their order, the last one shorter."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


#: Seconds from one line to the next, and from the start of a step to its first line.
SECONDS_BETWEEN_LINES, SECONDS_TO_FIRST_LINE = 5.0, 1.0


class _Lines:
    """Turns the carriage returns of a progress bar into lines, for logs and parallel jobs, without those that differ
    from the last one by the rate alone.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._last = ("", "")

    def write(self, text: str) -> None:
        line = text.strip("\r\n")
        # `NAME:  50%|##  | 20/40 [00:20<00:17, 1.15 prompts/s, STATE]`
        steps, _, rest = line.rpartition("|")[2].partition(",")
        news = (steps, rest.partition(",")[2])
        if line.strip() and news != self._last:
            self._last = news
            self.stream.write(line + "\n")

    def flush(self) -> None:
        self.stream.flush()


def progress_bar(total: int | None, what: str, unit: str) -> Any:
    """A bar of tqdm's on standard error with rate and, if the total is known, remaining time; off a terminal, a line
    every few seconds.
    """
    # The rules read this module with Snakemake alone.
    from tqdm import tqdm

    if sys.stderr.isatty():
        return tqdm(total=total, desc=what, unit=f" {unit}", dynamic_ncols=True)
    return tqdm(
        total=total,
        desc=what,
        unit=f" {unit}",
        ncols=120,
        file=_Lines(sys.stderr),
        mininterval=SECONDS_BETWEEN_LINES,
        maxinterval=SECONDS_BETWEEN_LINES,
        # No line before there is something to say.
        delay=1e-9,
    )


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Within the context, say `what` is being done: once it has taken a second, and then every few seconds."""
    done = Event()

    def say() -> None:
        if done.wait(SECONDS_TO_FIRST_LINE):
            return
        note(what)
        began = monotonic()
        while not done.wait(SECONDS_BETWEEN_LINES):
            note(f"{what}: {monotonic() - began + SECONDS_TO_FIRST_LINE:.0f} s")

    thread = Thread(target=say, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def showing(bar: Any, state: Callable[[], str]) -> Iterator[None]:
    """Within the context, show the result of `state` after the bar: now, and every few seconds within a long step."""
    done = Event()
    bar.set_postfix_str(state())

    def show() -> None:
        while not done.wait(SECONDS_BETWEEN_LINES):
            bar.set_postfix_str(state())

    thread = Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        # For the last line of the bar.
        bar.set_postfix_str(state(), refresh=False)
