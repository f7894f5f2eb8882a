"""Messages to the user."""

import sys


def note(message: str) -> None:
    """Print a line on standard error, which the rules also keep in the job's log."""
    print(message, file=sys.stderr, flush=True)
