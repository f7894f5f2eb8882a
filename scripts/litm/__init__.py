"""Library of the workflow's programs: pure functions and frozen dataclasses, no Snakemake.

`litm.read("results")` gives the results of a study in a notebook, `litm.curves(frame)` the curves of recorded scores.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

if sys.version_info < (3, 11):  # noqa: UP036
    # In one line, before a module says it with a traceback.
    sys.exit("error: Python 3.11 or newer is needed, and this is " + sys.version.partition(" ")[0])

from litm.base.messages import say_missing_package

# Before any other import of a program, as a missing package is found while they are imported.
sys.excepthook = say_missing_package


def read(folder: str | Path = "results") -> Any:
    """The results of a study, a `litm.notebook.Results`; `UserError` if the folder has none."""
    # By its name: programs are not made of it, so its edits re-run none.
    return import_module("litm.notebook").Results(Path(folder))


def curves(table: Any, **settings: Any) -> Any:
    """The curves of a table of verdicts (a data frame or a file), a `litm.recorded_scores.Curves`; settings and errors
    as in `litm.recorded_scores.curves_of`.
    """
    return import_module("litm.recorded_scores").curves_of(table, **settings)
