"""Which files a script is made of."""

from conftest import ROOT

from litm.analysis.tables import table_names
from litm.code_inputs import local_modules

SCRIPTS = ROOT / "scripts"


def made_of(script: str) -> set[str]:
    return {str(path.relative_to(SCRIPTS)) for path in local_modules(SCRIPTS / script, SCRIPTS)}


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


def test_no_script_is_made_of_the_code_of_another_stage():
    inference, scoring = made_of("generate.py"), made_of("score.py")
    assert not {"litm/scoring.py", "litm/metrics.py", "litm/figures/__init__.py", "litm/questions.py"} & inference
    assert not {"litm/journal.py", "litm/figures/__init__.py", "litm/questions.py"} & scoring
    assert "litm/metrics.py" not in made_of("plot_figure.py") | made_of("make_examples.py") | made_of("count_tokens.py")
    assert not any(name.startswith("litm/tasks/") for name in inference | scoring)


def test_a_table_is_made_of_its_own_module_and_of_no_model():
    def modules(name: str) -> set[str]:
        files = local_modules(SCRIPTS / "litm" / "analysis" / "tables" / f"{name}.py", SCRIPTS)
        return {str(path.relative_to(SCRIPTS / "litm")) for path in files} | made_of("make_table.py")

    for name in table_names():
        others = {f"analysis/tables/{other}.py" for other in table_names()} - {f"analysis/tables/{name}.py"}
        # The table of the index shows columns of the table of position bias.
        assert modules(name) & others == ({"analysis/tables/position_bias.py"} if name == "pbi" else set())
        assert not {"sweep.py", "journal.py", "scoring.py", "tasks/__init__.py", "figures/__init__.py"} & modules(name)
    assert "analysis/position_pairs.py" not in modules("model_differences")


def test_the_library_never_imports_snakemake():
    for path in SCRIPTS.rglob("*.py"):
        assert "import snakemake" not in path.read_text() and "from snakemake" not in path.read_text()
