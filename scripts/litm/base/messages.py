"""Messages to the user."""

import sys

from litm.base.addresses import without_passwords


def note(message: str) -> None:
    """Print a line on standard error, which the rules also keep in the job's log; passwords in addresses are masked."""
    print(without_passwords(message), file=sys.stderr, flush=True)
