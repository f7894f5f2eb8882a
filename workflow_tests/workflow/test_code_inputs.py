"""Code inputs: the modules that a script imports."""

import ast
import subprocess
import sys

from conftest import ROOT
from programs import program_file

from litm.analysis.table import tables
from litm.figures.kinds import KINDS
from litm.workflow.rules_help import imported_names, local_modules

SCRIPTS = ROOT / "scripts"


def made_of(script: str) -> set[str]:
    return {str(path.relative_to(SCRIPTS)) for path in local_modules(program_file(script), SCRIPTS)}


def test_imports_are_followed_through_modules_and_packages(tmp_path):
    (tmp_path / "lib" / "deep").mkdir(parents=True)
    (tmp_path / "lib" / "__init__.py").write_text("")
    (tmp_path / "lib" / "deep" / "__init__.py").write_text("import json\n")
    (tmp_path / "lib" / "deep" / "one.py").write_text("def f():\n    from lib import two\n")
    (tmp_path / "lib" / "two.py").write_text("import lib.deep.one\nimport os.path\n")
    (tmp_path / "lib" / "unused.py").write_text("")
    (tmp_path / "script.py").write_text("from lib.deep.one import f\n")
    files = local_modules(tmp_path / "script.py", tmp_path)
    assert files[0] == tmp_path / "script.py"
    assert [str(file.relative_to(tmp_path)) for file in files[1:]] == [
        "lib/__init__.py", "lib/deep/__init__.py", "lib/deep/one.py", "lib/two.py"
    ]  # fmt: skip


def test_the_imports_of_every_module_are_those_that_python_finds():
    for path in SCRIPTS.rglob("*.py"):
        expected: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                expected.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                expected.update([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
        assert imported_names(path.read_text()) == expected, path


def test_no_script_is_made_of_a_module_that_it_loads_by_name():
    named = ("litm/examples/tasks/", "litm/inference/engines/", "litm/corpora/documents.py", "litm/corpora/made_up.py")
    named += ("litm/retrieval/bm25.py", "litm/retrieval/dense.py")
    for script in ("make_examples", "generate", "make_passages", "score", "retrieve"):
        modules = {file for file in made_of(script) if file.startswith(named)}
        assert all(file.endswith("__init__.py") for file in modules), script


def test_a_figure_is_made_of_the_code_of_its_own_kind():
    modules = {f"litm/figures/{kind.module}.py" for kind in KINDS.values()}
    assert not modules & made_of("plot_figure")
    for module in modules:
        assert modules & {str(path.relative_to(SCRIPTS)) for path in local_modules(SCRIPTS / module, SCRIPTS)} == {
            module
        }


def test_a_table_is_made_of_its_own_module_and_of_no_model():
    def modules(name: str) -> set[str]:
        path = SCRIPTS.joinpath("litm", *tables()[name].module.split("."))
        files = local_modules(path.with_suffix(".py"), SCRIPTS)
        return {str(path.relative_to(SCRIPTS / "litm")) for path in files} | made_of("make_table")

    for name in (name for name, table in tables().items() if table.rows):
        assert not {"inference", "figures"} & {module.split("/")[0] for module in modules(name)}
    assert "analysis/positions.py" not in modules("model_differences")
    assert not {"analysis/positions.py", "analysis/grid.py"} & made_of("make_markdown")


def test_the_library_never_imports_snakemake():
    for path in SCRIPTS.rglob("*.py"):
        assert "import snakemake" not in path.read_text() and "from snakemake" not in path.read_text()


def test_a_start_imports_no_library_that_draws_or_computes():
    """The rules are read whenever a workflow is planned, also by each job of a cluster."""
    modules = ", ".join(sorted(f"litm.workflow.{path.stem}" for path in (SCRIPTS / "litm/workflow").glob("*.py")))
    code = f"import sys, {modules}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=SCRIPTS, capture_output=True, text=True, check=True)
    assert not {"matplotlib", "seaborn", "pandas", "torch", "transformers"} & set(done.stdout.split())
