"""Mistakes in a command for Snakemake, said in one line before Snakemake starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from programs import refused

from litm.config.command_line import check_command, environment_for

FILES = {
    "good.yaml": "seed: 1\n",
    "more.json": "{}",
    "models.yaml": "gpt2: {}\n",
    "list.yaml": "- a\n",
    "empty.yaml": "",
}
#: One has the name of a target.
FILES |= {"open.yaml": "a: [b\nc: d\n", "tables": "seed: 1\n"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with config files, as the working directory."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "latin.yaml").write_bytes(b"title: caf\xe9\n")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)


MISTAKES = {
    "--configfile god.yaml": "god.yaml: no such config file; did you mean good.yaml?",
    "--configfile none/x.yaml": "none/x.yaml: no such config file",
    "--configfile modals.yaml": "modals.yaml: no such config file",
    "--configfile good.yaml open.yaml": "open.yaml, line 2: not valid YAML",
    "--configfile=open.yaml": "open.yaml, line 2: not valid YAML",
    "--configfile list.yaml": "list.yaml: expected keys with values",
    "--configfile empty.yaml": "empty.yaml: expected keys with values",
    "--configfile latin.yaml": "latin.yaml: not UTF-8 text",
    "--config seed=2 -n -C models=[a]": "--config is given more than once, and Snakemake takes the last one",
    "-Cseed=2 --config=models=[a]": "--config is given more than once",
    "--configfile good.yaml --configfiles=more.json -n": "--configfile is given more than once",
    "--configfile -": "-: a config file must be a file that can be read twice",
    "--configfile pipe": "pipe: a config file must be a file that can be read twice",
}


@pytest.mark.parametrize(("command", "message"), MISTAKES.items())
def test_a_mistake_is_said_with_its_place_and_its_remedy(command, message):
    said = refused(check_command, command.split())
    assert said.startswith(message)
    assert "models.yaml?" not in said, "a catalogue is no config"


@pytest.mark.parametrize(
    "command",
    [
        "",
        "doctor --cores 2 --configfile good.yaml",
        "--cores 2 doctor --configfile good.yaml more.json",
        "--configfile good.yaml -n doctor",
        "-Cseed=2 --configfile=good.yaml doctor",
        "--configfile good.yaml --config seed=2 models=[a] -- doctor",
        "--configfile tables",
        "--cores 2 -- results/tables/accuracy.csv",
        "results/tables/accuracy.csv --cores 2",
        "--configfile good.yaml --cores 2 --until score",
        "--workflow-profile slurm --executor local fetch",
        "--workflow-profile none",
        "--cores 2 --until score --profile mine -n doctor",
    ],
)
def test_a_command_without_a_mistake_passes(command):
    check_command(command.split())


def test_a_folder_that_cannot_be_written_is_named_and_a_cache_is_replaced_by_one_in_the_folder(tmp_path, capsys):
    # Nothing is written below a file, by root too.
    said = refused(environment_for, ["-n", "-d", "good.yaml/here", "all"], {})
    assert said.startswith(f"{tmp_path}/good.yaml/here: this folder cannot be written") and "--directory FOLDER" in said
    assert environment_for(["--directory", "good.yaml", "--lint"], {}) == {}
    new = {"XDG_CACHE_HOME": str(tmp_path / "new")}
    assert environment_for(["-n"], new) == new
    given = {"XDG_CACHE_HOME": str(tmp_path / "good.yaml"), "HF_HOME": "mine"}
    own = f"{tmp_path}/there/.snakemake/cache"
    assert environment_for(["--directory=there"], given) == {**given, "XDG_CACHE_HOME": own}
    assert capsys.readouterr().err.startswith(f"{tmp_path}/good.yaml: this cache cannot be written, so {own} is used")


def launched(folder: Path, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run([ROOT / "litm", *words], cwd=folder, capture_output=True, text=True, check=False)


def test_the_launcher_ends_with_one_line_and_without_a_traceback(tmp_path):
    done = launched(tmp_path, "run", "open.yaml")
    assert done.returncode == 1
    assert done.stderr == "error: open.yaml, line 2: not valid YAML (did not find expected ',' or ']')\n"


def test_a_repeated_option_is_refused_by_the_workflow_too(tmp_path):
    words = ("-s", ROOT / "Snakefile", "-n", "--config", "seed=2", "--config", "models=[dummy]")
    done = subprocess.run([sys.executable, "-m", "snakemake", *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.endswith("write one with all values: --config seed=2 'models=[dummy]'\n")


@pytest.mark.study
def test_the_launcher_runs_this_workflow_from_a_folder_that_has_none(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "good.yaml"))
    done = launched(tmp_path, "--cores", "1", "-n", "--config", "models=[dummy]")
    assert done.returncode == 0, done.stderr
    assert "asks dummy at most 180 prompts" in done.stdout
    assert (tmp_path / ".snakemake/cache/snakemake").is_dir()
    (tmp_path / "Snakefile").write_text("rule own:\n    output: 'own.txt'\n    shell: 'touch {output}'\n")
    done = launched(tmp_path, "own", "--cores", "1", "-n")
    assert "own" in done.stdout + done.stderr
