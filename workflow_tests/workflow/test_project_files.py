"""Project files: programs by name, the place of a checkout, and error messages in logs."""

import os
from pathlib import Path
from types import SimpleNamespace

import git
import pytest

from litm.workflow.checkout import project_root
from litm.workflow.console import error_messages
from litm.workflow.rules_help import ProjectFiles, any_of, job_environment


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    """A project with one program in a folder of its own, and a library of three modules."""
    for name, text in {
        "scripts/stage/run.py": "from litm.one import f\n",
        "scripts/litm/__init__.py": "",
        "scripts/litm/one.py": "",
        "scripts/litm/kinds/__init__.py": "",
        "scripts/litm/kinds/two.py": "import litm.three\n",
        "scripts/litm/three.py": "",
        "scripts/litm/run_too.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_program_is_found_by_its_name_with_all_that_it_imports(root):
    assert ProjectFiles(root).code("run.py") == [
        "scripts/stage/run.py", "scripts/litm/__init__.py", "scripts/litm/one.py"
    ]  # fmt: skip


def test_modules_imported_by_name_come_with_their_own_imports(root):
    assert ProjectFiles(root).code("run.py", "litm.kinds.two")[3:] == [
        "scripts/litm/kinds/two.py", "scripts/litm/three.py"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["walk.py"], "no program walk.py"),
        (["run_too.py"], "no program run_too.py"),
        (["run.py", "litm.kinds.four"], "no module litm.kinds.four"),
    ],
)
def test_what_is_not_there_is_an_error(root, names, message):
    with pytest.raises(LookupError, match=message):
        ProjectFiles(root).code(*names)


def test_two_programs_of_one_name_are_an_error(root):
    (root / "scripts" / "run.py").write_text("")
    with pytest.raises(LookupError, match=r"run\.py have the same name"):
        ProjectFiles(root)


def test_a_checkout_is_around_its_rules(tmp_path):
    rules = SimpleNamespace(is_local=True, get_path_or_uri=lambda secret_free: str(tmp_path / "rules"))
    assert project_root(rules) == tmp_path


def test_a_commit_on_a_git_host_is_unpacked_once(root, monkeypatch):
    clone = git.Repo.init(root)
    clone.git.add("--all")
    with clone.config_writer() as config:
        config.set_value("user", "name", "t").set_value("user", "email", "t@example.org")
    commit = clone.index.commit("project").hexsha
    rules = SimpleNamespace(is_local=False, ref=commit, hosted_repo=SimpleNamespace(repo=clone))
    (root / "elsewhere").mkdir()
    monkeypatch.chdir(root / "elsewhere")
    folder = project_root(rules)
    assert folder == root / "elsewhere" / ".snakemake" / "lost_in_the_middle" / commit
    assert (folder / "scripts" / "stage" / "run.py").read_text() == "from litm.one import f\n"
    assert sorted(path.name for path in folder.parent.iterdir()) == [commit]
    (folder / "mark").write_text("")
    assert (project_root(rules) / "mark").exists()


def test_a_pattern_matches_exactly_the_names(root):
    assert any_of(["a.b", 7]) == r"a\.b|7"
    assert any_of([]) == "(?!)"


def test_the_errors_of_a_run_are_the_last_lines_of_its_logs(tmp_path):
    for name, text in {"b/failed": "note\nerror: no file\n", "a": "error: old\n", "done": "error: x\nfine\n"}.items():
        path = tmp_path / f"{name}.log"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    os.utime(tmp_path / "a.log", (1, 1))
    assert list(error_messages(tmp_path, since=2)) == [(tmp_path / "b" / "failed.log", "error: no file")]


def test_jobs_have_snakemakes_python_and_the_library_first_in_their_paths():
    assert job_environment("/env/bin/python", "/project/scripts", {"PATH": "/bin", "PYTHONPATH": "/lib"}) == {
        "PATH": "/env/bin:/bin", "PYTHONPATH": "/project/scripts:/lib"
    }  # fmt: skip
    assert job_environment("/env/bin/python", "/project/scripts", {})["PYTHONPATH"] == "/project/scripts"
