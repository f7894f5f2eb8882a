"""Which files a script is made of."""

import pytest
from conftest import ROOT

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


@pytest.mark.parametrize(
    "program",
    [
        "import lib",
        "def f():\n    import lib",
        "class C:\n    async def f(self):\n        from lib import x",
        "if 1:\n    pass\nelif 2:\n    pass\nelse:\n    import lib",
        "try:\n    pass\nexcept OSError:\n    import lib",
        "try:\n    pass\nfinally:\n    import lib",
        "for x in y:\n    pass\nelse:\n    import lib",
        "with x:\n    import lib",
        "match x:\n    case 1:\n        import lib",
    ],
)
def test_imports_are_found_in_every_kind_of_block(tmp_path, program):
    (tmp_path / "lib.py").write_text("")
    (tmp_path / "script.py").write_text(program + "\n")
    assert local_modules(tmp_path / "script.py", tmp_path) == (tmp_path / "script.py", tmp_path / "lib.py")


def test_no_script_is_made_of_the_code_of_another_stage():
    inference, scoring = made_of("generate.py"), made_of("score.py")
    assert not {"litm/scoring.py", "litm/metrics.py", "litm/figures/__init__.py", "litm/questions.py"} & inference
    assert not {"litm/journal.py", "litm/figures/__init__.py", "litm/questions.py"} & scoring
    assert "litm/metrics.py" not in made_of("plot_figure.py") | made_of("make_examples.py") | made_of("count_tokens.py")
    assert not any(name.startswith("litm/tasks/") for name in inference | scoring)


def test_the_library_never_imports_snakemake():
    for path in SCRIPTS.rglob("*.py"):
        assert "import snakemake" not in path.read_text() and "from snakemake" not in path.read_text()
