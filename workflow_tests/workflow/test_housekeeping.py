"""The project's files, and files that other runs left: lost records, other selections, times of the future."""

import os
import time
from pathlib import Path
from types import SimpleNamespace

import git
import pytest

from litm.base.json_files import write_json
from litm.workflow.housekeeping import lost_records, project_root, put_aside, set_back, unread_copies

OWN = {"results/tables/accuracy.csv", "results/tables/study.json"}
HOUR = 3600


def test_a_checkout_is_around_its_rules(tmp_path):
    rules = SimpleNamespace(is_local=True, get_path_or_uri=lambda secret_free: str(tmp_path / "rules"))
    assert project_root(rules) == tmp_path


def test_a_commit_on_a_git_host_is_unpacked_once(tmp_path, monkeypatch):
    clone, someone = git.Repo.init(tmp_path), git.Actor("t", "t@example.org")
    (tmp_path / "program.py").write_text("import litm\n")
    clone.git.add("--all")
    commit = clone.index.commit("project", author=someone, committer=someone).hexsha
    rules = SimpleNamespace(is_local=False, ref=commit, hosted_repo=SimpleNamespace(repo=clone))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    folder = project_root(rules)
    assert folder == tmp_path / "elsewhere" / ".snakemake" / "lost_in_the_middle" / commit
    assert (folder / "program.py").read_text() == "import litm\n"
    assert sorted(path.name for path in folder.parent.iterdir()) == [commit]
    (folder / "mark").write_text("")
    assert (project_root(rules) / "mark").exists()


def test_a_copied_catalogue_that_was_edited_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"config/a": 1, "config/b": 2, "project/config/a": 1, "project/config/b": 1}.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(f"{name}.yaml").write_text(f"x: {text}\n")
    (line,) = unread_copies(["a", "b", "c"], tmp_path / "project")
    assert line.startswith("config/b.yaml differs from the workflow's and is not read")


def test_results_without_any_record_are_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert lost_records(["results/a.json"]) == []
    for name in "ab":
        write_json(Path(f"results/{name}.json"), {})
    (line,) = lost_records(["results/missing.json", "results/a.json", "results/b.json"])
    assert line.startswith("2 results (results/a.json, ...) have no record in .snakemake/metadata")
    Path(".snakemake/metadata").mkdir(parents=True)
    Path(".snakemake/metadata/a").touch()
    assert lost_records(["results/a.json"]) == []


# Results of another selection


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder of results with a table and a figure of another selection, and a file of the user's own."""
    monkeypatch.chdir(tmp_path)
    files = [
        *sorted(OWN),
        "results/tables/model_differences.csv",
        "results/figures/old.png",
        "results/tables/paper/old.md",
    ]
    old = ["results/summaries/old/master_summary.json", "results/exports/tasks/old/task.py"]
    for file in [*files, *old, "results/tables/my_notes.csv"]:
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file)
    write_json(tmp_path / "results/tables/study.json", {"config": "mine"})
    return tmp_path


def aside(config: str = "mine") -> list[str]:
    unrecorded = ("my_notes.csv", ".json", "paper", "exports/tasks", ".py")
    return put_aside(config, OWN.__contains__, lambda path: not path.endswith(unrecorded))


def results() -> set[str]:
    return {path.as_posix() for path in Path("results").rglob("*") if path.is_file()}


def test_exactly_the_results_of_another_selection_are_put_aside(folder):
    assert aside() == [
        "of another selection, put aside in results/other_selections: tables/model_differences.csv, "
        "tables/paper/old.md, figures/old.png and 2 more"
    ]
    there = "results/other_selections"
    aside_now = [f"tables/{name}" for name in ("model_differences.csv", "paper/old.md")]
    aside_now += ["figures/old.png", "summaries/old/master_summary.json", "exports/tasks/old/task.py"]
    assert results() == OWN | {"results/tables/my_notes.csv", *(f"{there}/{name}" for name in aside_now)}
    assert not (folder / "results/summaries/old").exists()
    assert (folder / there / "figures/old.png").read_text() == "results/figures/old.png"
    assert aside() == []


def test_nothing_is_moved_while_the_tables_are_of_another_selection_or_their_record_is_missing_or_cut_off(folder):
    before = results()
    assert aside("another") == [] and results() == before
    (folder / "results/tables/study.json").write_text('{"config": "mi')
    assert aside() == []
    (folder / "results/tables/study.json").unlink()
    assert aside() == []


# Times of the future


def test_files_of_the_future_get_the_time_of_now(tmp_path):
    file = tmp_path / "a" / "b.csv"
    write_json(file, {})
    assert set_back(str(tmp_path)) == []
    ahead = time.time() + HOUR
    os.utime(file, (ahead, ahead))
    assert f"1 files in {tmp_path} had times in the future ({file}, ...)" in set_back(str(tmp_path))[0]
    assert abs(file.stat().st_mtime - time.time()) < HOUR / 2


def test_files_of_the_future_keep_their_order_and_seconds_are_not_worth_a_line(tmp_path):
    now = time.time()
    files = [tmp_path / name for name in ("input", "output", "other")]
    for file, ahead in zip(files, (50, 20, 20), strict=True):
        file.write_text("x")
        os.utime(file, (now + ahead,) * 2)
    assert set_back(str(tmp_path)) == []
    input_, output, other = (file.stat().st_mtime for file in files)
    assert other == output < input_ <= time.time()
