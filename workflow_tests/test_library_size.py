"""The library's size: modules of at most 400 code lines, and one number for the whole, raised with a reason."""

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from conftest import ROOT

#: One line: the most code lines of the library, and the reason why the last commit raised the number.
SIZE = ROOT / "workflow_tests" / "library_size.txt"
LONGEST = 400
#: Lines by which the number may exceed the size.
SLACK = 100


def docstring_lines(tree: ast.Module) -> Iterator[int]:
    """Lines of the docstrings of modules, classes and functions, and of the fields of classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for before, text in pairwise([None, *node.body]):
                is_first = before is None or (isinstance(node, ast.ClassDef) and isinstance(before, ast.AnnAssign))
                match text:
                    case ast.Expr(value=ast.Constant(value=str())) if is_first:
                        yield from range(text.lineno, text.end_lineno + 1)  # type: ignore[operator]


def code_lines(path: Path) -> int:
    """Lines of a module without blank lines, comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    lines = {n for n, line in enumerate(text.split("\n"), start=1) if line.strip() and line.strip()[0] != "#"}
    return len(lines - set(docstring_lines(ast.parse(text))))


def size_mistake(kept: str, size: int) -> str:
    """What is wrong with the line of library_size.txt for a library of this size; "" for nothing."""
    number, _, reason = kept.strip().partition(" ")
    if "\n" in kept.strip() or not number.isdigit() or not reason.strip():
        return "it is one line: the number, and the reason for it"
    if size > int(number):
        return f"the library has {size} code lines: make it smaller, or write '{size}  REASON FOR THE LINES'"
    return f"the library has only {size} code lines: write this number" if int(number) > size + SLACK else ""


def test_the_library_is_as_small_as_its_number_and_no_module_is_too_long():
    sizes = {path.relative_to(ROOT / "scripts"): code_lines(path) for path in sorted(ROOT.glob("scripts/**/*.py"))}
    assert not {path: size for path, size in sizes.items() if size > LONGEST}
    library = sum(size for path, size in sizes.items() if path.parts[0] == "litm")
    assert not size_mistake(SIZE.read_text(), library), SIZE.relative_to(ROOT)


def test_the_number_needs_a_reason_covers_the_library_and_follows_it_down():
    assert not size_mistake("100  why\n", 100)
    assert size_mistake("99  why\n", 100).endswith("write '100  REASON FOR THE LINES'")
    assert size_mistake("100\n", 100) == size_mistake("1  a\n2  b\n", 1) == size_mistake("", 1)
    assert size_mistake(f"{101 + SLACK}  why\n", 100) == "the library has only 100 code lines: write this number"


def test_blank_lines_comments_and_docstrings_are_no_code(tmp_path):
    path = tmp_path / "module.py"
    path.write_text('"""Two\nlines."""\n\n# Why.\ndef f():\n    """What."""\n    return """a\n    b"""  # so\n')
    assert code_lines(path) == 3
    path.write_text('class A:\n    b: int = 1\n    """Of b."""\n    c = 2\n    """Text in no place for one."""\n')
    assert code_lines(path) == 4
