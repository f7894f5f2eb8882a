"""Values that several kinds of entries have: paths, names on the hub, devices."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from litm.base.addresses import check_has_no_password
from litm.base.errors import UserError

Hub = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)?$")]
#: For addresses: Snakemake and the programs repeat them in logs, metadata and results.
NoPassword = AfterValidator(check_has_no_password)
Device = Annotated[
    str,
    Field(pattern=r"^(auto|cpu|cuda(:[0-9]+)?)$", description="auto (a GPU if there is one), cpu, cuda, or cuda:N."),
]


def locate(path: str, root: Path, where: str) -> str:
    """A path of the config, found from the working directory or else from the project's folder.

    Relative paths stay relative, so that a moved checkout is the same study. `UserError` if there is nothing, and as
    `check_names` does.
    """
    for candidate in (Path(path).expanduser(), root / path):
        if candidate.exists():
            found = str(candidate) if Path(path).is_absolute() else os.path.relpath(candidate)
            check_names([found], where)
            return found
    raise UserError(f"{where}: {path} does not exist (looked from {Path.cwd()} and from the project's folder)")


def text_names(folder: Path) -> list[str]:
    """Names, without their ending, of the .txt files of a folder, sorted."""
    return sorted(path.stem for path in folder.glob("*.txt"))


def check_names(files: Iterable[str | Path], where: str) -> None:
    """Raise `UserError` for a file with braces in its path: Snakemake would read another one, or none, as it takes
    them for wildcards.
    """
    for file in files:
        if re.search(r"\{.*\}", str(file)):
            raise UserError(f"{where}: the path {file} has braces, which stand for wildcards here: rename it")
