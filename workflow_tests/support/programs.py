"""The project's programs, called in this process, so that their imports load once; and refusals of its functions."""

import contextlib
import importlib.util
import io
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import pytest
from conftest import ROOT
from fork_server import exit_status

from litm.base.cli import ENDING, run
from litm.base.messages import UserError
from litm.workflow.rules_help import option


def program_file(name: str) -> Path:
    """The path of a program of `scripts/`, in the folder of its stage."""
    (path,) = [path for path in ROOT.glob(f"scripts/*/{name}.py") if path.parent.name != "litm"]
    return path


@cache
def load_program(name: str) -> ModuleType:
    """A program of `scripts/` as a module."""
    spec = importlib.util.spec_from_file_location(f"program_{name}", program_file(name))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run_program(name: str, *words: object, **options: object) -> subprocess.CompletedProcess:
    """The output and exit status of a program of `scripts/` with these arguments and options, as from `subprocess.run`.

    Options are written as rules write them. Tests of signals, kills and full disks start a process instead.
    """
    given = [word for key, value in options.items() for word in option(key, value)]
    return _ran(load_program(name).main, program_file(name), *words, *given)


def run_command(name: str, *words: object) -> subprocess.CompletedProcess:
    """The same of `litm NAME`, a command on finished studies."""
    return _ran(importlib.import_module(f"litm.{name}").main, f"litm {name}", *words)


def _ran(main: Callable[[], None], *words: object) -> subprocess.CompletedProcess:
    stdout, stderr, status = io.StringIO(), io.StringIO(), 0
    handlers = {number: signal.getsignal(number) for number in ENDING}
    argv = [*map(str, words)]
    with patch.object(sys, "argv", argv), contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            run(main)
        except SystemExit as end:
            status = exit_status(end)
        except Exception:
            traceback.print_exc()
            status = 1
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
    return subprocess.CompletedProcess(argv, status, stdout.getvalue(), stderr.getvalue())


def loaded_by(code: str, *words: object) -> set[str]:
    """The modules that this code has imported at its end, as a program of its own with these arguments."""
    code = f"import atexit, sys\natexit.register(lambda: print(*sys.modules))\n{code}"
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def refused(work: Callable[..., object], *arguments: object, **options: object) -> str:
    """The message with which a function refuses these arguments: one line."""
    with pytest.raises(UserError) as caught:
        work(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)
