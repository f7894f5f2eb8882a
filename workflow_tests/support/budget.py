"""Sizes of the project's folders, and budget.yaml with the most that each may have.

python workflow_tests/support/budget.py     writes sizes that have become smaller into budget.yaml
"""

import ast
import sys
import tokenize
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
BUDGET = ROOT / "workflow_tests" / "budget.yaml"
#: Tokens of lines without code.
NOT_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip
#: Code lines that any module may have.
LONGEST = 400
#: How far a ceiling may stand above the size.
SLACK = 1.02

Size = Mapping[str, int]


def code_lines(path: Path) -> int:
    """Lines of a module without blank lines, comments and docstrings."""
    with tokenize.open(path) as file:
        tokens = list(tokenize.generate_tokens(file.readline))
    lines = {n for t in tokens if t.type not in NOT_CODE for n in range(t.start[0], t.end[0] + 1)}
    return len(lines - set(_docstring_lines(ast.parse(path.read_bytes()))))


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            # That of the module, class or function itself, and those of the fields of a class.
            for before, text in pairwise([None, *node.body]):
                is_first = before is None or (isinstance(node, ast.ClassDef) and isinstance(before, ast.AnnAssign))
                match text:
                    case ast.Expr(value=ast.Constant(value=str())) if is_first:
                        yield from range(text.lineno, text.end_lineno + 1)  # type: ignore[operator]


def code_size(paths: list[Path]) -> Size:
    """Code lines of modules, and their number without those that are empty."""
    lines = [code_lines(path) for path in paths]
    return {"code": sum(lines), "modules": sum(1 for count in lines if count)}


def text_size(paths: list[Path]) -> Size:
    return {"lines": sum(len(path.read_bytes().splitlines()) for path in paths), "files": len(paths)}


def sizes() -> dict[str, Size]:
    """The size of each part of the project, by its folder."""
    library, tests = ROOT / "scripts" / "litm", ROOT / "workflow_tests"
    found = {"scripts/litm/*.py": code_size(sorted(library.glob("*.py")))}
    for folder in _folders(library):
        found[f"scripts/litm/{folder.name}"] = code_size(sorted(folder.rglob("*.py")))
    programs = sorted(path for path in ROOT.glob("scripts/*/*.py") if path.parent != library)
    found["programs: scripts/*/*.py"] = code_size(programs)
    found["rules: Snakefile, rules/*.smk"] = text_size([ROOT / "Snakefile", *sorted(ROOT.glob("rules/*.smk"))])
    found["workflow_tests/*.py"] = text_size(sorted(tests.glob("*.py")))
    for folder in _folders(tests):
        found[f"workflow_tests/{folder.name}"] = text_size(sorted(folder.rglob("*.py")))
    found["benchmarks"] = code_size(sorted(ROOT.glob("benchmarks/*.py")))
    return {name: size for name, size in found.items() if any(size.values())}


def too_long() -> list[str]:
    """One line for each Python file of the library and its programs with more than 400 code lines."""
    counts = {path.relative_to(ROOT).as_posix(): code_lines(path) for path in sorted(ROOT.glob("scripts/**/*.py"))}
    return [f"{name}: {count} code lines, at most {LONGEST}" for name, count in counts.items() if count > LONGEST]


def _folders(parent: Path) -> list[Path]:
    return sorted(path for path in parent.iterdir() if path.is_dir() and path.name != "__pycache__")


def read_budget() -> dict[str, Size]:
    return yaml.safe_load(BUDGET.read_text())


def mistakes(budget: Mapping[str, Size], now: Mapping[str, Size]) -> list[str]:
    """One line for each size above its ceiling, and for each ceiling that stands more than 2 % above the size."""
    found = [f"{name}: it has no budget; add the line '{_line(name, now[name])}'" for name in now if name not in budget]
    for name, ceilings in budget.items():
        if name not in now:
            found.append(f"{name}: it is gone; `make budget` removes its line")
            continue
        for key, count in now[name].items():
            ceiling = ceilings[key]
            if count > ceiling:
                found.append(
                    f"{name}: {count} {key}, and its budget is {ceiling}; make it smaller, or raise it by hand and say "
                    "in the commit what the lines are for"
                )
            elif ceiling > count * SLACK:
                found.append(f"{name}: {count} {key}, lower than its budget of {ceiling}: fine, `make budget` notes it")
    return found


def _line(name: str, size: Size) -> str:
    return f"{name!r}: {{{', '.join(f'{key}: {count}' for key, count in size.items())}}}"


def write_budget() -> None:
    """Write sizes that have become smaller, and remove folders that are gone; nothing becomes larger."""
    now, lines = sizes(), []
    for line in BUDGET.read_text().splitlines():
        entry = yaml.safe_load(line)
        if not isinstance(entry, dict):
            lines.append(line)
            continue
        ((name, ceilings),) = entry.items()
        if name in now:
            _, has_goal, goal = line.partition("  # goal")
            size = {key: min(ceilings[key], count) for key, count in now[name].items()}
            lines.append(_line(name, size) + has_goal + goal)
        elif lines and not lines[-1]:
            lines.pop()
    BUDGET.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write_budget()
    print("\n".join(mistakes(read_budget(), sizes())) or "All parts are within their budgets.")
    sys.exit(bool(mistakes(read_budget(), sizes())))
