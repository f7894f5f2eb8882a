"""Values common to several kinds of entries: paths, names on the hub, devices."""

import math
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from litm.base.download import check_has_no_password
from litm.base.messages import UserError, shortened
from litm.base.records import without_surrogates

#: A GGUF file in an installed Python package: the package's name and the path in its folder.
GgufInPackage = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*/[^/].*\.gguf$")]
Hub = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)?$")]
#: Type of addresses, which Snakemake and the programs repeat in logs, metadata and results.
NoPassword = AfterValidator(check_has_no_password)
Device = Annotated[
    str,
    Field(pattern=r"^(auto|cpu|cuda(:[0-9]+)?)$", description="auto (a GPU if there is one), cpu, cuda, or cuda:N."),
]

#: Number of values in a config, with aliases expanded: a few lines of nested YAML aliases can expand to billions.
MOST_VALUES = 1_000_000
#: Patterns that no path may contain, because Snakemake replaces them: wildcards and `snakemake.pathvars`.
UNREADABLE = {r"\{.*\}": "stands for a wildcard", "<[a-z][a-z0-9_]*>": "stands for a path variable"}


def check_plain(value: Any, where: str) -> None:
    """Raise `UserError` for a value that JSON lacks (a date, a set, `.nan`), and for more than `MOST_VALUES` values.

    Config files were checked before, with line numbers; values from another workflow or a command line are not.
    """
    try:
        if _count(value, {}) > MOST_VALUES:
            raise UserError(f"{where}: more than {MOST_VALUES:,} values: remove aliases of aliases")
        _check_plain(value, where)
    except RecursionError as error:
        raise UserError(f"{where}: a part of it contains itself, or is nested too deeply") from error


def _count(value: Any, counted: dict[int, int]) -> int:
    """The number of values in a nested value. counted: numbers for containers seen so far, by their id."""
    if not isinstance(value, Mapping | list | tuple):
        return 1
    if id(value) not in counted:
        inner = value.values() if isinstance(value, Mapping) else value
        counted[id(value)] = 1 + sum(_count(one, counted) for one in inner)
    return counted[id(value)]


def _check_plain(value: Any, where: str) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _check_plain(inner, f"{where}.{shortened(key)}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            _check_plain(inner, f"{where}[{index}]")
    elif not isinstance(value, str | int | float | bool | None):
        raise UserError(f"{where}: {value!r:.60} is of the kind '{type(value).__name__}': write it as a text")
    elif isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"{where}: {value} is not a number: write one, or leave it out")
    elif isinstance(value, str) and without_surrogates(value) != value:
        raise UserError(f"{where}: {value!r:.60} has half a character (a lone surrogate): remove it")


def locate(path: str, root: Path, where: str) -> str:
    """A path of the config, relative to the working directory or else to the project's folder.

    Relative paths stay relative, so that a moved checkout is the same study. Raises `UserError` for a missing path, and
    as `check_names` does.
    """
    shown = shortened(path)
    try:
        for candidate in (Path(path).expanduser(), root / path):
            if candidate.exists():
                found = str(candidate) if Path(path).is_absolute() else os.path.relpath(candidate)
                check_names([found], where)
                return found
    except (OSError, ValueError, RuntimeError) as error:
        # A name that no file can have, or the home of an unknown user.
        raise UserError(f"{where}: {shown}: {getattr(error, 'strerror', None) or error}") from error
    raise UserError(f"{where}: {shown} does not exist (searched from {Path.cwd()} and from the project's folder)")


def text_names(folder: Path) -> list[str]:
    """Sorted names, without ending, of the .txt files in a folder."""
    return sorted(path.stem for path in folder.glob("*.txt"))


def check_names(files: Iterable[str | Path], where: str) -> None:
    """Raise `UserError` for a path with braces or a word in angle brackets: Snakemake takes them for wildcards and path
    variables, and would read another file or none.
    """
    for file in files:
        for what, meaning in UNREADABLE.items():
            if found := re.search(what, str(file)):
                raise UserError(f"{where}: the path {file} has {found[0]}, which {meaning} here: rename it")
