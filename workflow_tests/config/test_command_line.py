"""Mistakes in a command for Snakemake, said in one line before Snakemake starts."""

import subprocess

import pytest
from conftest import ROOT

from litm.base.messages import UserError
from litm.config import command_line
from litm.config.command_line import check_command

TARGETS = {"all", "doctor", "estimate", "tables"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with config files, as the working directory."""
    files = {
        "good.yaml": "seed: 1\n",
        "more.json": "{}",
        "models.yaml": "gpt2: {}\n",
        "list.yaml": "- a\n",
        "open.yaml": "a: [b\nc: d\n",
        "empty.yaml": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "latin.yaml").write_bytes(b"title: caf\xe9\n")
    (tmp_path / "profiles" / "slurm").mkdir(parents=True)
    (tmp_path / "profiles" / "slurm" / "config.yaml").write_text("executor: slurm\n")
    # Whether or not the plugin is installed where this runs.
    monkeypatch.setattr(command_line, "find_spec", lambda name: None)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("--configfile god.yaml", "god.yaml: no such config file; did you mean good.yaml?"),
        ("--configfile none/x.yaml", "none/x.yaml: no such config file"),
        ("--configfile modals.yaml", "modals.yaml: no such config file"),
        ("--configfile good.yaml open.yaml", "open.yaml, line 2: not valid YAML"),
        ("--configfile=open.yaml", "open.yaml, line 2: not valid YAML"),
        ("--configfile list.yaml", "list.yaml: expected keys with values"),
        ("--configfile empty.yaml", "empty.yaml: expected keys with values"),
        ("--configfile latin.yaml", "latin.yaml: not UTF-8 text"),
        ("--configfile good.yaml doctor", "doctor: --configfile takes all words up to the next option"),
        ("--config seed=2 doctor", "doctor: --config takes all words up to the next option"),
        ("--config seed", "seed: --config takes key=value"),
        ("--config my_data={folder: notes}", "my_data={folder: ...: a bracket is not closed, so the shell has split"),
        ("--config models=[a] estimate", "estimate: --config takes all words up to the next option"),
        ("--workflow-profile profiles/slrm -n", "profiles/slrm: no such profile; did you mean profiles/slurm?"),
        ("--workflow-profile x -n", "x: no such profile; there are slurm in profiles/"),
        ("--workflow-profile slurm -n", "slurm: Snakemake's plugin for this executor is not installed: pip install -r"),
        (
            "-e nowhere",
            "nowhere: Snakemake's plugin for this executor is not installed: the workflow is used with local, dryrun, ",
        ),
        ("docter --cores 2", "docter: no such target; did you mean doctor?"),
        (
            "--configfile good.yaml docter",
            "docter: no such config file; for the target doctor, put it before all options",
        ),
        ("--cores 2 docter", "docter: no such target; did you mean doctor?"),
        ("--configfile good.yaml -n docter", "docter: no such target; did you mean doctor?"),
        ("--profile profiles/slurm", "slurm: Snakemake's plugin for this executor is not installed: pip install -r"),
        ("--cores 2 -- docter", "docter: no such target; did you mean doctor?"),
    ],
)
def test_a_mistake_is_said_with_its_place_and_its_remedy(command, message):
    with pytest.raises(UserError) as error:
        check_command(command.split(), TARGETS)
    assert str(error.value).startswith(message)
    assert "models.yaml?" not in str(error.value), "a catalogue is no config"
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "doctor --cores 2 --configfile good.yaml",
        "--cores 2 doctor --configfile good.yaml more.json",
        "--configfile good.yaml -n doctor",
        "--configfile good.yaml --config seed=2 models=[a] -- doctor",
        "--cores 2 -- results/tables/accuracy.csv",
        "results/tables/accuracy.csv --cores 2",
        "--configfile good.yaml --cores 2 --until score",
        "--workflow-profile slurm --executor local fetch",
        "--workflow-profile none",
        "--cores 2 --until score --profile mine -n doctor",
    ],
)
def test_a_command_without_a_mistake_passes(command):
    check_command(command.split(), TARGETS)


def test_a_file_of_the_name_of_a_target_is_a_config_file(tmp_path):
    (tmp_path / "tables").write_text("seed: 1\n")
    check_command(["--configfile", "tables"], TARGETS)


def test_the_launcher_ends_with_one_line_and_without_a_traceback(tmp_path):
    done = subprocess.run(
        [ROOT / "litm", "--configfile", "open.yaml"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "error: open.yaml, line 2: not valid YAML (did not find expected ',' or ']')\n"


def test_the_launcher_runs_this_workflow_from_a_folder_that_has_none(tmp_path):
    command = [ROOT / "litm", "--cores", "1", "-n", "--config", "models=[dummy]"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "asks dummy at most 180 prompts" in done.stdout
    (tmp_path / "Snakefile").write_text("rule own:\n    output: 'own.txt'\n    shell: 'touch {output}'\n")
    done = subprocess.run(command[:4], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "own.txt" in done.stdout + done.stderr
