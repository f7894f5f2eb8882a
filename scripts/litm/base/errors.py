"""The errors that are shown to a user as a single line."""

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

SCRIPTS = Path(__file__).resolve().parents[2]


class UserError(Exception):
    """An error that the user can fix: the message names the file, line or id, what is wrong, and what to do."""


def missing_package(error: ImportError) -> str | None:
    """One line with the command that installs what an import lacks; None unless a whole package is not installed."""
    package = (error.name or "").partition(".")[0]
    if package in ("", "litm", *sys.modules) or find_spec(package):
        return None
    lock = shlex.quote(str(SCRIPTS.parent / "requirements.lock"))
    return f"the Python package {package} is not installed: pip install -r {lock}, or run Snakemake with --sdm conda"


def say_missing_package(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A `sys.excepthook`: the line of `missing_package` if one of the workflow's programs ends for it."""
    main = getattr(sys.modules["__main__"], "__file__", None) or ""
    is_ours = Path(main).resolve().is_relative_to(SCRIPTS)
    line = missing_package(error) if is_ours and isinstance(error, ModuleNotFoundError) else None
    if line:
        print(f"error: {line}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)
