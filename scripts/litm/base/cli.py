"""Command-line programs: errors become one line, and no half-written output remains."""

import argparse
import atexit
import errno
import gc
import json
import sys
from collections.abc import Callable
from typing import NoReturn

from litm.base.addresses import without_passwords
from litm.base.errors import UserError
from litm.base.formatting import shortened
from litm.base.signals import stop_on_signals


def run(main: Callable[[], None]) -> NoReturn:
    """Run a program's `main` and exit: 0, or 1 with one line on standard error for a user's mistake.

    Ctrl-C, SIGTERM and SIGHUP also end with 1 and one line. Any error that is not a `UserError` or an `OSError` is a
    defect of this workflow and keeps its traceback.
    """
    stop_on_signals()
    # At its end Python would search all objects of pandas for garbage, which is a fifth of a short program's time.
    atexit.register(gc.freeze)
    try:
        main()
    except UserError as error:
        sys.exit(f"error: {without_passwords(str(error))}")
    except OSError as error:
        sys.exit(f"error: {describe_os_error(error)}")
    except KeyboardInterrupt:
        sys.exit("interrupted: what was finished is kept, run the same command again to continue")
    sys.exit(0)


def describe_os_error(error: OSError) -> str:
    """One line for an error of the operating system, with the remedy for a full disk."""
    where = f" ({shortened(error.filename)})" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left on the disk{where}: free some and run the same command again; nothing finished is lost"
    return f"{error.strerror or error}{where}"


def json_object(text: str) -> dict:
    """An argparse type: a JSON object given on the command line."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("not a JSON object")
    return value
