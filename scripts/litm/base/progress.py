"""Progress of long work, readable on a terminal and in a log file."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Event, Thread
from time import monotonic
from typing import Any, TextIO

from litm.base.messages import note

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
    # The delay: no line before there is something to say.
    every, lines = SECONDS_BETWEEN_LINES, _Lines(sys.stderr)
    return tqdm(
        None, what, total, ncols=120, file=lines, mininterval=every, maxinterval=every, unit=f" {unit}", delay=1e-9
    )


@contextmanager
def showing(bar: Any, state: Callable[[], str]) -> Iterator[None]:
    """Within the context, show the result of `state` after the bar: now, and every few seconds within a long step."""
    bar.set_postfix_str(state())
    try:
        with _repeated(lambda seconds: bar.set_postfix_str(state()), SECONDS_BETWEEN_LINES):
            yield
    finally:
        # For the last line of the bar.
        bar.set_postfix_str(state(), refresh=False)


def waiting(what: str) -> AbstractContextManager[None]:
    """Within the context, say `what` is being done: once it has taken a second, and then every few seconds."""
    return _repeated(lambda seconds: note(f"{what}: {seconds:.0f} s"), SECONDS_TO_FIRST_LINE)


@contextmanager
def _repeated(say: Callable[[float], object], pause: float) -> Iterator[None]:
    """Within the context, call `say` with the seconds since its begin: after the pause, and then every few seconds."""
    done, began = Event(), monotonic()

    def repeat() -> None:
        if not done.wait(pause):
            say(monotonic() - began)
            while not done.wait(SECONDS_BETWEEN_LINES):
                say(monotonic() - began)

    thread = Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
