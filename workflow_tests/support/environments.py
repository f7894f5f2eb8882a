"""The wheel of this checkout; distributions and what they need, and environments with some of them alone."""

import subprocess
import sys
import venv
from collections.abc import Iterable
from importlib.metadata import distribution, requires
from pathlib import Path

from conftest import ROOT
from packaging.requirements import Requirement

from litm.checks.doctor import normalized


def wheel_in(folder: Path) -> Path:
    """Build the wheel of this checkout in a folder; returns its path."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def with_dependencies(names: Iterable[str]) -> set[str]:
    """Packages, and all that they depend on without extras."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        needed = [Requirement(text) for text in requires(name) or ()]
        waiting += [normalized(one.name) for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})]
    return found


def snakemake_alone(folder: Path) -> Path:
    """Make a virtual environment that has Snakemake and what it requires; returns its Python.

    It is what `pip install snakemake` makes, without a network.
    """
    return environment_of(folder, ["snakemake"])


def environment_of(folder: Path, names: Iterable[str]) -> Path:
    """Make a virtual environment that has packages and what they require, as links to what is installed here; returns
    its Python.
    """
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in with_dependencies(names):
        installed = distribution(name)
        for top in {file.parts[0] for file in installed.files or ()} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(str(installed.locate_file(top)))
    return folder / "bin" / "python"
