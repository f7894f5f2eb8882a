"""The project's programs, called in this process: what they import is imported once, and not for every call."""

import contextlib
import importlib
import io
import signal
import subprocess
import sys
import traceback
from unittest.mock import patch

from litm.base.cli import run


def run_program(name: str, *words: object) -> subprocess.CompletedProcess:
    """What a program of `scripts/` prints and how it ends with these arguments, as `subprocess.run` says it.

    For what signals, kills and full disks do, start a process.
    """
    main = importlib.import_module(name).main
    stdout, stderr, status = io.StringIO(), io.StringIO(), 0
    handler = signal.getsignal(signal.SIGTERM)
    argv = [f"scripts/{name}.py", *map(str, words)]
    with patch.object(sys, "argv", argv), contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            run(main)
        except SystemExit as end:
            if isinstance(end.code, str):
                print(end.code, file=stderr)
            status = 1 if isinstance(end.code, str) else int(end.code or 0)
        except Exception:
            traceback.print_exc()
            status = 1
        finally:
            signal.signal(signal.SIGTERM, handler)
    return subprocess.CompletedProcess(argv, status, stdout.getvalue(), stderr.getvalue())
