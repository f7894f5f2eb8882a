"""The environment that jobs run in."""

import os
from collections.abc import Mapping
from pathlib import Path


def job_environment(python: str, scripts: str, environment: Mapping[str, str]) -> dict[str, str]:
    """PATH and PYTHONPATH for jobs.

    Rules call `python`: the one that runs Snakemake (`python`), unless an environment of their own is activated on top.
    Programs import the library from the folder `scripts`, whichever folder they are in and whatever runs the job.
    """
    first = {"PATH": str(Path(python).parent), "PYTHONPATH": scripts}
    return {name: os.pathsep.join(filter(None, [folder, environment.get(name)])) for name, folder in first.items()}
