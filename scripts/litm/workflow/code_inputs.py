"""Code as inputs: the project's modules that a script imports."""

import re
from functools import cache
from pathlib import Path

#: An import statement: the module and the names that are imported from it, or the modules.
_IMPORT = re.compile(
    r"(?:^|[;:])[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b[ \t]*(\([^)]*\)|[^;\n]*)|import[ \t]+([^;\n]*))", re.MULTILINE
)
_COMMENT = re.compile(r"#.*")
#: The first word of what is between commas, without `as ...`.
_NAME = re.compile(r"(?:^|,)\s*([\w.]+)")


@cache
def local_modules(script: Path, package_root: Path) -> tuple[Path, ...]:
    """The script and every module under `package_root` that it imports, directly or not, sorted, script first.

    Follows `import` and `from ... import` statements anywhere in a file; modules imported by a computed name are not
    found and must be listed by the rule.
    """
    found = {script}
    waiting = [script]
    while waiting:
        new = _imported_files(waiting.pop(), package_root) - found
        found |= new
        waiting.extend(new)
    return (script, *sorted(found - {script}))


@cache
def _imported_files(path: Path, package_root: Path) -> frozenset[Path]:
    names = imported_names(path.read_text(encoding="utf-8"))
    return frozenset(file for name in names for file in _module_files(name, package_root))


def imported_names(text: str) -> set[str]:
    """The modules that the code `text` imports, and the names that it imports from modules, which may be modules too.

    Relative imports are left out. A pattern finds them, because a parser takes a second for all programs, at each
    start. It may find more than Python does, such as a line of a docstring, but no less.
    """
    names: set[str] = set()
    for module, imported, modules in _IMPORT.findall(text.replace("\\\n", " ")):
        first = _NAME.findall(_COMMENT.sub("", modules or imported).strip("()"))
        if modules:
            names.update(first)
        elif not module.startswith("."):
            names.update([module, *(f"{module}.{name}" for name in first)])
    return names


@cache
def _module_files(name: str, package_root: Path) -> tuple[Path, ...]:
    """The files of a module and of the packages around it, if they are the project's."""
    parts = name.split(".")
    files = [package_root.joinpath(*parts[:count], "__init__.py") for count in range(1, len(parts) + 1)]
    files.append(package_root.joinpath(*parts).with_suffix(".py"))
    return tuple(file for file in files if file.is_file())
