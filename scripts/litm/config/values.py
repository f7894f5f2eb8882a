"""Values that several kinds of entries have: paths, names on the hub, devices."""

import os
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

    Relative paths stay relative, so that a moved checkout is the same study. `UserError` if there is nothing.
    """
    for candidate in (Path(path).expanduser(), root / path):
        if candidate.exists():
            return str(candidate) if Path(path).is_absolute() else os.path.relpath(candidate)
    raise UserError(f"{where}: {path} does not exist (looked from {Path.cwd()} and from the project's folder)")


def text_names(folder: Path) -> list[str]:
    """Names, without their ending, of the .txt files of a folder, sorted."""
    return sorted(path.stem for path in folder.glob("*.txt"))
