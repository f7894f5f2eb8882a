"""Errors that end Snakemake (a lock, a mistake in the config), shown despite `--quiet all`."""

import logging
import sys

#: Snakemake's logger, and its event of a fatal exception.
LOGGER, ERROR = "snakemake.logging", "error"


class _ErrorLines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "event", None) == ERROR:
            print(record.getMessage(), file=sys.stderr, flush=True)


def say_errors() -> None:
    """From now on this process prints its fatal error on standard error."""
    logger = logging.getLogger(LOGGER)
    if not any(isinstance(handler, _ErrorLines) for handler in logger.handlers):
        logger.addHandler(_ErrorLines())
