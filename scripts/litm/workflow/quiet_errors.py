"""Errors that end Snakemake (a lock, a mistake in the config), where `--quiet all` would leave them out."""

import logging
import sys

#: Where Snakemake logs all that it says, and what it calls a message of an exception that ends it.
LOGGER, ERROR = "snakemake.logging", "error"


class _ErrorLines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "event", None) == ERROR:
            print(record.getMessage(), file=sys.stderr, flush=True)


def say_errors() -> None:
    """From now on this process prints on standard error what it ends of."""
    logger = logging.getLogger(LOGGER)
    if not any(isinstance(handler, _ErrorLines) for handler in logger.handlers):
        logger.addHandler(_ErrorLines())
