"""Snakemake's lines on the console: a user's mistake, and lines of the scheduler."""

import logging

import pytest

from litm.workflow.console import CONSOLE, LOGGER, Shown, show_own_lines, shown_lines, without_command, without_place

MISTAKE = (
    "WorkflowError in file \"/any/rules/common.smk\", line 81:\nmodels: unknown name 'x'\n"
    '  File "/any/rules/common.smk", line 81, in <module>'
)

#: As Snakemake prints the end of a program that failed.
FAILED = (
    'RuleException:\nCalledProcessError in file "/any/rules/inference.smk", line 76:\n'
    "Command 'set -euo pipefail;  OMP_WAIT_POLICY=PASSIVE python ../scripts/inference/generate.py --model m "
    "2>&1 | (trap '' TERM HUP; tee -i results/logs/generate/m/kv.log)' returned non-zero exit status 1."
)
SCORE = (
    'RuleException:\nCalledProcessError in file "/any/rules/scoring.smk", line 7:\n'
    "Command 'set -euo pipefail;  python /a/scripts/scoring/score.py 2>&1 | tee -i results/logs/score.log' died with "
    "<Signals.SIGKILL: 9>."
)


def test_a_mistake_of_the_user_is_shown_without_the_line_of_the_rules_that_found_it():
    assert without_place(MISTAKE) == "error: models: unknown name 'x'"


@pytest.mark.parametrize(
    "text",
    [
        'WorkflowError in file "/any/rules/own.smk", line 3:\nof another workflow',
        'NameError in file "/any/rules/common.smk", line 3:\na defect',
        "WorkflowError:\nAt least one job did not complete successfully.",
        "IncompleteFilesException: a.csv",
    ],
)
def test_all_other_errors_are_shown_as_they_are(text):
    assert without_place(text) == text


@pytest.fixture
def shown():
    """The lines that a handler for the console of Snakemake's logger shows."""
    texts = []

    class Console(logging.Handler):
        def emit(self, record):
            texts.extend(filter(None, [self.format(record)]))

    logger, handler = logging.getLogger(LOGGER), Console()
    handler.name, level = CONSOLE, logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield texts
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.mark.parametrize(
    ("of_snakemake", "lines"),
    [
        (Shown.ALL, ["Building DAG of jobs...", "Execute 1 jobs...", "Finished jobid: 4", "1 of 4 steps"]),
        (Shown.RUN, ["1 of 4 steps"]),
        (Shown.DRY_RUN, []),
    ],
)
def test_a_run_leaves_out_the_lines_of_the_scheduler_and_a_dry_run_all_but_problems(shown, of_snakemake, lines):
    show_own_lines(of_snakemake)
    show_own_lines(of_snakemake)
    logger = logging.getLogger(LOGGER)
    logger.info("Building DAG of jobs...")
    logger.info("Execute 1 jobs...", extra={"event": "job_started"})
    logger.info("Finished jobid: 4", extra={"event": "job_finished"})
    logger.info("1 of 4 steps", extra={"event": "progress"})
    assert shown == lines
    logger.info("Nothing to be done (all requested files are present and up to date).")
    assert shown[-1].startswith("Nothing to be done")
    logger.error(MISTAKE)
    assert shown[-1] == "error: models: unknown name 'x'"


def test_snakemakes_lines_are_all_shown_unless_it_is_to_be_short():
    assert shown_lines(short=False, dry_run=True) is shown_lines(short=False, dry_run=False) is Shown.ALL
    assert shown_lines(short=True, dry_run=True) is Shown.DRY_RUN
    assert shown_lines(short=True, dry_run=False) is Shown.RUN


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            FAILED,
            "failed: scripts/inference/generate.py returned non-zero exit status 1; its messages are in "
            "results/logs/generate/m/kv.log",
        ),
        (
            SCORE,
            "failed: scripts/scoring/score.py died with <Signals.SIGKILL: 9>; "
            "its messages are in results/logs/score.log",
        ),
        ("RuleException:\nof another kind", "RuleException:\nof another kind"),
    ],
)
def test_a_program_that_failed_is_named_with_its_log_instead_of_its_command(text, line):
    assert without_command(text) == line


TERMINATING = "Terminating processes on user request, this might take some time."
FINISHING = "Will exit after finishing currently running jobs (scheduler)."


@pytest.mark.parametrize(
    ("said", "signals"),
    [
        ([TERMINATING], ["Ctrl-C"]),
        ([FINISHING, FINISHING], ["SIGTERM"]),
        ([FINISHING, TERMINATING], ["SIGTERM", "Ctrl-C"]),
    ],
)
def test_a_stopped_run_prints_one_line_for_each_signal_and_how_to_continue_at_the_end(shown, said, signals):
    console = show_own_lines(Shown.RUN)
    logger = logging.getLogger(LOGGER)
    assert console.last_line() == ""
    for line in said:
        logger.info(line)
    logger.error(FAILED)
    logger.info("Shutting down, this might take some time.")
    logger.error("WorkflowError:\nAt least one job did not complete successfully.")
    assert [line.partition(":")[0] for line in shown] == [f"stopping ({signal})" for signal in signals]
    assert console.last_line().startswith(f"stopped by {signals[-1]}: finished jobs and all answers so far are kept")


def test_the_end_of_a_program_by_a_signal_is_no_failure_even_before_snakemake_has_heard_it(shown):
    show_own_lines(Shown.RUN)
    logging.getLogger(LOGGER).error(
        FAILED.replace("returned non-zero exit status 1", "died with <Signals.SIGTERM: 15>")
    )
    assert shown == []


def test_the_log_file_keeps_the_lines_that_the_console_shortens(shown):
    show_own_lines(Shown.RUN)
    kept = []

    class File(logging.Handler):
        def emit(self, record):
            kept.append(record.getMessage())

    logger, file = logging.getLogger(LOGGER), File()
    logger.addHandler(file)
    logger.error(MISTAKE)
    logger.removeHandler(file)
    assert kept == [MISTAKE]
