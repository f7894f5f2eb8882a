"""The folders of the library: which folder imports which, and what each program is made of."""

import ast
import re
from pathlib import Path

import pytest
from conftest import ROOT
from programs import loaded_by

from litm.figures.kinds import KINDS
from litm.tables.table import tables
from litm.workflow.rules_help import imported_names, local_modules

SCRIPTS = ROOT / "scripts"
LIBRARY = SCRIPTS / "litm"
#: The folders that a folder imports, apart from itself. Data goes down this list; a folder imports only folders above
#: it. `placements`, `answers`, `answer_words` and `verdicts` are single modules; those of
#: `engines/modules` are found by their names.
IMPORTS = {
    "base": "",
    "records": "base",
    "tables": "base",
    "placements": "base",
    "answers": "base",
    "answer_words": "answers",
    "verdicts": "",
    "models": "base",
    "questions": "base records answers",
    "corpora": "base questions",
    "retrieval": "base tables placements answers answer_words models questions corpora",
    "examples": "base records tables placements answers answer_words questions corpora",
    "prompting": "base records tables models",
    "engines": "base records models prompting",
    "local": "base records models prompting engines",
    "inference": "base records models prompting engines",
    "servers": "base records prompting engines inference",
    "recorded": "base records placements questions",
    "engines/modules": "base records models prompting engines local servers",
    "scoring": "base records tables placements answers answer_words verdicts models examples prompting",
    "analysis": "base records tables placements examples scoring",
    "claims": "base tables placements examples scoring analysis",
    "findings": "base records tables placements answer_words examples scoring analysis",
    "figures": "base records tables placements examples scoring analysis",
    "report": "base records tables placements examples scoring analysis claims findings figures",
    "recorded_scores": "base tables placements recorded scoring analysis claims figures",
    "notebook": "base records tables analysis figures findings recorded_scores",
    "studies": "base tables scoring analysis figures report notebook",
    "compare": "base records tables scoring analysis notebook studies",
    "config": "base records placements models questions corpora retrieval examples prompting engines recorded "
    "scoring analysis figures",
    "planning": "base records placements models corpora examples prompting engines inference servers analysis config",
    "workflow": "base records tables placements models questions corpora retrieval examples prompting engines "
    "inference analysis findings figures config planning",
    "checks": "base records tables placements models corpora retrieval examples engines inference servers scoring "
    "analysis figures compare config planning workflow",
    "front_door": "base config workflow",
    "__main__": "front_door",
}
#: Folders that a program imports as well as its own stage and what that imports.
MORE = {
    "figures/plot_figure.py": "findings",
    "prompting/find_size.py": "examples",
    "config/run_snakemake.py": "workflow",
    "inference/generate.py": "servers verdicts",
    "inference/make_judge_prompts.py": "scoring",
    "inference/import_responses.py": "recorded",
    "scoring/import_scores.py": "inference recorded",
    "scoring/score.py": "servers",
    "analysis/make_table.py": "scoring",
    "analysis/make_claims_table.py": "claims",
    "report/make_findings.py": "findings",
    "config/write_reference.py": "claims findings",
}
PROGRAMS = sorted(str(path.relative_to(SCRIPTS)) for path in SCRIPTS.glob("*/*.py") if path.parent != LIBRARY)


def imported(path: Path, for_types: bool = True) -> set[str]:
    """The names that a file imports, as Python finds them, also those for types alone."""
    names: set[str] = set()
    module = ast.parse(path.read_text(encoding="utf-8"))
    if not for_types:
        module.body = [part for part in module.body if not is_for_types(part)]
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def is_for_types(part: ast.stmt) -> bool:
    """Whether a part of a module is `if TYPE_CHECKING:`."""
    return isinstance(part, ast.If) and isinstance(part.test, ast.Name) and part.test.id == "TYPE_CHECKING"


def folder_of(name: str) -> str:
    """The folder of the library that has a module, by the module's full name."""
    return "engines/modules" if name.startswith("litm.engines.modules.") else name.split(".")[1]


def modules_of(path: Path) -> set[str]:
    """The modules of the library that a program or module is made of, itself among them."""
    return {str(one.relative_to(LIBRARY)) for one in local_modules(path, SCRIPTS) if one.is_relative_to(LIBRARY)}


def reachable(folder: str) -> set[str]:
    """A folder and all that its modules may be made of."""
    return {folder}.union(*map(reachable, IMPORTS[folder].split()))


def test_every_folder_of_the_library_has_its_place_in_the_order():
    folders = ["engines/modules", *(path.parent.name for path in LIBRARY.glob("*/__init__.py"))]
    assert sorted(folders + [path.stem for path in LIBRARY.glob("*.py") if path.stem != "__init__"]) == sorted(IMPORTS)


