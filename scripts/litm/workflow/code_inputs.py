"""Code as inputs: the project's modules that a script imports."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path


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
    names: set[str] = set()
    for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            # An imported name may be a module of the package.
            names.update([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
    return frozenset(file for name in names for file in _module_files(name, package_root))


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements, including those in functions and blocks, but no expressions, which are most of the nodes."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for field in ("body", "handlers", "orelse", "finalbody", "cases"):
            waiting.extend(getattr(node, field, []))


def _module_files(name: str, package_root: Path) -> list[Path]:
    """The files of a module and of the packages around it, if they are the project's."""
    parts = name.split(".")
    files = [package_root.joinpath(*parts[:count], "__init__.py") for count in range(1, len(parts) + 1)]
    files.append(package_root.joinpath(*parts).with_suffix(".py"))
    return [file for file in files if file.is_file()]
