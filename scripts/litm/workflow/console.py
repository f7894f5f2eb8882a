"""What the console shows of Snakemake's own lines, and when it shows ours: at a start, at the end, at a stop."""

import logging
import re
import sys
from collections.abc import Callable
from typing import Any

from litm.base.cli import ending_in_a_line, signals_handled
from litm.workflow.dry_run import Jobs

#: Snakemake's logger, its handler for the console, and its events: of a fatal exception; of a job, which a dry run also
#: emits; of a run's cores, before its first job; of the jobs that are done, with their number.
LOGGER, CONSOLE = "snakemake.logging", "DefaultStreamHandler"
ERROR, JOB, RESOURCES, PROGRESS = "error", "job_info", "resources_info", "progress"
#: Events of the scheduler, and beginnings of lines that are the same in every run. `N of M steps` and the programs' own
#: lines tell what is done.
SCHEDULING = ("job_started", "job_finished")
SAME_IN_EVERY_RUN = (
    "Select jobs to execute...",
    "Assuming unrestricted shared filesystem usage.",
    "Building DAG of jobs...",
    "Using shell: ",
    "Rules claiming more threads will be scaled down.",
    "Conda environments: ignored",
    "Provided resources: ",
)
#: Beginnings of Snakemake's lines if no job is left, at the end of a dry run, and at the end of any other.
NOTHING, LAST, ENDED = "Nothing to be done", "This was a dry-run", "Elapsed time: "
#: A program that failed, with its whole command, and the end of all our commands.
FAILED_PROGRAM = re.compile(
    r"RuleException:\nCalledProcessError in file .*?\nCommand '(.*)' ([^'\n]*)\.(\n  File \"[^\n]*)?\s*", re.DOTALL
)
PROGRAM, LOG = re.compile(r"\$LITM_SCRIPTS(/\S+\.py)"), re.compile(r"tee -i '?([^')]+?)'?\)?$")
#: How a shell ends that a signal has stopped.
BY_SIGNAL = re.compile(r"died with <Signals\.SIG(INT|TERM|HUP)")
#: Snakemake's lines when it is told to stop, each with the signal and with what follows.
STOPPING = {
    "Will exit after finishing currently running jobs": (
        "SIGTERM",
        "no further job starts, and this run ends with the running jobs; Ctrl-C, or SIGINT to all its "
        "processes, ends those too and loses no answer",
    ),
    "Terminating processes on user request": (
        "Ctrl-C",
        "this run ends with the running jobs, which keep their answers",
    ),
}
#: Snakemake's lines after that, which say no more.
AFTER_STOP = ("Shutting down, this might take some time.", "WorkflowError:\nAt least one job did not complete")


class Console(logging.Formatter):
    """What this process shows of Snakemake's lines from now on; an empty text is not printed.

    is_short: without those of the scheduler, with a failed program's whole command as one line, and with lines of ours
    at a stop; of a dry run, which has a summary of its own, problems alone, and that nothing is left. A formatter and
    not a filter, which would change the lines of the log file too.
    """

    def __init__(self, is_short: bool, is_dry: bool) -> None:
        super().__init__()
        self._is_short, self._is_dry = is_short, is_dry
        #: The signal that has stopped the run, "" for none.
        self._stopped_by = ""
        self._theirs = logging.Formatter()
        for handler in logging.getLogger(LOGGER).handlers:
            if handler.name == CONSOLE and not isinstance(handler.formatter, Console):
                self._theirs = handler.formatter or self._theirs
                handler.setFormatter(self)
                if is_short and is_dry:
                    # Their handler writes an empty line before jobs, also where no line on them follows.
                    handler.addFilter(lambda record: getattr(record, "event", None) != JOB)

    def format(self, record: logging.LogRecord) -> str:
        """The lines to show for a record; "" for none."""
        text = self._theirs.format(record) or ""
        stop = next((words for theirs, words in STOPPING.items() if text.startswith(theirs)), None)
        was_stopped, self._stopped_by = self._stopped_by, stop[0] if stop else self._stopped_by
        if not self._is_short:
            return text
        if stop:
            return "" if was_stopped == stop[0] else f"stopping ({stop[0]}): {stop[1]}"
        return "" if self._is_left_out(record, text) else without_command(text)

    def last_lines(self) -> list[str]:
        """The line at the end of a run that was stopped."""
        kept = "finished jobs and all answers so far are kept, and the same command continues from there"
        return [f"stopped by {self._stopped_by}: {kept}"] if self._stopped_by else []

    def _is_left_out(self, record: logging.LogRecord, text: str) -> bool:
        if self._is_dry:
            return record.levelno < logging.WARNING and not text.startswith(NOTHING)
        if getattr(record, "event", None) in SCHEDULING or text.startswith(SAME_IN_EVERY_RUN):
            return True
        failed = FAILED_PROGRAM.fullmatch(text)
        if failed and (self._stopped_by or BY_SIGNAL.search(failed[2])):
            # Its own last line says why it ended.
            return True
        return bool(self._stopped_by) and text.startswith(AFTER_STOP)


def without_command(text: str) -> str:
    """A program's failure with name, exit status and log instead of its command; any other text as it is."""
    failed = FAILED_PROGRAM.fullmatch(text)
    if failed and (program := PROGRAM.search(failed[1])) and (log := LOG.search(failed[1])):
        return f"failed: scripts{program[1]} {failed[2]}; its messages are in {log[1]}"
    return text


class _Listener(logging.Handler):
    def __init__(self, hear: Callable[[str | None, Any], None]) -> None:
        super().__init__()
        self._hear = hear

    def emit(self, record: logging.LogRecord) -> None:
        with ending_in_a_line():
            self._hear(getattr(record, "event", None), record)


def listen(hear: Callable[[str | None, Any], None]) -> None:
    """From now on this process calls a function with each of Snakemake's events, None for a plain line, and its record.

    Unlike `onstart`, `onsuccess` and `onerror`, this is not ignored in a workflow that another one imports.
    """
    logging.getLogger(LOGGER).addHandler(_Listener(hear))


def listens() -> bool:
    """Whether this process calls any function with Snakemake's events."""
    return any(isinstance(handler, _Listener) for handler in logging.getLogger(LOGGER).handlers)


def say_errors(event: str | None, record: Any) -> None:
    """Print Snakemake's fatal error, such as a lock, which `--quiet all` hides."""
    if event == ERROR:
        print(record.getMessage(), file=sys.stderr, flush=True)


def at_start_and_end(start: Callable[[], None], end: Callable[[], None], fail: Callable[[], None]) -> None:
    """Call `start` before the first job of this process's run, and after its last line `end` if all jobs are done,
    otherwise `fail`.

    Not with the last job: Snakemake then holds a lock for which its handlers of signals wait for ever.
    """
    has_begun = is_done = False

    def hear(event: str | None, record: Any) -> None:
        nonlocal has_begun, is_done
        if event == RESOURCES and not has_begun:
            has_begun = True
            start()
        elif event == PROGRESS:
            is_done = record.done == record.total
        elif record.getMessage().startswith(ENDED):
            # Snakemake's own handlers only end jobs, and no job is left.
            with signals_handled():
                (end if is_done else fail)()

    listen(hear)


def summarize(jobs: Jobs) -> None:
    """Make this process, a dry run, end with a summary of the jobs that would run."""

    def hear(event: str | None, record: Any) -> None:
        if event == JOB:
            jobs.add(record.rule_name, dict(record.wildcards or {}), str(record.reason or ""))
        elif record.getMessage().startswith(LAST):
            print(*jobs.summary(), sep="\n", flush=True)

    listen(hear)
