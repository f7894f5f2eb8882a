"""Snakemake's lines on the console: without those that say nothing to a user. Its log file keeps them all."""

import logging
import re
import sys
from enum import Enum

#: Snakemake's logger, its handler for the console, and its event of a fatal exception.
LOGGER, CONSOLE, ERROR = "snakemake.logging", "DefaultStreamHandler", "error"
#: Events and lines of the scheduler. `N of M steps` and the programs' own lines tell what is done.
SCHEDULING = ("job_started", "job_finished")
#: Beginnings of lines that are the same in every run.
SAME_IN_EVERY_RUN = (
    "Select jobs to execute...",
    "Assuming unrestricted shared filesystem usage.",
    "Building DAG of jobs...",
    "Using shell: ",
    "Rules claiming more threads will be scaled down.",
    "Conda environments: ignored",
)
#: Snakemake's line, of a run and of a dry run, if no job is left.
NOTHING = "Nothing to be done"
#: A mistake of the user's, raised while the rules are read: Snakemake puts lines of ours around the message.
OF_THE_USER = re.compile(
    r'WorkflowError in file "[^"\n]*common\.smk", line \d+:\n(.*?)(\n  File "[^\n]*)?\s*', re.DOTALL
)


class Shown(Enum):
    """Which of Snakemake's lines the console has: all; those of a run, without the scheduler's; those of a dry run,
    which has a summary of its own: problems, and that nothing is left.
    """

    ALL = "all"
    RUN = "run"
    DRY_RUN = "dry run"


class _OwnLines(logging.Filter):
    """Passes the lines that are shown, and shortens a user's mistake to its message."""

    def __init__(self, shown: Shown) -> None:
        super().__init__()
        self._shown = shown

    def filter(self, record: logging.LogRecord) -> bool:
        event, text = getattr(record, "event", None), record.getMessage()
        if self._shown is Shown.RUN and (event in SCHEDULING or text.startswith(SAME_IN_EVERY_RUN)):
            return False
        if self._shown is Shown.DRY_RUN and record.levelno < logging.WARNING and not text.startswith(NOTHING):
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


def shown_lines(short: bool, dry_run: bool) -> Shown:
    """Which of Snakemake's lines the console has.

    short: whether Snakemake is to be quiet about rules (`--quiet rules`, as in profiles/default) and not `--verbose`.
    """
    if not short:
        return Shown.ALL
    return Shown.DRY_RUN if dry_run else Shown.RUN


def show_own_lines(shown: Shown) -> None:
    """From now on the console of this process has a user's mistakes as one line, and those of Snakemake's lines."""
    for handler in logging.getLogger(LOGGER).handlers:
        if handler.name == CONSOLE and not any(isinstance(one, _OwnLines) for one in handler.filters):
            handler.addFilter(_OwnLines(shown))


def say_errors() -> None:
    """From now on this process prints its fatal error (a lock, a mistake) on standard error, despite `--quiet all`."""
    logger = logging.getLogger(LOGGER)
    if not any(isinstance(handler, _ErrorLines) for handler in logger.handlers):
        logger.addHandler(_ErrorLines())
