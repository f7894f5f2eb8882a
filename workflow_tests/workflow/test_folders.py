"""The folders of the library: which folder imports which, and what each program is made of."""

import ast
import re
from pathlib import Path

import pytest
from conftest import ROOT

from litm.workflow.rules_help import local_modules

SCRIPTS = ROOT / "scripts"
LIBRARY = SCRIPTS / "litm"
#: The folders that a folder imports, apart from itself. Data goes down this list; a folder imports only folders above
#: it. `records`, `placements` and `answers` are single modules.
IMPORTS = {
    "base": "",
    "records": "base",
    "placements": "base",
    "answers": "",
    "models": "base",
    "questions": "base records answers",
    "corpora": "base questions",
    "retrieval": "base placements answers models questions corpora",
    "examples": "base records placements answers questions corpora",
    "prompting": "base records models",
    "inference": "base records models questions prompting",
    "scoring": "base records answers models examples prompting",
    "analysis": "base records placements examples scoring",
    "claims": "base placements analysis",
    "figures": "base placements scoring analysis",
    "report": "base records placements examples scoring analysis figures",
    "notebook": "base records analysis figures",
    "config": "base records placements models questions corpora retrieval examples "
    "prompting inference scoring analysis figures",
    "reference_model": "corpora examples config",
    "workflow": "base records placements models corpora retrieval examples prompting inference analysis figures config",
    "checks": "base records placements models retrieval prompting inference scoring analysis config workflow",
}
#: Folders that a program imports as well as its own stage and what that imports.
MORE = {
    "prompting/find_size.py": "examples",
    "analysis/make_table.py": "scoring",
    "analysis/make_claims_table.py": "claims",
    "config/write_claims_page.py": "claims",
    "config/write_reference.py": "reference_model",
    "reference_model/plot_training.py": "figures",
}
PROGRAMS = sorted(str(path.relative_to(SCRIPTS)) for path in SCRIPTS.glob("*/*.py") if path.parent != LIBRARY)


def imported(path: Path) -> set[str]:
    """The folders of the library that a file imports from."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("litm.")}


def reachable(folder: str) -> set[str]:
    """A folder and all that its modules may be made of."""
    return {folder}.union(*map(reachable, IMPORTS[folder].split()))


def test_every_folder_of_the_library_has_its_place_in_the_order():
    folders = [path.parent.name for path in LIBRARY.glob("*/__init__.py")]
    assert sorted(folders + [path.stem for path in LIBRARY.glob("*.py") if path.stem != "__init__"]) == sorted(IMPORTS)


@pytest.mark.parametrize("folder", IMPORTS)
def test_a_folder_imports_only_what_is_listed_and_only_folders_above_it(folder):
    order, listed = list(IMPORTS), set(IMPORTS[folder].split())
    assert listed <= set(order[: order.index(folder)])
    modules = [*LIBRARY.glob(f"{folder}.py"), *(LIBRARY / folder).rglob("*.py")]
    assert set().union(*map(imported, modules)) - {folder} == listed


def test_no_modules_import_one_another_in_a_circle():
    modules = [path for path in LIBRARY.rglob("*.py") if path.name != "__init__.py"]
    files = {path: set(local_modules(path, SCRIPTS)[1:]) for path in modules}
    assert [path for path, modules in files.items() for other in modules & files.keys() if path in files[other]] == []


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_is_made_of_the_code_of_its_own_stage(program):
    allowed = set().union(*map(reachable, [program.split("/")[0], *MORE.get(program, "").split()]))
    modules = [path.relative_to(LIBRARY) for path in local_modules(SCRIPTS / program, SCRIPTS)[1:]]
    assert {path.with_suffix("").parts[0] for path in modules if path.name != "__init__.py"} <= allowed


def test_a_rule_stands_in_the_file_of_its_program_s_stage():
    stages = {Path(program).name: program.split("/")[0] for program in PROGRAMS}
    for file in (ROOT / "rules").glob("*.smk"):
        for program in re.findall(r'command\(\s*"(\w+)"', file.read_text()):
            assert stages[f"{program}.py"] == file.stem, program


def test_tests_stand_in_folders_of_the_library_s_names():
    folders = {path.parent.name for path in (ROOT / "workflow_tests").glob("*/test_*.py")}
    assert folders - {"attacks", "golden", "slurm"} <= set(IMPORTS)
