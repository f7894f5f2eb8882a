"""Our lines before the first job of a run, after the last line of Snakemake, and in place of jobs after a dry run.

Snakemake emits events to its logger, whose names are those of its plugins for loggers.
"""

import logging
import sys
from collections.abc import Callable, Iterable
from typing import Any

from litm.base.cli import ending_in_a_line, signals_handled

LOGGER = "snakemake.logging"
#: Lines for the user.
Lines = Callable[[], Iterable[str]]


class Listener(logging.Handler):
    """Says lines at the start of a run and at its end, or at the end of a dry run.

    Unlike `onstart`, `onsuccess` and `onerror`, this is not ignored in a workflow that another one imports.
    """

    def __init__(self, start: Lines, end: Lines, planned: Lines) -> None:
        super().__init__()
        self._start, self._end, self._planned = start, end, planned
        self._is_planned = self._has_begun = False

    def emit(self, record: logging.LogRecord) -> None:
        event: Any = getattr(record, "event", None)
        # Only a run says what it is provided with, before its jobs are counted.
        if event == "resources_info" and not self._has_begun:
            self._has_begun = True
            with ending_in_a_line():
                say(*self._start())
        elif event == "run_info":
            self._is_planned = True

    def close(self) -> None:
        """Snakemake closes its handlers when all else is done, and no job is left for its handlers of signals."""
        is_planned, self._is_planned = self._is_planned, False
        super().close()
        if is_planned and not self._has_begun:
            print(*self._planned(), sep="\n", flush=True)
        elif is_planned:
            with signals_handled(), ending_in_a_line():
                say(*self._end())


def listen(start: Lines, end: Lines, planned: Lines) -> bool:
    """Say these lines in this process, once; whether nobody did so before, and Snakemake is not to be wholly quiet."""
    logger = logging.getLogger(LOGGER)
    handlers = [handler for handler in logger.handlers if not isinstance(handler, Listener)]
    plain = logging.LogRecord(LOGGER, logging.INFO, "", 0, "", None, None)
    if len(handlers) < len(logger.handlers) or not any(handler.filter(plain) for handler in handlers):
        return False
    logger.addHandler(Listener(start, end, planned))
    return True


def say(*lines: str) -> None:
    """Print lines for the user."""
    if lines:
        print(*lines, sep="\n", file=sys.stderr, flush=True)
