"""The project's files, and files that other runs left: lost records, other selections, times of the future."""

import os
import time
from pathlib import Path
from types import SimpleNamespace

import git

from litm.base.json_files import write_json
from litm.workflow.housekeeping import lost_records, other_tables, project_root, set_back, unread_copies

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


def test_tables_of_another_selection_are_said_and_stay_where_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert other_tables(bool) == []
    for name in ("accuracy.csv", "model_differences.csv", "paper/table3.csv", "study.json"):
        Path("results/tables", name).parent.mkdir(parents=True, exist_ok=True)
        Path("results/tables", name).touch()
    (line,) = other_tables("results/tables/accuracy.csv".__eq__)
    assert line.startswith("2 tables in results/tables are of another selection (results/tables/model_differences.csv")
    assert len([*Path("results/tables").rglob("*.csv")]) == 3


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
