"""All files of rules have one namespace: a name that a second file defines changes the rules of the first."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

from conftest import ROOT
from snakemake.parser import parse
from snakemake.sourcecache import LocalSourceFile

FILES = [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk")), ROOT / "scripts/litm/workflow/housekeeping.py"]
#: Nodes with names of their own.
INNER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def definitions(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Names that a file defines for all, each with where it is imported from, "" for the file itself."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name, ""
            case ast.Import(names=names):
                yield from ((one.asname or one.name, one.name) for one in names)
            case ast.ImportFrom(module=module, names=names):
                yield from ((one.asname or one.name, f"{module}.{one.name}") for one in names)
            case _ if not isinstance(node, INNER):
                yield from definitions(node)


def test_no_name_is_defined_by_two_files_of_rules():
    cache = SimpleNamespace(open=lambda file: StringIO(Path(file.get_path_or_uri(True)).read_text()))
    found: dict[str, set[str]] = defaultdict(set)
    for file in FILES:
        python, _ = parse(LocalSourceFile(str(file)), SimpleNamespace(sourcecache=cache), {})
        for name, origin in definitions(ast.parse(python)):
            # Snakemake's own functions of rules begin so.
            if not name.startswith("__"):
                found[name].add(origin or file.name)
    assert {"STUDY", "start", "METHODS", "put_aside"} <= found.keys()
    assert {name: sorted(places) for name, places in found.items() if len(places) > 1} == {}
