"""Snakemake's lines on the console: a user's mistake, and lines of the scheduler."""

import logging

import pytest

from litm.workflow.console import CONSOLE, LOGGER, Shown, show_own_lines, shown_lines, without_place

MISTAKE = (
    "WorkflowError in file \"/any/rules/common.smk\", line 81:\nmodels: unknown name 'x'\n"
    '  File "/any/rules/common.smk", line 81, in <module>'
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
            texts.append(record.getMessage())

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
