"""The names of values in the library and its programs: each says what the value is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

SCRIPTS = ROOT / "scripts"
#: Words that say nothing of a value: no variable, parameter, field, function or class has one of them as its name.
VAGUE = frozenset({"found", "given", "it", "of", "one", "own", "told"})
#: Columns of published tables with such a name, by the module that declares them.
COLUMNS = {("litm/tables/questions.py", "found")}
FOLDERS = sorted({str(path.parent.relative_to(SCRIPTS)) for path in SCRIPTS.rglob("*.py")})


def bound_names(module: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and the name of each value, function and class that a module names itself."""
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.alias):
            yield node.lineno, node.asname or node.name
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.lineno, node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.lineno, node.rest


def vague_names(folder: Path) -> list[str]:
    """The places of vague names in the modules of a folder, not in folders below it."""
    return [
        f"{path.name}:{line} {name}"
        for path in sorted(folder.glob("*.py"))
        for line, name in bound_names(ast.parse(path.read_text(encoding="utf-8")))
        if name in VAGUE and (str(path.relative_to(SCRIPTS)), name) not in COLUMNS
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_name_of_a_value_says_what_it_is(folder):
    assert vague_names(SCRIPTS / folder) == []


def test_each_way_to_name_a_value_is_looked_at():
    code = "\n".join([
        "import json as one",
        "class own:",
        "    found: int",
        "def told(of, *, given=0): self.it = lambda it: it",
        "for one, (own, rest) in []: pass",
        "match [found := 1]:",
        "    case {**given}: pass",
        "    case [*of]: pass",
        "    case int() as told: pass",
        "try: pass",
        "except OSError as it: pass",
        "call(one=told.of)",
    ])  # fmt: skip
    names = [name for line, name in sorted(bound_names(ast.parse(code))) if name in VAGUE]
    assert names == ["one", "own", "found", "given", "it", "it", "of", "told", "one", "own", "found", "given", "of",
                     "told", "it"]  # fmt: skip
