"""Project files as inputs of rules: programs with their imported modules, prompts, published values."""

import os
from functools import cache
from pathlib import Path

from litm.config.catalogue import CATALOGUES
from litm.workflow.code_inputs import local_modules


class ProjectFiles:
    """Paths of the project's files relative to the working directory, so that a moved checkout has the same inputs.

    root: the project's folder. Programs are found by their names anywhere in `root`/scripts outside the library.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._scripts = root / "scripts"
        self._programs = _programs(self._scripts)
        # Cached, because many jobs use the same files.
        self._code = cache(self._find_code)

    def file(self, *parts: str) -> str:
        """A file or folder of the project."""
        return os.path.relpath(self._root.joinpath(*parts))

    def unread_copies(self) -> list[str]:
        """A line for each catalogue in config/ here that differs from the project's, which alone is read.

        `snakedeploy` copies the whole folder, and an edit of such a copy would change nothing.
        """
        copies = [Path("config", f"{kind}.yaml") for kind in CATALOGUES]
        return [
            f"{copy} differs from the workflow's and is not read: put your entries under 'define' in config/config.yaml"
            for copy in copies
            if copy.is_file() and copy.read_bytes() != (self._root / copy).read_bytes()
        ]

    def code(self, program: str, *modules: str) -> list[str]:
        """A program (`generate.py`) and all modules that it imports, the program first.

        modules: those that the program imports by a computed name (`litm.inference.engines.vllm`). Raises `LookupError`
        for a missing program or module.
        """
        return list(self._code(program, *modules))

    def _find_code(self, program: str, *modules: str) -> tuple[str, ...]:
        if program not in self._programs:
            raise LookupError(f"{self._scripts} has no program {program}")
        starts = [self._programs[program], *map(self._module, modules)]
        files = dict.fromkeys(file for start in starts for file in local_modules(start, self._scripts))
        return tuple(map(os.path.relpath, files))

    def _module(self, name: str) -> Path:
        path = self._scripts.joinpath(*name.split(".")).with_suffix(".py")
        if not path.is_file():
            raise LookupError(f"{self._scripts} has no module {name}")
        return path


def _programs(scripts: Path) -> dict[str, Path]:
    """The path of each program by its name; `LookupError` for two of the same name."""
    found: dict[str, Path] = {}
    for path in sorted(scripts.rglob("*.py")):
        if path.relative_to(scripts).parts[0] == "litm":
            continue
        if path.name in found:
            raise LookupError(f"{path} and {found[path.name]} have the same name")
        found[path.name] = path
    return found
