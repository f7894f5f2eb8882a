"""Messages to the user."""

import sys

from litm.base.addresses import without_passwords


def note(message: str) -> None:
    """Print a line on standard error, which the rules also keep in the job's log; passwords in addresses are masked."""
    # One write: `print` makes two, and a line of a progress bar in another thread may come between them.
    sys.stderr.write(f"{without_passwords(message)}\n")
    sys.stderr.flush()