@pytest.mark.parametrize("folder", IMPORTS)
def test_a_folder_imports_only_what_is_listed_and_only_folders_above_it(folder):
    order, listed = list(IMPORTS), set(IMPORTS[folder].split())
    assert listed <= set(order[: order.index(folder)])
    files = [*LIBRARY.glob(f"{folder}.py"), *(LIBRARY / folder).rglob("*.py")]
    own = [file for file in files if folder == "engines/modules" or file.parent.name != "modules"]
    names = set().union(*map(imported, own))
    assert {folder_of(name) for name in names if name.startswith("litm.")} - {folder} == listed


def test_no_modules_import_one_another_in_a_circle():
    modules = [path for path in LIBRARY.rglob("*.py") if path.name != "__init__.py"]
    files = {path: set(local_modules(path, SCRIPTS)[1:]) for path in modules}
    assert [path for path, modules in files.items() for other in modules & files.keys() if path in files[other]] == []


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_is_made_of_the_code_of_its_own_stage(program):
    allowed = set().union(*map(reachable, [program.split("/")[0], *MORE.get(program, "").split()]))
    modules = [path for path in map(Path, modules_of(SCRIPTS / program)) if path.name != "__init__.py"]
    assert {path.with_suffix("").parts[0] for path in modules} <= allowed


def test_a_table_is_made_of_its_own_module_and_of_no_model():
    of_all = modules_of(SCRIPTS / "analysis" / "make_table.py")
    modules = {
        name: modules_of(LIBRARY.joinpath(*table.module.split(".")).with_suffix(".py")) | of_all
        for name, table in tables().items()
        if table.rows
    }
    assert not {"inference", "figures"} & {one.split("/")[0] for made_of in modules.values() for one in made_of}
    assert "analysis/positions.py" not in modules["model_differences"]
    assert not {"analysis/positions.py", "analysis/grid.py"} & modules_of(SCRIPTS / "analysis" / "make_markdown.py")


def test_no_program_is_made_of_the_declaration_of_a_table_which_re_makes_its_table_alone():
    made_of = {module for program in PROGRAMS for module in modules_of(SCRIPTS / program)}
    assert {module for module in made_of if module.startswith("tables/")} == {"tables/__init__.py", "tables/table.py"}


def test_no_program_is_made_of_a_module_that_it_loads_by_name():
    named = ("examples/tasks/", "engines/modules/", "corpora/documents.py", "corpora/made_up.py")
    named += ("retrieval/bm25.py", "retrieval/dense.py")
    for program in PROGRAMS:
        if program.split("/")[1] in ("make_examples.py", "generate.py", "make_passages.py", "score.py", "retrieve.py"):
            found = {one for one in modules_of(SCRIPTS / program) if one.startswith(named)}
            assert all(one.endswith("__init__.py") for one in found), program


def test_a_figure_is_made_of_the_code_of_its_own_kind():
    modules = {f"figures/{kind.module}.py" for kind in KINDS.values()}
    assert not modules & modules_of(SCRIPTS / "figures" / "plot_figure.py")
    assert [modules & modules_of(LIBRARY / one) for one in modules] == [{one} for one in modules]


def test_a_rule_stands_in_the_file_of_its_program_s_stage():
    stages = {Path(program).name: program.split("/")[0] for program in PROGRAMS}
    for file in (ROOT / "rules").glob("*.smk"):
        for program in re.findall(r'command\(\s*"(\w+)"', file.read_text()):
            assert stages[f"{program}.py"] == file.stem, program


def test_tests_stand_in_folders_of_the_library_s_names():
    folders = {path.parent.name for path in (ROOT / "workflow_tests").glob("*/test_*.py")}
    assert folders - {"attacks", "golden", "slurm"} <= set(IMPORTS)


def test_imports_are_followed_through_modules_and_packages(tmp_path):
    (tmp_path / "lib" / "deep").mkdir(parents=True)
    for name, text in {
        "lib/__init__.py": "",
        "lib/deep/__init__.py": "import json\n",
        "lib/deep/one.py": "def f():\n    from lib import two\n",
        "lib/two.py": "import lib.deep.one\nimport os.path\n",
        "lib/unused.py": "",
        "script.py": "from lib.deep.one import f\n",
    }.items():
        (tmp_path / name).write_text(text)
    assert [file.relative_to(tmp_path).as_posix() for file in local_modules(tmp_path / "script.py", tmp_path)] == [
        "script.py", "lib/__init__.py", "lib/deep/__init__.py", "lib/deep/one.py", "lib/two.py"
    ]  # fmt: skip


def test_the_imports_of_every_module_are_those_that_python_finds_and_never_snakemake():
    for path in SCRIPTS.rglob("*.py"):
        names = imported_names(path.read_text())
        assert names == imported(path, for_types=False), path
        assert "snakemake" not in {name.partition(".")[0] for name in names}, path


@pytest.mark.long
def test_a_plan_imports_no_library_that_draws_or_computes(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    code = "from snakemake.cli import main; main()"
    loaded = loaded_by(code, "-n", "--cores", "1", "--directory", tmp_path)
    assert "litm.analysis.power" in loaded
    assert not {"matplotlib", "seaborn", "pandas", "torch", "transformers"} & loaded
