"""Environment of jobs."""

import os
from collections.abc import Mapping
from pathlib import Path


def job_environment(python: str, scripts: str, environment: Mapping[str, str]) -> dict[str, str]:
    """PATH and PYTHONPATH for jobs.

    Rules call `python`: the interpreter that runs Snakemake (`python`), unless an environment is activated on top.
    Programs import the library from the folder `scripts`, wherever they are and whatever runs the job.
    """
    first = {"PATH": str(Path(python).parent), "PYTHONPATH": scripts}
    return {name: os.pathsep.join(filter(None, [folder, environment.get(name)])) for name, folder in first.items()}
