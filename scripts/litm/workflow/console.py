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
#: A program that failed, with its whole command, and the end of all our commands.
FAILED_PROGRAM = re.compile(
    r"RuleException:\nCalledProcessError in file .*?\nCommand '(.*)' ([^'\n]*)\.(\n  File \"[^\n]*)?\s*", re.DOTALL
)
PROGRAM, LOG = re.compile(r"\S*?(scripts/\S+\.py)"), re.compile(r"tee -i '?([^')]+?)'?\)?$")
#: How a shell ends that a signal has stopped.
BY_SIGNAL = re.compile(r"died with <Signals\.SIG(INT|TERM|HUP)")
#: Snakemake's lines when it is told to stop, each with the signal and with what follows.
STOPPING = {
    "Will exit after finishing currently running jobs": (
        "SIGTERM",
        "no job is started any more, and this run ends when the running jobs have; Ctrl-C, or SIGINT to all its "
        "processes, ends those too and loses no answer",
    ),
    "Terminating processes on user request": (
        "Ctrl-C",
        "this run ends when the running jobs have, which keep their answers",
    ),
}
#: Snakemake's lines after that, which say no more.
AFTER_STOP = ("Shutting down, this might take some time.", "WorkflowError:\nAt least one job did not complete")


class Shown(Enum):
    """Which of Snakemake's lines the console has: all; those of a run, without the scheduler's; those of a dry run,
    which has a summary of its own: problems, and that nothing is left.
    """

    ALL = "all"
    RUN = "run"
    DRY_RUN = "dry run"


class Console:
    """What this process shows of Snakemake's lines; `stopped_by` is the signal that has stopped the run, "" for none.

    Unless all lines are shown, a failed program's whole command is one line, and a stop has lines of ours.
    """

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self.stopped_by = ""

    def lines(self, record: logging.LogRecord, text: str) -> str:
        """The lines to show for a record whose lines in Snakemake's words are `text`; "" for none."""
        stop = next((words for theirs, words in STOPPING.items() if text.startswith(theirs)), None)
        was_stopped, self.stopped_by = self.stopped_by, stop[0] if stop else self.stopped_by
        if self._shown is Shown.ALL:
            return without_place(text)
        if stop:
            return "" if was_stopped == stop[0] else f"stopping ({stop[0]}): {stop[1]}"
        if self._is_left_out(record, text):
            return ""
        return without_command(without_place(text))

    def last_line(self) -> str:
        """The line at the end of a run that was stopped, "" for another one."""
        if not self.stopped_by:
            return ""
        return (
            f"stopped by {self.stopped_by}: finished jobs and all answers so far are kept, and the same command "
            "continues from there"
        )

    def _is_left_out(self, record: logging.LogRecord, text: str) -> bool:
        if self._shown is Shown.DRY_RUN:
            return record.levelno < logging.WARNING and not text.startswith(NOTHING)
        if getattr(record, "event", None) in SCHEDULING or text.startswith(SAME_IN_EVERY_RUN):
            return True
        failed = FAILED_PROGRAM.fullmatch(text)
        if failed and (self.stopped_by or BY_SIGNAL.search(failed[2])):
            # Its own last line says why it ended.
            return True
        return bool(self.stopped_by) and text.startswith(AFTER_STOP)


class _OwnFormat(logging.Formatter):
    """Snakemake's format, as a console shows it; an empty text is not printed.

    A formatter and not a filter, which would change the lines of the log file too.
    """

    def __init__(self, console: Console, theirs: logging.Formatter | None) -> None:
        super().__init__()
        self._console, self._theirs = console, theirs or logging.Formatter()

    def format(self, record: logging.LogRecord) -> str:
        return self._console.lines(record, self._theirs.format(record) or "")


class _ErrorLines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "event", None) == ERROR:
            print(without_place(record.getMessage()), file=sys.stderr, flush=True)


def without_place(text: str) -> str:
    """The message of a user's mistake without the place in the rules that found it; any other text as it is."""
    found = OF_THE_USER.fullmatch(text)
    return f"error: {found[1]}" if found else text


def without_command(text: str) -> str:
    """A program's failure with name, exit status and log instead of its command; any other text as it is."""
    failed = FAILED_PROGRAM.fullmatch(text)
    program, log = (PROGRAM.search(failed[1]), LOG.search(failed[1])) if failed else (None, None)
    if not (failed and program and log):
        return text
    return f"failed: {program[1]} {failed[2]}; its messages are in {log[1]}"


def shown_lines(short: bool, dry_run: bool) -> Shown:
    """Which of Snakemake's lines the console has.

    short: whether Snakemake is to be quiet about rules (`--quiet rules`, as in profiles/default) and not `--verbose`.
    """
    if not short:
        return Shown.ALL
    return Shown.DRY_RUN if dry_run else Shown.RUN


def show_own_lines(shown: Shown) -> Console:
    """From now on the console of this process has a user's mistakes as one line, and those of Snakemake's lines."""
    console = Console(shown)
    for handler in logging.getLogger(LOGGER).handlers:
        if handler.name == CONSOLE and not isinstance(handler.formatter, _OwnFormat):
            handler.setFormatter(_OwnFormat(console, handler.formatter))
    return console


def say_errors() -> None:
    """From now on this process prints its fatal error (a lock, a mistake) on standard error, despite `--quiet all`."""
    logger = logging.getLogger(LOGGER)
    if not any(isinstance(handler, _ErrorLines) for handler in logger.handlers):
        logger.addHandler(_ErrorLines())
