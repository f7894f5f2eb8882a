"""Snakemake's lines on the console: a user's mistake, and lines of the scheduler."""

import logging

import pytest

from litm.workflow.console import CONSOLE, LOGGER, show_own_lines, without_place

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


@pytest.mark.parametrize(("without_scheduling", "lines"), [(True, 1), (False, 4)])
def test_lines_of_the_scheduler_are_shown_only_if_rules_are(shown, without_scheduling, lines):
    show_own_lines(without_scheduling)
    show_own_lines(without_scheduling)
    logger = logging.getLogger(LOGGER)
    logger.info("Select jobs to execute...")
    logger.info("Execute 1 jobs...", extra={"event": "job_started"})
    logger.info("Finished jobid: 4 (Rule: score)", extra={"event": "job_finished"})
    logger.info("1 of 4 steps", extra={"event": "progress"})
    assert len(shown) == lines and shown[-1] == "1 of 4 steps"
    logger.error(MISTAKE)
    assert shown[-1] == "error: models: unknown name 'x'"
