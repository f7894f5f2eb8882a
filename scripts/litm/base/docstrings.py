"""Descriptions of the fields of a class: the text after each, which Python does not keep."""

import ast
import inspect
from functools import cache
from itertools import pairwise
from pathlib import Path

from litm.base.messages import single_spaced


def field_docstrings(cls: type) -> dict[str, str]:
    """The docstring of each field of a class that has one, without those of its bases, on one line.

    Read from the source where a message or the reference needs them, because that takes longer than the import.
    """
    texts = {}
    for node, after in pairwise(_classes(inspect.getfile(cls))[cls.__name__].body):
        match node, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = single_spaced(text)
    return texts


@cache
def _classes(file: str) -> dict[str, ast.ClassDef]:
    nodes = ast.walk(ast.parse(Path(file).read_text(encoding="utf-8")))
    return {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
