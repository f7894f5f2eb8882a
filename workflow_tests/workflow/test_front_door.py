"""The program `litm`: its verbs, spellings of before, and one line for each mistake."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import ROOT
from programs import refused

from litm import front_door
from litm.config.study_words import QUIET, new_spelling

#: Commands and the words that Snakemake gets.
WORDS = {
    "run": "--cores all",
    "run study.yaml": "--configfile study.yaml --cores all",
    "run a.yaml b.yaml --cores 2": "--configfile a.yaml b.yaml --cores 2",
    "run study.yaml -n": "--configfile study.yaml --cores all --dry-run",
    "run study.yaml -- tables --config examples=3": "--configfile study.yaml --cores all tables --config examples=3",
    "run study.yaml -- --cores 3": "--configfile study.yaml --cores 3",
    "run study.yaml -- -j4": "--configfile study.yaml -j4",
    "run study.yaml -- --workflow-profile slurm": "--configfile study.yaml --workflow-profile slurm",
    "doctor": "doctor --cores all",
    "estimate study.yaml": "estimate --configfile study.yaml --cores all",
    "doctor study.yaml -- -C models=[dummy]": "doctor --configfile study.yaml --cores all -C models=[dummy]",
    # As before there were verbs.
    "--cores 2 doctor --configfile mine.yaml": "--cores 2 doctor --configfile mine.yaml",
    "doctor --configfile mine.yaml": "doctor --configfile mine.yaml --cores all",
    "tables --cores 2 -n": "tables --cores 2 -n",
    "figures": "figures --cores all",
    "--version": "--version",
}
#: Spellings of before, and the new ones.
NEW = {
    "--cores 2 doctor --configfile mine.yaml": "litm doctor mine.yaml --cores 2",
    "--cores all --configfile a.yaml b.yaml": "litm run a.yaml b.yaml",
    "estimate --configfile=mine.yaml": "litm estimate mine.yaml",
    "tables --cores 2 -n --configfile mine.yaml --config seed=2": (
        "litm run mine.yaml --cores 2 -- tables -n --config seed=2"
    ),
    "figures": "",
}
MISTAKES = {
    "dokter": "dokter: no such verb; did you mean doctor?",
    "ask": "ask: no such verb; there are check, run, estimate, doctor, compare, studies, answers",
    "run study.yaml --forceall": "--forceall: options of Snakemake follow `--`: litm run study.yaml -- --forceall",
    r"run C:\study.yaml": r"C:\study.yaml: a path of Windows; in WSL C:\folder is /mnt/c/folder",
    "check": "give --model NAME, or --fake",
    "check --fake --model gpt-4o-mini": "give --model NAME, or --fake",
    "check --fake --documents notes": "--fake makes up answers to its own questions alone",
    "check --model gpt-4o-mini --session s.jsonl --documents .": "--session is checked alone",
    "check --model gpt-4o-mini --session s.jsonl": "s.jsonl: no such file or folder",
    "check --model gpt-4o-mini --questions q.csv": "--questions needs --documents FOLDER",
    "check --model gpt-4o-mini --documents none --questions q.csv": "none: no such file or folder",
    "check --model gpt-4o-mini --budget 0": "--budget 0: give US dollars above 0",
    "check --model refrence": "refrence: no known model: neither of the catalogue, nor of OpenAI or Anthropic, nor a "
    "folder, nor OWNER/NAME on the hub; did you mean reference?",
    "check --fake --folder file/below": "Not a directory (file/below): name a folder that can be written with --folder",
}


@pytest.fixture
def said(monkeypatch, tmp_path) -> list[list[str]]:
    """The words that Snakemake gets, which is not started; the working directory is empty."""
    words: list[list[str]] = []
    for name in ("start_snakemake", "run_jobs_of"):
        monkeypatch.setattr(f"litm.workflow.start.{name}", lambda given: words.append([*given]))
    monkeypatch.chdir(tmp_path)
    return words


@pytest.mark.parametrize(("command", "words"), WORDS.items())
def test_a_verb_gives_snakemake_a_study_all_cores_and_what_follows_two_hyphens(said, command, words):
    front_door.enter(command.split())
    assert [without(QUIET, told) for told in said] == [words.split()]


@pytest.mark.parametrize(
    ("command", "is_quiet"),
    [
        ("run", True),
        ("figures", True),
        ("run -- --quiet all", False),
        ("run -- -p", False),
        ("tables --verbose", False),
    ],
)
def test_snakemake_says_less_than_by_itself_unless_it_is_told_how_much(said, command, is_quiet):
    front_door.enter(command.split())
    assert (without(QUIET, said[0]) != said[0]) == is_quiet


def without(some: Sequence[str], words: list[str]) -> list[str]:
    """The words without these, which stand one after the other."""
    places = (at for at in range(len(words)) if tuple(words[at : at + len(some)]) == tuple(some))
    return next(([*words[:at], *words[at + len(some) :]] for at in places), words)


@pytest.mark.parametrize(("old", "new"), NEW.items())
def test_a_spelling_of_before_is_named_with_the_new_one(said, capsys, old, new):
    assert new_spelling(old.split(), front_door.STUDY_VERBS) == new
    front_door.enter(old.split())
    assert (f"the new one: {new}\n" in capsys.readouterr().err) is bool(new)


@pytest.mark.parametrize(("command", "message"), MISTAKES.items())
def test_a_mistake_of_a_command_is_one_line(said, command, message, tmp_path):
    (tmp_path / "file").touch()
    line = refused(front_door.enter, command.split())
    assert line.startswith(message) and "\n" not in line and said == []


def test_windows_itself_is_refused_in_one_line(said, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert refused(front_door.enter, ["run"]).startswith("Windows runs this in WSL")


@pytest.mark.parametrize("verb", ["", *front_door.VERBS])
def test_the_help_of_a_verb_fits_a_screen_of_any_width(verb):
    command = [ROOT / "litm", *filter(None, [verb]), "--help"]
    for columns, lines in (("60", 40), ("80", 32)):
        done = subprocess.run(
            command, capture_output=True, text=True, env={"COLUMNS": columns, "PATH": "/usr/bin:/bin"}
        )
        assert done.returncode == 0 and done.stdout.startswith("usage: litm")
        assert len(done.stdout.splitlines()) <= lines
        assert max(map(len, done.stdout.splitlines())) <= int(columns)


@pytest.mark.parametrize("verb", front_door.TAKES_FOLDERS)
def test_folders_that_a_verb_begins_with_are_the_results_it_reads(verb, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["litm"])
    monkeypatch.setattr(front_door, "import_module", lambda name: type("module", (), {"main": staticmethod(bool)}))
    front_door.enter([verb, "one", "two", "--output", "there"])
    assert sys.argv == [f"litm {verb}", "--results", "one", "two", "--output", "there"]


def test_an_older_python_is_named_in_one_line(tmp_path):
    code = "import sys; sys.version_info = (3, 10, 1); sys.version = '3.10.1 (main)'; import litm"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT / "scripts")
    assert (done.returncode, done.stderr) == (1, "error: Python 3.11 or newer is needed, and this is 3.10.1\n")


def test_the_launcher_of_a_clone_is_the_same_program(tmp_path):
    by_name = subprocess.run([ROOT / "litm", "dokter"], capture_output=True, text=True, cwd=tmp_path)
    assert by_name.stderr == "error: dokter: no such verb; did you mean doctor?\n"
    assert not [*Path(tmp_path).iterdir()]
