"""Snakemake's lines on the console: without those that say nothing to a user. Its log file keeps them all."""

import logging
import re
import sys

#: Snakemake's logger, its handler for the console, and its event of a fatal exception.
LOGGER, CONSOLE, ERROR = "snakemake.logging", "DefaultStreamHandler", "error"
#: Events and lines of the scheduler. `N of M steps` and the programs' own lines tell what is done.
SCHEDULING = ("job_started", "job_finished")
SELECTING = "Select jobs to execute..."
#: A mistake of the user's, raised while the rules are read: Snakemake puts lines of ours around the message.
OF_THE_USER = re.compile(
    r'WorkflowError in file "[^"\n]*common\.smk", line \d+:\n(.*?)(\n  File "[^\n]*)?\s*', re.DOTALL
)


class _OwnLines(logging.Filter):
    """Drops the scheduler's lines, if `scheduling`, and shortens a user's mistake to its message."""

    def __init__(self, scheduling: bool) -> None:
        super().__init__()
        self._scheduling = scheduling

    def filter(self, record: logging.LogRecord) -> bool:
        event, text = getattr(record, "event", None), record.getMessage()
        if self._scheduling and (event in SCHEDULING or text == SELECTING):
            return False
        record.msg, record.args = without_place(text), ()
        return True


class _ErrorLines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "event", None) == ERROR:
            print(without_place(record.getMessage()), file=sys.stderr, flush=True)


def without_place(text: str) -> str:
    """The message of a user's mistake without the place in the rules that found it; any other text as it is."""
    found = OF_THE_USER.fullmatch(text)
    return f"error: {found[1]}" if found else text


def show_own_lines(without_scheduling: bool) -> None:
    """From now on the console of this process has a user's mistakes as one line, and, if `without_scheduling`, no lines
    of the scheduler.
    """
    for handler in logging.getLogger(LOGGER).handlers:
        if handler.name == CONSOLE and not any(isinstance(one, _OwnLines) for one in handler.filters):
            handler.addFilter(_OwnLines(without_scheduling))


def say_errors() -> None:
    """From now on this process prints its fatal error (a lock, a mistake) on standard error, despite `--quiet all`."""
    logger = logging.getLogger(LOGGER)
    if not any(isinstance(handler, _ErrorLines) for handler in logger.handlers):
        logger.addHandler(_ErrorLines())
